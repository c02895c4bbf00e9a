// exstack_engine: exstack with the interface of the other engines. advance() is an exchange, and
// hence collective.
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

/// Satisfies item_engine, but differs from the asynchronous engines: every advance is one exchange
/// with all ranks and waits for the slowest rank. All items that arrived must be drained before the
/// next advance, which otherwise throws errc::usage. Cost with P ranks: P messages per rank and
/// exchange. Memory per rank: that of exstack.
class exstack_engine {
 public:
  /// Collective. Uses only the options item_bytes, buffer_items, memory_bytes and
  /// items_create_items. Always reports the source. Throws errc::unsupported with elastic items.
  exstack_engine(team& team, const engine_options& options)
      : team_(team),
        options_(with_buffer_items(team, options)),
        stack_(team, options_.item_bytes * options_.buffer_items) {
    if (options.elastic)
      fail(errc::unsupported,
           "exstack cannot carry elastic items: use exstack2, conveyor or aggregator");
    detail::exstack_access::count_exchanges_in(
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
      // With items_create_items, a rank that pushed items is not done: the items may create others.
      done = done && !(options_.items_create_items && pushed_);
      const progress of_all = stack_.exchange(epoch_failed_ ? progress::failed
                                              : done        ? progress::done
                                                            : progress::more);
      all_done_ = of_all != progress::more;
      pushed_ = false;
      ++exchanges_;
      failed_rank_ = stack_.failed_rank();
      if (of_all == progress::failed) return false;  // source_ == team_.size(): nothing is drained
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
           "rank {} called restart() of an exstack before the epoch ended: call advance(true) "
           "and drain until advance returns false",
           team_.rank());
    all_done_ = epoch_failed_ = false;
  }

  /// Every advance counts as activity, so callers do not wait: advance waits already.
  [[nodiscard]] std::size_t activity() const noexcept { return exchanges_; }
  [[nodiscard]] team& ranks() const noexcept { return team_; }
  [[nodiscard]] const engine_options& options() const noexcept { return options_; }
  [[nodiscard]] std::size_t link_count() const noexcept {
    return static_cast<std::size_t>(team_.size());
  }
  [[nodiscard]] const traffic& sent() const noexcept { return stack_.sent(); }
  /// Has one hop, and no latencies: an item waits until the caller exchanges.
  [[nodiscard]] const engine_stats& stats() const noexcept { return stats_; }

 private:
  friend struct detail::engine_access;  // which describes the following private calls

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
  // The next exchange ends the epoch on all ranks.
  void fail_epoch() noexcept { epoch_failed_ = true; }
  [[nodiscard]] int failed_rank() const noexcept { return failed_rank_; }

  // stack_ counts its waits.
  void add_wait(double, bool) noexcept {}

  static engine_options with_buffer_items(team& team, engine_options options) {
    const auto ranks = static_cast<std::size_t>(team.size()),
               node_ranks = static_cast<std::size_t>(team.nodes().my_rank_count());
    // Channels between nodes have a buffer at both ends.
    options.buffer_items = team.allreduce_value(
        detail::choose_buffer_items(options.buffer_items, options.memory_bytes,
                                    2 * (2 * ranks - node_ranks), options.item_bytes),
        reduction::min);
    return options;
  }

  team& team_;
  engine_options options_;
  exstack stack_;
  engine_stats stats_;
  int source_ =
      team_.size();       // the rank whose items are drained next; team_.size() if none are left
  std::size_t next_ = 0;  // index of the next item of source_
  std::size_t exchanges_ = 0;
  bool all_done_ = false, pushed_ = false, epoch_failed_ = false;
  int failed_rank_ = -1;
};

}  // namespace longshore
