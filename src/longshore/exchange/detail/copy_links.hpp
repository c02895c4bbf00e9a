// The programs of fields in which some elements are copies of elements that a rank owns.
#pragma once

#include <longshore/exchange/detail/exchange_program.hpp>

#include <cstddef>
#include <map>
#include <vector>

namespace longshore::detail {

/// The numbers of the programs of a plan. `accumulate` combines copies into their owners' elements.
/// `update` gives the owners' elements to all copies.
inline constexpr std::size_t program_accumulate = 0, program_update = 1;

/// Collects which elements of this rank are copies, and which are owned and have copies. Both ends
/// of a link add its elements in the same order. Each pair of ranks then has one message per
/// program.
class copy_links {
 public:
  /// Some elements of a memory, at the rank that has the copies or at their owner.
  struct end {
    int rank;
    int memory;
    element_set elements;
  };
  copy_links(int me, bool accumulates, bool updates)
      : me_(me), accumulates_(accumulates), updates_(updates) {}
  /// Adds `copies`, which are copies of `owned`. Nothing happens if this rank is at neither end.
  void add(const end& copies, const end& owned, std::size_t element_bytes);
  /// Returns both programs. A program that is not wanted has no rounds.
  [[nodiscard]] std::vector<exchange_program> programs() &&;

 private:
  // The parts of the messages between this rank and one other.
  struct parts {
    std::vector<outgoing_part> copies_out, owned_out;  // to the owner, to the rank with the copies
    std::vector<incoming_part> copies_in, owned_in;
  };

  int me_;
  bool accumulates_, updates_;
  std::map<int, parts> links_;  // by the other rank
  std::size_t copied_bytes_ = 0, owned_bytes_ = 0;
};

}  // namespace longshore::detail
