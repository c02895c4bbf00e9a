// The programs of fields in which some elements are copies of elements that a rank owns.
#pragma once

#include <longshore/exchange/detail/exchange_program.hpp>

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

namespace longshore::detail {

/// The numbers of the programs of a plan. `update` gives the owners' elements to all copies.
/// `accumulate` combines copies into their owners' elements.
inline constexpr std::size_t program_update = 0, program_accumulate = 1;

/// Collects the parts of the messages of a round. Each pair of ranks then has one message.
class round_builder {
 public:
  void give(int peer, outgoing_part part) { outgoing_[peer].push_back(std::move(part)); }
  void take(int peer, incoming_part part) { incoming_[peer].push_back(std::move(part)); }
  /// Returns the round of rank `me`, which gives itself what it takes from itself.
  [[nodiscard]] exchange_round build(int me) &&;

 private:
  std::map<int, std::vector<outgoing_part>> outgoing_;
  std::map<int, std::vector<incoming_part>> incoming_;
};

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
  int me_;
  bool accumulates_, updates_;
  round_builder accumulate_, update_;
  std::size_t copied_bytes_ = 0, owned_bytes_ = 0;
};

}  // namespace longshore::detail
