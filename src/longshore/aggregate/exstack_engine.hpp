// exstack with the face of the other engines: an advance is an exchange, and therefore collective.
#pragma once

#include <longshore/aggregate/detail/item_batch.hpp>
#include <longshore/aggregate/engine_options.hpp>
#include <longshore/aggregate/engine_plan.hpp>
#include <longshore/aggregate/exstack.hpp>
#include <longshore/aggregate/hop_report.hpp>
#include <longshore/core/error.hpp>

#include <type_traits>
#include <utility>

namespace longshore {

/// Satisfies item_engine. Unlike the asynchronous engines: every advance is one exchange with all
/// ranks and waits for the slowest; what arrived must be drained before the next one, else
/// errc::usage is thrown. Cost: P messages per rank and exchange. Memory per rank: that of exstack.
class exstack_engine {
 public:
  /// Collective. Of the options item_bytes, buffer_items and items_create_items count; the source
  /// is always known.
  exstack_engine(team& team, const engine_options& options)
      : team_(team),
        options_(with_buffer(team, options)),
        stack_(team, options_.item_bytes * options_.buffer_items) {
    if (options.elastic)
      fail(errc::unsupported,
           "exstack carries no elastic items; use exstack2, conveyor or aggregator");
    stack_.count_in(report_,
                    {.item_bytes = options_.item_bytes, .capacity_items = options_.buffer_items});
  }

  exstack_engine(const exstack_engine&) = delete;  // the stack counts in the report
  exstack_engine& operator=(const exstack_engine&) = delete;

  template <trivially_copyable Item>
  [[nodiscard]] bool push(int rank, const Item& item) {
    if (!stack_.push(rank, item)) return false;
    pushed_ = true;
    return true;
  }
  /// As that of conveyor.
  template <trivially_copyable Item, class IsSame, class Merge>
  [[nodiscard]] bool push_or_merge(int rank, const Item& item, std::uint32_t& recent,
                                   IsSame&& is_same, Merge&& merge) {
    auto* const items = reinterpret_cast<Item*>(stack_.begin_of(rank));
    const auto position =
        static_cast<std::uint32_t>(reinterpret_cast<Item*>(stack_.lanes()[rank].next) - items);
    if (recent < position && is_same(std::as_const(items[recent]))) {
      merge(items[recent]);
      return true;
    }
    if (!push(rank, item)) return false;
    recent = position;
    return true;
  }
  [[nodiscard]] bool can_push(int rank) noexcept {
    const exstack::lane& to = stack_.lanes()[rank];
    return static_cast<std::size_t>(to.end - to.next) >= options_.item_bytes;
  }

  template <trivially_copyable Item, class F>
  std::size_t drain(F&& f) {
    return detail::drain_items<Item>(*this, f);
  }
  /// As conveyor has it.
  template <trivially_copyable Item, class F>
  std::size_t drain_batches(F&& f) {
    std::size_t delivered = 0;
    for (; source_ < team_.size(); ++source_, next_ = 0) {
      const std::span<const Item> items = stack_.arrived<Item>(source_).subspan(next_);
      const std::size_t taken = f(detail::one_source{source_}, items);
      delivered += taken;
      next_ += taken;
      if (taken < items.size()) break;
    }
    return delivered;
  }

  [[nodiscard]] bool has_rank_lanes() const noexcept { return true; }
  [[nodiscard]] exstack::lane& lane_to(int rank) noexcept { return stack_.lanes()[rank]; }
  void settle(int) noexcept { pushed_ = true; }

  [[nodiscard]] bool advance(bool done) {
    if (!all_done_) {
      if (source_ < team_.size())
        fail(errc::usage,
             "rank {} of an exstack advances before it has drained what came from rank {}: an "
             "exchange would lose it",
             team_.rank(), source_);
      // Where items create items, a rank that just sent some is not done: what they create is still
      // to come.
      const bool finished = done && !(options_.items_create_items && pushed_);
      const progress all = stack_.exchange(use_failed_ ? progress::failed
                                           : finished  ? progress::done
                                                       : progress::more);
      all_done_ = all != progress::more;
      pushed_ = false;
      ++exchanges_;
      failed_rank_ = stack_.failed_rank();
      if (all == progress::failed) return false;  // what came is not for use
      for (source_ = 0; source_ < team_.size() && stack_.arrived<std::byte>(source_).empty();)
        ++source_;
      next_ = 0;
    }
    return !ended();
  }
  [[nodiscard]] bool ended() const noexcept { return all_done_ && source_ == team_.size(); }
  void restart() {
    if (!ended())
      fail(errc::usage, "rank {}: restart() of an exstack that has not ended", team_.rank());
    all_done_ = use_failed_ = false;
  }
  /// As conveyor has it; the next exchange ends the use, on all ranks.
  void fail_use() noexcept { use_failed_ = true; }
  [[nodiscard]] int failed_rank() const noexcept { return failed_rank_; }

  /// Every advance is activity: it waited already.
  [[nodiscard]] std::size_t activity() const noexcept { return exchanges_; }
  [[nodiscard]] team& ranks() const noexcept { return team_; }
  [[nodiscard]] const engine_options& options() const noexcept { return options_; }
  [[nodiscard]] std::size_t link_count() const noexcept {
    return static_cast<std::size_t>(team_.size());
  }
  [[nodiscard]] const traffic& sent() const noexcept { return stack_.sent(); }
  /// One hop; no latency: an item waits for its exchange, however long that takes to come.
  [[nodiscard]] const engine_report& report() const noexcept { return report_; }
  void waited(double, bool) noexcept {}

 private:
  static engine_options with_buffer(team& team, engine_options options) {
    const auto ranks = static_cast<std::size_t>(team.size()),
               near = static_cast<std::size_t>(team.nodes().my_rank_count());
    options.buffer_items = team.allreduce_value(
        detail::choose_buffer_items(options.buffer_items, options.memory_bytes,
                                    2 * (2 * ranks - near), options.item_bytes),
        reduction::min);
    return options;
  }

  team& team_;
  engine_options options_;
  exstack stack_;
  engine_report report_;
  int source_ = team_.size();  // whose items are drained next; all: none are left
  std::size_t next_ = 0, exchanges_ = 0;
  bool all_done_ = false, pushed_ = false, use_failed_ = false;
  int failed_rank_ = -1;
};

}  // namespace longshore
