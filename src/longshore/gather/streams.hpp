// The streaming forms: one element at a time, as Chapel's aggregators have it (a copy per element and a flush), where the program
// does not have its indices in an array.
//
//     longshore::scatterer s(table);
//     for (...) s.copy(index, value);
//     s.flush();
//
// A stream is made once, collectively, and used often: its buffers are kept, nothing is allocated while it is used. copy() sends a
// buffer when it is full; when the receiver is too far behind, it does what others asked of this rank until there is room: so every
// rank must go on calling copy() or flush(). flush() is collective: it returns when all ranks have called it and everything is done
// that was asked of this rank. An index out of range throws errc::usage from copy(), and nothing is sent for it.
#pragma once

#include <longshore/array/dist_array.hpp>
#include <longshore/gather/index_range.hpp>
#include <longshore/gather/one_hop.hpp>
#include <longshore/gather/op.hpp>
#include <longshore/gather/request.hpp>
#include <longshore/gather/shared_element.hpp>
#include <longshore/transport/waiter.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace longshore {

struct element_stream_options {
  std::size_t buffer_items = 1024;  ///< per destination
};

namespace gathering {

/// The element of a distributed table that a stream is asked for; throws errc::usage where there is none.
template <trivially_copyable T, distribution Distribution>
[[nodiscard]] inline location locate_for(const char* operation, const dist_array<T, Distribution>& table, std::int64_t index) {
  if (static_cast<std::uint64_t>(index) >= table.size())
    refuse_indices(operation, {&index, 1}, table.size(), table.team().rank());
  return table.map().owner_offset(static_cast<std::uint64_t>(index));
}

[[nodiscard]] inline std::size_t checked_buffer(const char* operation, std::size_t buffer_items, std::size_t item_bytes) {
  if (buffer_items == 0) fail(errc::usage, "{}: buffers of 0 items: give at least 1, or leave the default of 1024", operation);
  return buffer_items * item_bytes;
}

/// Items (offset, value) to the owners, who call apply(element, value).
/// Memory per rank: 6 x ranks x buffer_items x (8 + sizeof(T)) bytes at most.
template <trivially_copyable T, distribution Distribution, class Apply, class Engine>
class owner_stream {
 public:
  owner_stream(const char* operation, dist_array<T, Distribution>& table, Apply apply, element_stream_options options)
      : operation_(operation),
        table_(table),
        apply_(apply),
        engine_(table.team(), checked_buffer(operation, options.buffer_items, sizeof(item))) {}

  /// May do what others asked of this rank, and wait for room.
  void put(std::int64_t index, const T& value) {
    const location at = locate_for(operation_, table_, index);
    if (at.rank == table_.team().rank()) {
      apply_(table_.local()[at.offset], value);
      return;
    }
    const item request(at.offset, value);
    if (engine_.push(at.rank, request)) return;
    for (waiter wait(table_.team(), "room in a buffer of a stream", at.rank); !engine_.push(at.rank, request);)
      if (serve() == 0) wait.pause();
  }

  /// Collective.
  void flush() {
    for (waiter wait(table_.team(), "the end of a stream"); engine_.advance(true);)
      if (serve() == 0) wait.pause();
  }

 private:
  using item = offset_and_value<std::uint64_t, T>;

  std::size_t serve() {
    T* const mine = table_.local().data();
    return engine_.template drain<item>([&](int, const item& request) { apply_(mine[request.offset()], request.value()); });
  }

  const char* operation_;
  dist_array<T, Distribution>& table_;
  Apply apply_;
  Engine engine_;
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

}  // namespace gathering

/// table[index] = value, one by one; of two values for one element one wins, whole. After flush() a barrier makes the elements
/// readable by all ranks. The table must outlive it.
template <trivially_copyable T, distribution Distribution, class Engine = gathering::one_hop>
class scatterer {
 public:
  /// Collective.
  explicit scatterer(dist_array<T, Distribution>& table, element_stream_options options = {})
      : stream_("scatterer", table, {}, options) {}
  /// Asks for table[index] = value; done by the end of the next flush().
  void copy(std::int64_t index, const T& value) { stream_.put(index, value); }
  /// Collective. See above.
  void flush() { stream_.flush(); }

 private:
  gathering::owner_stream<T, Distribution, gathering::overwrite, Engine> stream_;
};

/// table[index] = op(table[index], value), one by one, in any order. After flush() a barrier makes the elements readable by all
/// ranks. The table must outlive it.
template <trivially_copyable T, distribution Distribution, update_operation<T> Op = op::add, class Engine = gathering::one_hop>
class updater {
 public:
  /// Collective.
  explicit updater(dist_array<T, Distribution>& table, Op op = {}, element_stream_options options = {})
      : stream_("updater", table, {op}, options) {}
  /// Asks for the update; done by the end of the next flush().
  void update(std::int64_t index, const T& value) { stream_.put(index, value); }
  /// Collective. See above.
  void flush() { stream_.flush(); }

 private:
  gathering::owner_stream<T, Distribution, gathering::update_with<Op>, Engine> stream_;
};

/// *out = table[index], one by one. Nobody may write the elements before all ranks have flushed. The table must outlive it.
/// Answers come back in the order of the questions, so that neither carries a tag. Where the owner's memory can be reached the
/// element is loaded at once.
/// Memory per rank: 6 x ranks x buffer_items x (8 + sizeof(T)) bytes of buffers at most, and 32 x ranks x buffer_items of places that
/// wait for their values.
template <trivially_copyable T, distribution Distribution, class Engine = gathering::one_hop>
class gatherer {
 public:
  /// Collective.
  explicit gatherer(const dist_array<T, Distribution>& table, element_stream_options options = {})
      : table_(table),
        questions_(table.team(), gathering::checked_buffer("gatherer", options.buffer_items, sizeof(std::uint64_t))),
        answers_(table.team(), options.buffer_items * sizeof(T)),
        window_(4 * options.buffer_items),
        waiting_(static_cast<std::size_t>(table.team().size())),
        places_(waiting_.size() * window_) {}

  /// Asks for *out = table[index]; there by the end of the next flush(), until which `out` must stay.
  void copy(T* out, std::int64_t index) {
    const location at = gathering::locate_for("gatherer", table_, index);
    if (const T* part = table_.direct_parts()[at.rank]) {
      *out = part[at.offset];
      return;
    }
    // At most 2 buffers' worth is held back in buffers that are not full: of a window of 4 some are always on their way.
    queue& ahead = waiting_[at.rank];
    for (waiter wait(table_.team(), "room in a buffer of a stream", at.rank);
         ahead.count == window_ || !questions_.push(at.rank, std::uint64_t{at.offset});)
      if (answer() + place() == 0) wait.pause();
    const std::size_t last = ahead.first + ahead.count++;
    places_[static_cast<std::size_t>(at.rank) * window_ + (last < window_ ? last : last - window_)] = out;
  }

  /// Collective. See above.
  void flush() {
    bool asking = true, answering = true;
    for (waiter wait(table_.team(), "the end of a stream"); answering;) {
      // Once all have asked, what arrives is of the next use.
      const std::size_t moved = (asking ? answer() : 0) + place();
      if (asking) asking = questions_.advance(true);
      answering = answers_.advance(!asking);
      if (moved == 0) wait.pause();
    }
  }

 private:
  struct queue {
    std::size_t first = 0, count = 0;
  };

  // Answers what arrived. While there is no room for answers, takes those to this rank: so two ranks never stop each other.
  std::size_t answer() {
    const T* const mine = table_.local().data();
    return questions_.template drain<std::uint64_t>([&](int source, std::uint64_t offset) {
      if (answers_.push(source, mine[offset])) return;
      for (waiter wait(table_.team(), "room for answers of a stream", source); !answers_.push(source, mine[offset]);)
        if (place() == 0) wait.pause();
    });
  }

  // Puts values that arrived where they belong.
  std::size_t place() {
    return answers_.template drain<T>([&](int source, const T& value) {
      queue& ahead = waiting_[source];
      *places_[static_cast<std::size_t>(source) * window_ + ahead.first] = value;
      ahead.first = ahead.first + 1 == window_ ? 0 : ahead.first + 1;
      --ahead.count;
    });
  }

  const dist_array<T, Distribution>& table_;
  Engine questions_, answers_;
  std::size_t window_;          // questions to one rank that wait for their answers
  std::vector<queue> waiting_;  // by rank: which of its places wait
  std::vector<T*> places_;      // a ring of window_ places per rank
};

}  // namespace longshore
