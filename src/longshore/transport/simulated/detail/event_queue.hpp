// The events of a simulated machine that have not happened yet. They form a heap in which each node
// has four children. The heap has half as many levels as one with two children, and children lie
// side by side.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace longshore::simulated {

struct event {
  double time;
  std::uint64_t number;  ///< in the order of scheduling
  int kind;
  std::uint32_t id;
  /// Whether this event comes first: by time, at equal times by number.
  [[nodiscard]] bool is_before(const event& other) const noexcept {
    return time != other.time ? time < other.time : number < other.number;
  }
};

class event_queue {
 public:
  [[nodiscard]] bool empty() const noexcept { return heap_.empty(); }
  /// The first event. REQUIRES: not empty.
  [[nodiscard]] const event& top() const noexcept { return heap_.front(); }

  /// The first event, and the events of which one is the second.
  [[nodiscard]] std::span<const event> front() const noexcept {
    return std::span(heap_).first(std::min(heap_.size(), 1 + children));
  }

  void push(const event& added) {
    heap_.push_back(added);
    std::size_t at = heap_.size() - 1;
    while (at > 0) {
      const std::size_t parent = (at - 1) / children;
      if (!added.is_before(heap_[parent])) break;
      heap_[at] = heap_[parent];
      at = parent;
    }
    heap_[at] = added;
  }

  /// REQUIRES: not empty.
  void pop() {
    const event last = heap_.back();
    heap_.pop_back();
    if (heap_.empty()) return;
    const std::size_t size = heap_.size();
    std::size_t at = 0;
    for (;;) {
      const std::size_t first = children * at + 1;
      if (first >= size) break;
      std::size_t least = first;
      for (std::size_t child = first + 1; child < std::min(first + children, size); ++child)
        if (heap_[child].is_before(heap_[least])) least = child;
      if (!heap_[least].is_before(last)) break;
      heap_[at] = heap_[least];
      at = least;
    }
    heap_[at] = last;
  }

 private:
  static constexpr std::size_t children = 4;
  std::vector<event> heap_;
};

}  // namespace longshore::simulated
