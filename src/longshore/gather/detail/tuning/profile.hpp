// The measurements of strategy auto as lines of text, which later runs read: one line per choice
// and number of requests. Lines of other machines and library versions are kept and not used.
#pragma once

#include <longshore/gather/detail/tuning/choice.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace longshore::detail {

/// The conditions of a measurement. Equal keys lead to equal choices.
struct profile_key {
  /// gather, scatter, update, or update-copies: an update for which each rank can have a copy of
  /// the table
  std::string operation;
  std::string table;  ///< L1, L2, LLC or memory: the cache that the table of a host fits
  std::size_t element_bytes = 8;  ///< a power of two, at least 8
  gather_layout layout;
  bool combine = false;
};
[[nodiscard]] bool operator==(const profile_key& a, const profile_key& b) noexcept;

/// All known measurements of one machine. The same on each rank of a team.
class tuning_profile {
 public:
  /// `machine`: the word that marks lines of this machine; no blanks.
  explicit tuning_profile(std::string machine = "?") : machine_(std::move(machine)) {}

  /// Adds the lines of `text`. Lines of other machines are kept unchanged; invalid lines and
  /// incomplete measurements are dropped. If `text` is not a profile of this version, adds nothing
  /// and returns false.
  bool read(std::string_view text);
  /// All lines, including those of other machines; newest measurements last, at most
  /// max_text_bytes.
  [[nodiscard]] std::string text() const;

  /// The measurements for `key`; empty if there are none.
  [[nodiscard]] std::vector<timed_choice> find(const profile_key& key) const;
  /// Replaces the measurements for `key`.
  void put(const profile_key& key, std::vector<timed_choice> measured);

  [[nodiscard]] const std::string& machine() const noexcept { return machine_; }

  static constexpr std::string_view first_line = "longshore-gather-profile 1";
  static constexpr std::size_t max_text_bytes = std::size_t{1} << 20;

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
