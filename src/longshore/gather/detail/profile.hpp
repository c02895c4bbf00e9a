// What strategy auto measured, as lines of text that other runs read again: one line per choice and
// number of requests. Lines of other machines and library versions stay where they are and are not
// looked at.
#pragma once

#include <longshore/gather/detail/choice.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace longshore::detail {

/// What a measurement holds for: equal keys, equal choice.
struct profile_key {
  /// gather, scatter, update; update-copies: where each rank can have a copy of the table
  std::string operation;
  std::string table;              ///< L1, L2, LLC, memory: where the table of a host fits
  std::size_t element_bytes = 8;  ///< a power of two, at least 8
  gather_layout layout;           ///< of it ranks, nodes, node_ranks
  bool combine = false;
};
[[nodiscard]] bool operator==(const profile_key& a, const profile_key& b) noexcept;

/// Everything measured that is known, for one machine. Each rank of a team has the same.
class gather_profile {
 public:
  /// `machine`: what marks this machine's lines; no blanks.
  explicit gather_profile(std::string machine = "?") : machine_(std::move(machine)) {}

  /// Adds the lines of `text` to those that are here. Lines of other machines are kept as they are;
  /// lines that make no sense, and measurements that lack their end, are left out. False, and
  /// nothing is added, when `text` is no profile of this version.
  bool read(std::string_view text);
  /// All lines, those of other machines too; the newest measurements last, at most most_text_bytes.
  [[nodiscard]] std::string text() const;

  /// The measurements for `key`; empty when there are none.
  [[nodiscard]] std::vector<timed_choice> find(const profile_key& key) const;
  /// Puts `measured` in the place of what was there for `key`.
  void put(const profile_key& key, std::vector<timed_choice> measured);

  [[nodiscard]] const std::string& machine() const noexcept { return machine_; }

  static constexpr std::string_view first_line = "longshore-gather-profile 1";
  static constexpr std::size_t most_text_bytes = std::size_t{1} << 20;

 private:
  struct cell {
    profile_key key;
    std::vector<timed_choice> measured;
  };
  cell* cell_of(const profile_key& key);

  std::string machine_;
  std::vector<cell> cells_;
  std::vector<std::string> foreign_;  // lines of other machines
};

}  // namespace longshore::detail
