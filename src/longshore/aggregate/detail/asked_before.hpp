// The last questions that were asked, so that one that is still open is not asked again: a small
// direct-mapped table.
#pragma once

#include <longshore/aggregate/detail/fill.hpp>
#include <longshore/core/bytes.hpp>
#include <longshore/core/random.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace longshore::detail {

/// Memory: 16 bytes and a Question per entry. What it says is a guess about the past: the caller
/// knows whether the question is open.
template <trivially_copyable Question>
class asked_before {
 public:
  static constexpr std::size_t nowhere = ~std::size_t{0};

  /// `entries`: rounded up to a power of two; 0: not used.
  explicit asked_before(std::size_t entries)
      : last_(entries == 0 ? 0 : std::bit_ceil(std::min(entries, std::size_t{1} << 31))) {}

  [[nodiscard]] bool is_used() const noexcept { return !last_.empty(); }
  void forget() noexcept {
    for (auto& one : last_) one.number = nowhere;
  }
  void remember(const addressed<Question>& question, std::size_t number) {
    last_[place_of(question)] = {question, number};
  }
  /// The number of the last same question, or nowhere.
  [[nodiscard]] std::size_t find(const addressed<Question>& question) const {
    const entry& last = last_[place_of(question)];
    const bool same = last.what.rank == question.rank &&
                      std::memcmp(&last.what.item, &question.item, sizeof(Question)) == 0;
    return same ? last.number : nowhere;
  }

 private:
  struct entry {
    addressed<Question> what;
    std::size_t number = nowhere;
  };

  [[nodiscard]] std::size_t place_of(const addressed<Question>& question) const {
    std::uint64_t bits = static_cast<std::uint64_t>(question.rank);
    const auto bytes = bytes_of(question.item);
    for (std::size_t at = 0; at < bytes.size(); at += sizeof bits) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes.data() + at, std::min(sizeof word, bytes.size() - at));
      bits = mix_bits(bits ^ word);
    }
    return bits & (last_.size() - 1);
  }

  std::vector<entry> last_;
};

}  // namespace longshore::detail
