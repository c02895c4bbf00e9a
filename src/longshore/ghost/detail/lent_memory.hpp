// The memory in which a rank writes long messages of an exchange, so that ranks of its node read them
// there.
#pragma once

#include <longshore/transport/shareable_memory.hpp>
#include <longshore/transport/team.hpp>

#include <algorithm>
#include <array>
#include <cstddef>

namespace longshore::detail {

/// Two pieces, which exchanges use by turns. A rank that begins an exchange has read all messages of
/// the exchange before. So when this rank begins its exchange k + 2, all ranks have read those of
/// exchange k.
class lent_memory {
 public:
  static constexpr std::size_t max_bytes = std::size_t{1} << 20;

  /// Local, once per exchange. Memory of `bytes` bytes. REQUIRES: at most max_bytes.
  [[nodiscard]] const shareable_memory& next(const team& ranks, std::size_t bytes) {
    turn_ = 1 - turn_;
    auto& piece = pieces_[turn_];
    if (piece.handle().bytes < bytes) {
      const std::size_t grown = std::max({bytes, 2 * piece.handle().bytes, min_bytes});
      piece = shareable_memory(ranks, std::min(grown, max_bytes));
    }
    return piece;
  }
  [[nodiscard]] std::size_t memory_bytes() const noexcept {
    return pieces_[0].handle().bytes + pieces_[1].handle().bytes;
  }

 private:
  static constexpr std::size_t min_bytes = std::size_t{1} << 14;
  std::array<shareable_memory, 2> pieces_;
  std::size_t turn_ = 0;
};

}  // namespace longshore::detail
