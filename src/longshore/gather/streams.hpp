// The streaming forms: one element at a time, as Chapel's aggregators have it (a copy per element
// and a flush), where the program does not have its indices in an array.
//
//     longshore::scatterer s(table);
//     for (...) s.copy(index, value);
//     s.flush();
//
// A stream is made once, collectively, and used often: its buffers are kept, nothing is allocated
// while it is used. copy() sends a buffer when it is full; when the receiver is too far behind, it
// does what others asked of this rank until there is room: so every rank must go on calling copy()
// or flush(). flush() is collective: it returns when all ranks have called it and everything is
// done that was asked of this rank. An index out of range throws errc::usage from copy(), and
// nothing is sent for it.
#pragma once

#include <longshore/aggregate/deliver.hpp>
#include <longshore/array/dist_array.hpp>
#include <longshore/gather/detail/engine_choice.hpp>
#include <longshore/gather/detail/index_range.hpp>
#include <longshore/gather/detail/request.hpp>
#include <longshore/gather/detail/shared_element.hpp>
#include <longshore/gather/exchange_report.hpp>
#include <longshore/gather/op.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace longshore {

struct element_stream_options {
  std::size_t buffer_items = 1024;  ///< per destination
  /// the engine: exstack2, conveyor or aggregator
  gather_strategy strategy = gather_strategy::conveyor;
  /// of strategy conveyor, as in gather_options
  int hops = 0;
};

namespace detail {

/// The element of a distributed table that a stream is asked for; throws errc::usage where there is
/// none.
template <trivially_copyable T, distribution Distribution>
[[nodiscard]] inline location locate_for(const char* operation,
                                         const dist_array<T, Distribution>& table,
                                         std::int64_t index) {
  if (static_cast<std::uint64_t>(index) >= table.size())
    refuse_indices(operation, {&index, 1}, table.size(), table.team().rank());
  return table.map().owner_offset(static_cast<std::uint64_t>(index));
}

/// The engine of a stream. Throws errc::usage for buffers of no items, errc::unsupported for a
/// strategy that has no engine that waits for nobody.
[[nodiscard]] engine_options stream_engine(const char* operation, const team& team,
                                           const element_stream_options& asked,
                                           std::size_t item_bytes);

/// Items (offset, value) to the owners, this rank among them, who call apply(element, value).
/// Memory per rank: that of a conveyor, for items of 8 + sizeof(T) bytes.
template <trivially_copyable T, distribution Distribution, class Apply>
class owner_stream {
 public:
  owner_stream(const char* operation, dist_array<T, Distribution>& table, Apply apply,
               const element_stream_options& options)
      : operation_(operation),
        table_(table),
        apply_(apply),
        engine_(table.team(), stream_engine(operation, table.team(), options, sizeof(item))) {}

  /// May do what others asked of this rank, and wait for room.
  void put(std::int64_t index, const T& value) {
    const location at = locate_for(operation_, table_, index);
    // The own elements, too: to ask whether an element is one costs more, where that cannot be
    // predicted, than its way through a buffer.
    const item request(at.offset, value);
    if (!engine_.push(at.rank, request)) [[unlikely]]
      push_later(at.rank, request);
  }

  /// Collective.
  void flush() {
    for (detail::idle_time idle(engine_); !engine_.ended();) idle.turn(serve(true), false);
    engine_.restart();
  }

  [[nodiscard]] exchange_report what_happened() const { return {.requests = engine_.report()}; }

 private:
  using item = offset_and_value<std::uint64_t, T>;

  void push_later(int rank, const item& request) {
    for (detail::idle_time idle(engine_); !engine_.push(rank, request);)
      idle.turn(serve(false), true);
  }

  bool serve(bool done) {
    (void)engine_.advance(done);
    T* const mine = table_.local().data();
    return engine_.template drain<item>([&](int, const item& request) {
      apply_(mine[request.offset()], request.value());
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

/// table[index] = value, one by one; of two values for one element one wins, whole. After flush() a
/// barrier makes the elements readable by all ranks. The table must outlive it.
template <trivially_copyable T, distribution Distribution>
class scatterer {
 public:
  /// Collective.
  explicit scatterer(dist_array<T, Distribution>& table, element_stream_options options = {})
      : stream_("scatterer", table, {}, options) {}
  /// Asks for table[index] = value; done by the end of the next flush().
  void copy(std::int64_t index, const T& value) { stream_.put(index, value); }
  /// Collective. See above.
  void flush() { stream_.flush(); }
  /// On this rank, since it was made.
  [[nodiscard]] exchange_report what_happened() const { return stream_.what_happened(); }

 private:
  detail::owner_stream<T, Distribution, detail::overwrite> stream_;
};

/// table[index] = op(table[index], value), one by one, in any order. After flush() a barrier makes
/// the elements readable by all ranks. The table must outlive it.
template <trivially_copyable T, distribution Distribution, update_operation<T> Op = op::add>
class updater {
 public:
  /// Collective.
  explicit updater(dist_array<T, Distribution>& table, Op op = {},
                   element_stream_options options = {})
      : stream_("updater", table, {op}, options) {}
  /// Asks for the update; done by the end of the next flush().
  void update(std::int64_t index, const T& value) { stream_.put(index, value); }
  /// Collective. See above.
  void flush() { stream_.flush(); }
  /// On this rank, since it was made.
  [[nodiscard]] exchange_report what_happened() const { return stream_.what_happened(); }

 private:
  detail::owner_stream<T, Distribution, detail::update_with<Op>> stream_;
};

/// *out = table[index], one by one. Nobody may write the elements before all ranks have flushed.
/// The table must outlive it. Answers of one rank come back in the order of the questions to it, so
/// that neither needs a number. Where the owner's memory can be reached the element is loaded at
/// once. Memory per rank: that of two conveyors, for items of 8 and of sizeof(T) bytes, and 8 bytes
/// per place for an open question: 4 x buffer_items per rank, or fewer (16 at least) where that is
/// more than 2^18 in all.
template <trivially_copyable T, distribution Distribution>
class gatherer {
 public:
  /// Collective.
  explicit gatherer(const dist_array<T, Distribution>& table,
                    const element_stream_options& options = {})
      : table_(table),
        questions_(table.team(), engine_of(table.team(), options, sizeof(std::uint64_t))),
        answers_(table.team(), engine_of(table.team(), options, sizeof(T))),
        waiting_(static_cast<std::size_t>(table.team().size())),
        window_(std::bit_floor(std::clamp(most_places / waiting_.size(), least_window,
                                          4 * options.buffer_items + least_window))),
        places_(waiting_.size() * window_) {}

  /// Asks for *out = table[index]; there by the end of the next flush(), until which `out` must
  /// stay.
  void copy(T* out, std::int64_t index) {
    const location at = detail::locate_for("gatherer", table_, index);
    if (const T* part = table_.direct_parts()[at.rank]) {
      *out = part[at.offset];
      return;
    }
    queue& ahead = waiting_[at.rank];
    if (ahead.asked - ahead.answered == window_ ||
        !questions_.push(at.rank, std::uint64_t{at.offset})) [[unlikely]]
      ask_later(at);
    place_of(at.rank, ahead.asked++) = out;
  }

  /// Collective. See above.
  void flush() {
    for (detail::idle_time idle(answers_); !answers_.ended();) idle.turn(serve(true), false);
    questions_.restart();
    answers_.restart();
  }
  /// On this rank, since it was made.
  [[nodiscard]] exchange_report what_happened() const {
    return {questions_.report(), answers_.report()};
  }

 private:
  static constexpr std::size_t least_window = 16, most_places = std::size_t{1} << 18;
  struct queue {
    std::size_t asked = 0, answered = 0;
  };

  static engine_options engine_of(const team& team, const element_stream_options& asked,
                                  std::size_t item_bytes) {
    engine_options options = detail::stream_engine("gatherer", team, asked, item_bytes);
    options.with_source = true;
    // with fewer, two ranks that ask each other go on in turns: each stops until the other has
    // answered
    options.slots = 4;
    // who waits because all places are taken asks no more, and fills no buffer
    options.ship_when_idle = true;
    return options;
  }

  T*& place_of(int rank, std::size_t question) noexcept {
    return places_[static_cast<std::size_t>(rank) * window_ + (question & (window_ - 1))];
  }

  // Returns when the question has been pushed and there is a place for its answer.
  void ask_later(const location& at) {
    const queue& ahead = waiting_[at.rank];
    const auto is_full = [&] { return ahead.asked - ahead.answered == window_; };
    for (detail::idle_time idle(answers_);
         is_full() || !questions_.push(at.rank, std::uint64_t{at.offset});)
      idle.turn(serve(false), !is_full());
  }

  // Answers what was asked here, as far as there is room, and puts values that came where they
  // belong; says whether anything moved.
  bool serve(bool done) {
    const std::size_t before = questions_.activity();
    std::size_t moved = 0;
    if (!questions_.ended()) {  // else what arrives is of the next use
      (void)questions_.advance(done);
      const T* const mine = table_.local().data();
      moved += questions_.template drain<std::uint64_t>(
          [&](int source, std::uint64_t offset) { return answers_.push(source, mine[offset]); });
    }
    (void)answers_.advance(done && questions_.ended());
    moved += answers_.template drain<T>([&](int source, const T& value) {
      *place_of(source, waiting_[source].answered++) = value;
    });
    return moved > 0 || questions_.activity() != before;
  }

  const dist_array<T, Distribution>& table_;
  conveyor questions_, answers_;
  std::vector<queue> waiting_;  // by rank
  std::size_t window_;          // most open questions to one rank; a power of two
  std::vector<T*> places_;      // a ring of window_ places per rank
};

}  // namespace longshore
