// exstack with the interface of the other engines. Here advance is an exchange, so it is
// collective.
#pragma once

#include <longshore/aggregate/detail/drain_items.hpp>
#include <longshore/aggregate/engine_cost.hpp>
#include <longshore/aggregate/engine_options.hpp>
#include <longshore/aggregate/engine_stats.hpp>
#include <longshore/aggregate/exstack.hpp>
#include <longshore/core/error.hpp>

#include <type_traits>
#include <utility>

namespace longshore {

/// Satisfies item_engine. It differs from the asynchronous engines: every advance is one exchange
/// with all ranks and waits for the slowest. All items that arrived must be drained before the next
/// advance, which otherwise throws errc::usage. Cost: P messages per rank and exchange. Memory per
/// rank: that of exstack.
class exstack_engine {
 public:
  /// Collective. Uses the options item_bytes, buffer_items, memory_bytes and items_create_items.
  /// The source is always known. Throws errc::unsupported with elastic items.
  exstack_engine(team& team, const engine_options& options)
      : team_(team),
        options_(with_buffer(team, options)),
        stack_(team, options_.item_bytes * options_.buffer_items) {
    if (options.elastic)
      fail(errc::unsupported,
           "exstack cannot carry elastic items: use exstack2, conveyor or aggregator");
    detail::exstack_access::count_in(
        stack_, stats_,
        {.item_bytes = options_.item_bytes, .capacity_items = options_.buffer_items});
  }

  exstack_engine(const exstack_engine&) = delete;  // stack_ has a pointer to stats_
  exstack_engine& operator=(const exstack_engine&) = delete;

  template <trivially_copyable Item>
  [[nodiscard]] bool push(int rank, const Item& item) {
    if (!stack_.push(rank, item)) return false;
    pushed_ = true;
    return true;
  }
  [[nodiscard]] bool can_push(int rank) noexcept {
    const auto& to = buffer_to(rank);
    return static_cast<std::size_t>(to.end - to.next) >= options_.item_bytes;
  }

  template <trivially_copyable Item, class F>
  std::size_t drain(F&& f) {
    return detail::drain_items<Item>(*this, f);
  }

  [[nodiscard]] bool advance(bool done) {
    if (!all_done_) {
      if (source_ < team_.size())
        fail(errc::usage,
             "rank {} called advance of an exstack before it drained the items from rank {}: the "
             "exchange would lose them",
             team_.rank(), source_);
      // With items_create_items, a rank that just sent items is not done: they may create others.
      const bool finished = done && !(options_.items_create_items && pushed_);
      const progress all = stack_.exchange(use_failed_ ? progress::failed
                                           : finished  ? progress::done
                                                       : progress::more);
      all_done_ = all != progress::more;
      pushed_ = false;
      ++exchanges_;
      failed_rank_ = stack_.failed_rank();
      if (all == progress::failed) return false;  // items that arrived are not used
      for (source_ = 0; source_ < team_.size() && stack_.arrived<std::byte>(source_).empty();)
        ++source_;
      next_ = 0;
    }
    return !ended();
  }
  [[nodiscard]] bool ended() const noexcept { return all_done_ && source_ == team_.size(); }
  void restart() {
    if (!ended())
      fail(errc::usage,
           "rank {} called restart() of an exstack before the use ended: call advance(true) "
           "and drain until advance returns false",
           team_.rank());
    all_done_ = use_failed_ = false;
  }

  /// Every advance counts as activity, since it waits itself.
  [[nodiscard]] std::size_t activity() const noexcept { return exchanges_; }
  [[nodiscard]] team& ranks() const noexcept { return team_; }
  [[nodiscard]] const engine_options& options() const noexcept { return options_; }
  [[nodiscard]] std::size_t link_count() const noexcept {
    return static_cast<std::size_t>(team_.size());
  }
  [[nodiscard]] const traffic& sent() const noexcept { return stack_.sent(); }
  /// Has one hop, and no latencies: an item waits for the next exchange, whenever that is.
  [[nodiscard]] const engine_stats& stats() const noexcept { return stats_; }
  [[deprecated("use stats()")]] [[nodiscard]] const engine_stats& report() const noexcept {
    return stats_;
  }

 private:
  friend struct detail::engine_access;  // item_engine.hpp describes the following calls

  template <trivially_copyable Item, class F>
  std::size_t drain_batches(F&& f) {
    std::size_t delivered = 0;
    for (; source_ < team_.size(); ++source_, next_ = 0) {
      const std::span<const Item> items = stack_.arrived<Item>(source_).subspan(next_);
      const std::size_t taken = f(detail::single_source{source_}, items);
      delivered += taken;
      next_ += taken;
      if (taken < items.size()) break;
    }
    return delivered;
  }

  [[nodiscard]] bool has_rank_buffers() const noexcept { return true; }
  [[nodiscard]] detail::exstack_access::send_buffer& buffer_to(int rank) noexcept {
    return detail::exstack_access::buffers(stack_)[rank];
  }
  void appended_to(int) noexcept { pushed_ = true; }

  template <trivially_copyable Item, class IsSame, class Merge>
  [[nodiscard]] bool push_or_merge(int rank, const Item& item, std::uint32_t& recent,
                                   IsSame&& is_same, Merge&& merge) {
    auto* const items = reinterpret_cast<Item*>(detail::exstack_access::begin_of(stack_, rank));
    const auto position =
        static_cast<std::uint32_t>(reinterpret_cast<Item*>(buffer_to(rank).next) - items);
    if (recent < position && is_same(std::as_const(items[recent]))) {
      merge(items[recent]);
      return true;
    }
    if (!push(rank, item)) return false;
    recent = position;
    return true;
  }
  // The next exchange ends the use on all ranks.
  void fail_use() noexcept { use_failed_ = true; }
  [[nodiscard]] int failed_rank() const noexcept { return failed_rank_; }

  // An exchange waits itself, and counts its waits.
  void add_wait(double, bool) noexcept {}

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
  engine_stats stats_;
  int source_ = team_.size();  // the rank whose items are drained next; the size: none are left
  std::size_t next_ = 0, exchanges_ = 0;
  bool all_done_ = false, pushed_ = false, use_failed_ = false;
  int failed_rank_ = -1;
};

}  // namespace longshore
