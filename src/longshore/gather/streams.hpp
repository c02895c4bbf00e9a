// Streams gather, scatter or update one element at a time, for programs that do not have their
// indices in an array. The interface is that of aggregators in Chapel: a copy per element and a
// flush.
//
//     longshore::scatterer s(table);
//     for (...) s.copy(index, value);
//     s.flush();
//
// A stream is made once, collectively, and used often; its use allocates nothing. copy() sends a
// buffer when it is full. If no buffer is free, copy() serves requests of other ranks until one is;
// therefore every rank must keep calling copy() or flush(). flush() is collective: it returns when
// all ranks have called it and this rank has served all requests. For an index out of range copy()
// throws errc::usage and sends nothing.
#pragma once

#include <longshore/aggregate/deliver.hpp>
#include <longshore/array/dist_array.hpp>
#include <longshore/gather/detail/element_atomics.hpp>
#include <longshore/gather/detail/engine_strategy.hpp>
#include <longshore/gather/detail/for_each_in_range.hpp>
#include <longshore/gather/detail/request.hpp>
#include <longshore/gather/exchange_stats.hpp>
#include <longshore/gather/op.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace longshore {

struct element_stream_options {
  std::size_t buffer_items = 1024;  ///< items per buffer
  /// the engine: exstack2, conveyor or aggregator
  gather_strategy strategy = gather_strategy::conveyor;
  /// hops of strategy conveyor, as in gather_options
  int hops = 0;
};

namespace detail {

/// Where element `index` of the table lies. Throws errc::usage for an index out of range.
template <trivially_copyable T, distribution Distribution>
[[nodiscard]] inline location checked_location(const char* operation,
                                               const dist_array<T, Distribution>& table,
                                               std::int64_t index) {
  if (static_cast<std::uint64_t>(index) >= table.size())
    throw_index_error(operation, {&index, 1}, table.size(), table.team().rank());
  return table.map().owner_offset(static_cast<std::uint64_t>(index));
}

/// The options of a stream's engine. Throws errc::usage if buffer_items is 0, errc::unsupported for
/// a strategy without an asynchronous engine.
[[nodiscard]] engine_options stream_engine_options(const char* operation, const team& team,
                                                   const element_stream_options& given,
                                                   std::size_t item_bytes);

/// Sends items (offset, value) to the owners of elements, which call apply(element, value). Memory
/// per rank: a conveyor for items of 8 + sizeof(T) bytes.
template <trivially_copyable T, distribution Distribution, class Apply>
class owner_stream {
 public:
  owner_stream(const char* operation, dist_array<T, Distribution>& table, Apply apply,
               const element_stream_options& options)
      : operation_(operation),
        table_(table),
        apply_(apply),
        engine_(table.team(),
                stream_engine_options(operation, table.team(), options, sizeof(item))) {}

  /// May serve other ranks and wait until a buffer is free.
  void put(std::int64_t index, const T& value) {
    const location at = checked_location(operation_, table_, index);
    // This rank's own elements go through a buffer, too: an unpredictable branch on the owner would
    // cost more.
    const item request(at.offset, value);
    if (!engine_.push(at.rank, request)) [[unlikely]]
      wait_and_push(at.rank, request);
  }

  /// Collective.
  void flush() {
    for (idle_waiter idle(engine_); !engine_.ended();) idle.after_iteration(serve(true), false);
    engine_.restart();
  }

  [[nodiscard]] exchange_stats stats() const { return {.requests = engine_.stats()}; }

 private:
  using item = offset_and_value<std::uint64_t, T>;

  void wait_and_push(int rank, const item& request) {
    for (idle_waiter idle(engine_); !engine_.push(rank, request);)
      idle.after_iteration(serve(false), true);
  }

  bool serve(bool done) {
    (void)engine_.advance(done);
    T* const local_part = table_.local().data();
    return engine_.template drain<item>([&](int, const item& request) {
      apply_(local_part[request.offset()], request.value());
    }) > 0;
  }

  const char* operation_;
  dist_array<T, Distribution>& table_;
  Apply apply_;
  conveyor engine_;
};

struct overwrite {
  template <class T>
  void operator()(T& element, const T& value) const noexcept {
    element = value;
  }
};

template <class Op>
struct update_with {
  Op op;
  template <class T>
  void operator()(T& element, const T& value) const {
    element = op(element, value);
  }
};

}  // namespace detail

/// table[index] = value, one element at a time. If several values go to one element, it gets one of
/// them whole. After flush() and a barrier all ranks may read the elements. The table must outlive
/// the object.
template <trivially_copyable T, distribution Distribution>
class scatterer {
 public:
  /// Collective.
  explicit scatterer(dist_array<T, Distribution>& table, element_stream_options options = {})
      : stream_("scatterer", table, {}, options) {}
  /// Requests table[index] = value. Done by the end of the next flush().
  void copy(std::int64_t index, const T& value) { stream_.put(index, value); }
  /// Collective. Returns when this rank has served all requests.
  void flush() { stream_.flush(); }
  /// What this rank did since the object was made.
  [[nodiscard]] exchange_stats stats() const { return stream_.stats(); }
  [[deprecated("use stats()")]] [[nodiscard]] exchange_stats what_happened() const {
    return stats();
  }

 private:
  detail::owner_stream<T, Distribution, detail::overwrite> stream_;
};

/// table[index] = op(table[index], value), one element at a time, in any order. After flush() and a
/// barrier all ranks may read the elements. The table must outlive the object.
template <trivially_copyable T, distribution Distribution, update_operation<T> Op = op::add>
class updater {
 public:
  /// Collective.
  explicit updater(dist_array<T, Distribution>& table, Op op = {},
                   element_stream_options options = {})
      : stream_("updater", table, {op}, options) {}
  /// Requests the update. Done by the end of the next flush().
  void update(std::int64_t index, const T& value) { stream_.put(index, value); }
  /// Collective. Returns when this rank has served all requests.
  void flush() { stream_.flush(); }
  /// What this rank did since the object was made.
  [[nodiscard]] exchange_stats stats() const { return stream_.stats(); }
  [[deprecated("use stats()")]] [[nodiscard]] exchange_stats what_happened() const {
    return stats();
  }

 private:
  detail::owner_stream<T, Distribution, detail::update_with<Op>> stream_;
};

/// *out = table[index], one element at a time. Nobody may write to the elements before all ranks
/// have flushed. The table must outlive the object. An element whose owner's memory can be reached
/// is loaded at once; the others are requested. Replies of one rank arrive in the order of the
/// requests to it, so they need no numbers. Memory per rank: two conveyors, for items of 8 and of
/// sizeof(T) bytes, and 8 bytes per place for an outstanding request: 4 x buffer_items places per
/// rank, or fewer (at least 16) if these would be more than 2^18 in all.
template <trivially_copyable T, distribution Distribution>
class gatherer {
 public:
  /// Collective.
  explicit gatherer(const dist_array<T, Distribution>& table,
                    const element_stream_options& options = {})
      : table_(table),
        requests_(table.team(), engine_of(table.team(), options, sizeof(std::uint64_t))),
        replies_(table.team(), engine_of(table.team(), options, sizeof(T))),
        rings_(static_cast<std::size_t>(table.team().size())),
        window_(std::bit_floor(std::clamp(max_places / rings_.size(), min_window,
                                          4 * options.buffer_items + min_window))),
        places_(rings_.size() * window_) {}

  /// Requests *out = table[index]. Done by the end of the next flush(); `out` must stay valid until
  /// then.
  void copy(T* out, std::int64_t index) {
    const location at = detail::checked_location("gatherer", table_, index);
    if (const T* part = table_.direct_parts()[at.rank]) {
      *out = part[at.offset];
      return;
    }
    ring& outstanding = rings_[at.rank];
    if (outstanding.sent - outstanding.replied == window_ ||
        !requests_.push(at.rank, std::uint64_t{at.offset})) [[unlikely]]
      wait_and_push(at);
    place_of(at.rank, outstanding.sent++) = out;
  }

  /// Collective. Returns when all requests of all ranks are done.
  void flush() {
    for (idle_waiter idle(replies_); !replies_.ended();) idle.after_iteration(serve(true), false);
    requests_.restart();
    replies_.restart();
  }
  /// What this rank did since the object was made.
  [[nodiscard]] exchange_stats stats() const { return {requests_.stats(), replies_.stats()}; }
  [[deprecated("use stats()")]] [[nodiscard]] exchange_stats what_happened() const {
    return stats();
  }

 private:
  static constexpr std::size_t min_window = 16, max_places = std::size_t{1} << 18;
  // The outstanding requests to one rank: those from `replied` to `sent` - 1.
  struct ring {
    std::size_t sent = 0, replied = 0;
  };

  static engine_options engine_of(const team& team, const element_stream_options& given,
                                  std::size_t item_bytes) {
    engine_options options = detail::stream_engine_options("gatherer", team, given, item_bytes);
    options.with_source = true;
    // With fewer slots, two ranks that send requests to each other alternate: each stops until the
    // other has replied.
    options.slots = 4;
    // A rank whose places are all taken waits for replies and fills no buffers; its partial ones
    // must leave.
    options.ship_when_idle = true;
    return options;
  }

  T*& place_of(int rank, std::size_t request) noexcept {
    return places_[static_cast<std::size_t>(rank) * window_ + (request & (window_ - 1))];
  }

  // Returns when the request was pushed and there is a place for its reply.
  void wait_and_push(const location& at) {
    const ring& outstanding = rings_[at.rank];
    const auto is_full = [&] { return outstanding.sent - outstanding.replied == window_; };
    for (idle_waiter idle(replies_);
         is_full() || !requests_.push(at.rank, std::uint64_t{at.offset});)
      idle.after_iteration(serve(false), !is_full());
  }

  // Replies to requests, as far as buffers are free, and stores values that arrived. Returns
  // whether there was anything to do.
  bool serve(bool done) {
    const std::size_t before = requests_.activity();
    std::size_t moved = 0;
    if (!requests_.ended()) {  // otherwise arriving requests are of the next use
      (void)requests_.advance(done);
      const T* const local_part = table_.local().data();
      moved += requests_.template drain<std::uint64_t>([&](int source, std::uint64_t offset) {
        return replies_.push(source, local_part[offset]);
      });
    }
    (void)replies_.advance(done && requests_.ended());
    moved += replies_.template drain<T>(
        [&](int source, const T& value) { *place_of(source, rings_[source].replied++) = value; });
    return moved > 0 || requests_.activity() != before;
  }

  const dist_array<T, Distribution>& table_;
  conveyor requests_, replies_;
  std::vector<ring> rings_;  // by rank
  std::size_t window_;       // maximum of outstanding requests to one rank; a power of two
  std::vector<T*> places_;   // where values go: a ring of window_ places per rank
};

}  // namespace longshore
