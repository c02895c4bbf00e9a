// scatterer, updater and gatherer access one element at a time, for programs that do not have their
// indices in an array. The interface is that of aggregators in Chapel:
//
//     longshore::scatterer scatterer(table);
//     for (...) scatterer.copy(index, value);
//     scatterer.flush();
//
// copy() sends a buffer when the buffer is full. If all buffers are full, copy() serves requests of
// other ranks until a buffer is free. So every rank must keep calling copy() or flush(). flush() is
// collective and returns when all ranks have called it and this rank has served all requests. For
// an index out of range, copy() throws errc::usage and sends nothing. Only constructors allocate.
#pragma once

#include <longshore/aggregate/deliver.hpp>
#include <longshore/array/dist_array.hpp>
#include <longshore/core/detail/min_max.hpp>
#include <longshore/core/error.hpp>
#include <longshore/core/op.hpp>
#include <longshore/gather/detail/element_atomics.hpp>
#include <longshore/gather/detail/engine_strategy.hpp>
#include <longshore/gather/detail/for_each_in_range.hpp>
#include <longshore/gather/detail/request.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace longshore {

struct element_stream_options {
  std::size_t buffer_items = 1024;  ///< items per buffer
  /// exstack2, conveyor or aggregator
  gather_strategy strategy = gather_strategy::conveyor;
  int hops = 0;  ///< of strategy conveyor, as in gather_options
};

namespace detail {

/// The location of element `index`. Throws errc::usage for an index out of range.
template <trivially_copyable T, distribution Distribution>
[[nodiscard]] inline location checked_location(const char* operation,
                                               const dist_array<T, Distribution>& table,
                                               std::int64_t index) {
  if (static_cast<std::uint64_t>(index) >= table.size())
    throw_index_error(operation, {&index, 1}, table.size(), table.team().rank());
  return table.map().owner_offset(static_cast<std::uint64_t>(index));
}

/// The call that serves requests.
enum class stream_call { copy, flush };

/// The options of a stream's engine. Throws errc::usage if buffer_items is 0, and errc::unsupported
/// for a strategy without an asynchronous engine.
[[nodiscard]] inline engine_options stream_engine_options(const char* operation, const team& team,
                                                          const element_stream_options& given,
                                                          std::size_t item_bytes) {
  if (given.buffer_items == 0)
    fail(errc::usage, "{}: buffer_items is 0: give at least 1, or leave the default of 1024",
         operation);
  if (!is_asynchronous(given.strategy))
    fail(errc::unsupported,
         "{}: strategy {} cannot carry one element at a time: use exstack2, conveyor or "
         "aggregator",
         operation, name_of(given.strategy));
  engine_options options = engine_options_for(
      team, {.strategy = given.strategy, .buffer_items = given.buffer_items, .hops = given.hops});
  options.item_bytes = item_bytes;
  return options;
}

/// Sends pairs of offset and value to the owners of elements, which set element = op(element,
/// value). Memory per rank: a conveyor for items of 8 + sizeof(T) bytes.
template <trivially_copyable T, distribution Distribution, class Op>
class stream_to_owners {
 public:
  stream_to_owners(const char* operation, dist_array<T, Distribution>& table, Op op,
                   const element_stream_options& options)
      : operation_(operation),
        table_(table),
        op_(op),
        engine_(table.team(),
                stream_engine_options(operation, table.team(), options, sizeof(item))) {}

  void put(std::int64_t index, const T& value) {
    const location at = checked_location(operation_, table_, index);
    // Elements of this rank go through a buffer, too, because an unpredictable branch on the owner
    // would cost more.
    const item request(at.offset, value);
    if (!engine_.push(at.rank, request)) [[unlikely]]
      wait_and_push(at.rank, request);
  }

  /// Collective. Returns when this rank has served all requests.
  void flush() {
    constexpr bool waits_for_buffer = false;
    for (idle_waiter idle(engine_); !engine_.ended();)
      idle.after_iteration(serve(stream_call::flush), waits_for_buffer);
    engine_.restart();
  }

  /// What this rank did since the object was made.
  [[nodiscard]] exchange_stats stats() const { return {.requests = engine_.stats()}; }

 private:
  using item = offset_and_value<std::uint64_t, T>;

  void wait_and_push(int rank, const item& request) {
    constexpr bool waits_for_buffer = true;
    for (idle_waiter idle(engine_); !engine_.push(rank, request);)
      idle.after_iteration(serve(stream_call::copy), waits_for_buffer);
  }

  // Applies requests that arrived. Returns whether there were any.
  bool serve(stream_call caller) {
    (void)engine_.advance(caller == stream_call::flush);
    T* const local_part = table_.local().data();
    return engine_.template drain<item>([&](int, const item& request) {
      T& element = local_part[request.offset()];
      element = op_(element, request.value());
    }) > 0;
  }

  const char* operation_;
  dist_array<T, Distribution>& table_;
  Op op_;
  conveyor engine_;
};

}  // namespace detail

/// table[index] = value, one element at a time. If several values go to one element, the element
/// gets one of these values whole. After flush() and a barrier all ranks may read the elements. The
/// table must outlive the object.
template <trivially_copyable T, distribution Distribution>
class scatterer : detail::stream_to_owners<T, Distribution, detail::take_value> {
  using base = detail::stream_to_owners<T, Distribution, detail::take_value>;

 public:
  /// Collective.
  explicit scatterer(dist_array<T, Distribution>& table, element_stream_options options = {})
      : base("scatterer", table, {}, options) {}
  /// Requests table[index] = value. The next flush() completes the request.
  void copy(std::int64_t index, const T& value) { this->put(index, value); }
  using base::flush;
  using base::stats;
};

/// table[index] = op(table[index], value), one element at a time, in any order. After flush() and a
/// barrier all ranks may read the elements. The table must outlive the object.
template <trivially_copyable T, distribution Distribution, update_operation<T> Op = op::add>
class updater : detail::stream_to_owners<T, Distribution, Op> {
  using base = detail::stream_to_owners<T, Distribution, Op>;

 public:
  /// Collective.
  explicit updater(dist_array<T, Distribution>& table, Op op = {},
                   element_stream_options options = {})
      : base("updater", table, op, options) {}
  /// Requests the update. The next flush() completes the request.
  void update(std::int64_t index, const T& value) { this->put(index, value); }
  using base::flush;
  using base::stats;
};

/// *out = table[index], one element at a time. No rank may write to the elements before all ranks
/// have flushed. The table must outlive the object. An element is loaded at once if its owner's
/// memory can be reached, else requested. Memory per rank: two conveyors, for items of 8 and of
/// sizeof(T) bytes, and 8 bytes per outstanding request. Up to about 4 x buffer_items requests to
/// each rank can be outstanding. The limit is lower, but at least 16, if the requests to all ranks
/// together would be more than 2^18.
template <trivially_copyable T, distribution Distribution>
class gatherer {
 public:
  /// Collective.
  explicit gatherer(const dist_array<T, Distribution>& table,
                    const element_stream_options& options = {})
      : table_(table),
        requests_(table.team(), engine_of(table.team(), options, sizeof(std::uint64_t))),
        replies_(table.team(), engine_of(table.team(), options, sizeof(T))),
        counts_(static_cast<std::size_t>(table.team().size())),
        max_outstanding_(
            std::bit_floor(detail::clamped(max_outputs / counts_.size(), min_outstanding,
                                           4 * options.buffer_items + min_outstanding))),
        outputs_(counts_.size() * max_outstanding_) {}

  /// Requests *out = table[index]. The next flush() completes the request; `out` must stay valid
  /// until then.
  void copy(T* out, std::int64_t index) {
    const location at = detail::checked_location("gatherer", table_, index);
    if (const T* part = table_.direct_parts()[at.rank]) {
      *out = part[at.offset];
      return;
    }
    if (is_full(at.rank) || !requests_.push(at.rank, std::uint64_t{at.offset})) [[unlikely]]
      wait_and_push(at);
    output_of(at.rank, counts_[at.rank].sent++) = out;
  }

  /// Collective. Returns when all requests of all ranks are done.
  void flush() {
    constexpr bool waits_for_buffer = false;
    for (idle_waiter idle(replies_); !replies_.ended();)
      idle.after_iteration(serve(detail::stream_call::flush), waits_for_buffer);
    requests_.restart();
    replies_.restart();
  }
  /// What this rank did since the object was made.
  [[nodiscard]] exchange_stats stats() const { return {requests_.stats(), replies_.stats()}; }

 private:
  static constexpr std::size_t min_outstanding = 16, max_outputs = std::size_t{1} << 18;
  // The requests to one rank and the replies from that rank.
  struct request_counts {
    std::size_t sent = 0, replied = 0;
  };

  static engine_options engine_of(const team& team, const element_stream_options& given,
                                  std::size_t item_bytes) {
    engine_options options = detail::stream_engine_options("gatherer", team, given, item_bytes);
    options.with_source = true;
    // With fewer slots, two ranks that send requests to each other take turns: a rank stops until
    // its peer has replied.
    options.slots = 4;
    // A rank with the maximum of outstanding requests waits for replies and fills no buffers, so
    // its partial buffers must be sent.
    options.ship_when_idle = true;
    return options;
  }

  [[nodiscard]] bool is_full(int rank) const noexcept {
    return counts_[rank].sent - counts_[rank].replied == max_outstanding_;
  }
  // Where the reply to a request is stored. `request` counts the requests to `rank`.
  T*& output_of(int rank, std::size_t request) noexcept {
    return outputs_[static_cast<std::size_t>(rank) * max_outstanding_ +
                    (request & (max_outstanding_ - 1))];
  }

  // Returns when the request was pushed and its output can be stored.
  void wait_and_push(const location& at) {
    for (idle_waiter idle(replies_);
         is_full(at.rank) || !requests_.push(at.rank, std::uint64_t{at.offset});) {
      const bool waits_for_buffer = !is_full(at.rank);
      idle.after_iteration(serve(detail::stream_call::copy), waits_for_buffer);
    }
  }

  // Replies to requests, as far as buffers are free, and stores values that arrived. Returns
  // whether anything was moved.
  bool serve(detail::stream_call caller) {
    const bool flushes = caller == detail::stream_call::flush;
    const std::size_t activity_before = requests_.activity();
    std::size_t moved = 0;
    if (!requests_.ended()) {  // Requests that arrive after the end belong to the next epoch.
      (void)requests_.advance(flushes);
      const T* const local_part = table_.local().data();
      moved += requests_.template drain<std::uint64_t>([&](int source, std::uint64_t offset) {
        return replies_.push(source, local_part[offset]);
      });
    }
    (void)replies_.advance(flushes && requests_.ended());
    // Replies of a rank arrive in the order of the requests, so a count identifies the request.
    moved += replies_.template drain<T>(
        [&](int source, const T& value) { *output_of(source, counts_[source].replied++) = value; });
    return moved > 0 || requests_.activity() != activity_before;
  }

  const dist_array<T, Distribution>& table_;
  conveyor requests_, replies_;
  std::vector<request_counts> counts_;  // indexed by rank
  std::size_t max_outstanding_;         // maximum of outstanding requests to a rank; a power of two
  std::vector<T*> outputs_;             // a ring buffer of max_outstanding_ pointers per rank
};

}  // namespace longshore
