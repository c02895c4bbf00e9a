// What a rank keeps for all plans of a team on its node: its signals, spare buffers, memory for
// long messages, the mapped memory of other ranks, and what it has found out about them.
#pragma once

#include <longshore/exchange/detail/movers/pair_caches.hpp>
#include <longshore/exchange/detail/movers/signal_pool.hpp>
#include <longshore/transport/detail/mapped_memory.hpp>
#include <longshore/transport/shareable_memory.hpp>
#include <longshore/transport/team.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace longshore::detail {

/// Shareable memory for the buffers of plans. A new plan takes the memory of an earlier plan. So it
/// makes no file, and peers map the memory only once.
class buffer_pool {
 public:
  /// Local. Returns memory of at least `bytes` bytes with any content. Throws errc::out_of_memory.
  [[nodiscard]] shareable_memory take(const team& ranks, std::size_t bytes) {
    // Memory of more than four times the size is left to plans that need it.
    const auto fits = [bytes](const shareable_memory& spare) {
      return spare.handle().bytes >= bytes && spare.handle().bytes / 4 <= bytes;
    };
    const auto found = std::find_if(spare_.begin(), spare_.end(), fits);
    if (found == spare_.end()) return {ranks, bytes};
    shareable_memory taken = std::move(*found);
    spare_.erase(found);
    kept_bytes_ -= taken.handle().bytes;
    return taken;
  }
  void give_back(shareable_memory memory) {
    if (memory.handle().file < 0 || kept_bytes_ + memory.handle().bytes > max_kept_bytes) return;
    kept_bytes_ += memory.handle().bytes;
    spare_.push_back(std::move(memory));
  }

 private:
  static constexpr std::size_t max_kept_bytes = std::size_t{16} << 20;
  std::vector<shareable_memory> spare_;
  std::size_t kept_bytes_ = 0;
};

/// The memory in which a rank writes its long messages, so that ranks of its node read them there.
/// It has two pieces, which exchanges use by turns. This is safe, because a rank that begins an
/// exchange has read all messages of the exchange before. So all ranks have read the messages of
/// exchange k when this rank begins exchange k + 2.
class lent_memory {
 public:
  static constexpr std::size_t max_bytes = std::size_t{1} << 20;

  /// Local. Call once per exchange. Returns at least `bytes` bytes. REQUIRES: at most max_bytes.
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

class node_access {
 public:
  /// Local. Returns the object of this rank, which lives as long as the team.
  [[nodiscard]] static node_access& of(team& ranks) {
    auto& access = ranks.attribute<node_access>();
    if (!access.mappings_) access.mappings_.emplace(ranks.is_one_process(), max_kept_bytes);
    return access;
  }
  [[nodiscard]] signal_pool& signals() noexcept { return signals_; }
  [[nodiscard]] buffer_pool& buffers() noexcept { return buffers_; }
  [[nodiscard]] lent_memory& lent() noexcept { return lent_; }
  [[nodiscard]] mapped_memory_cache& mappings() noexcept { return *mappings_; }
  /// For each other rank: whether that rank and this rank can map each other's memory. Both ranks
  /// have the same value. Ranks that have not shared a plan with this rank have no entry.
  [[nodiscard]] std::map<int, bool>& reach() noexcept { return reach_; }
  /// For each other rank: what is known of its caches and those of this rank. Both ranks have the
  /// same value. Ranks of which nothing is known have no entry.
  [[nodiscard]] std::map<int, pair_caches>& caches() noexcept { return caches_; }
  /// Caches of which nothing is known are near.
  [[nodiscard]] pair_caches caches_of(int rank) const {
    const auto found = caches_.find(rank);
    return found == caches_.end() ? pair_caches{} : found->second;
  }

 private:
  // The memory of other ranks stays mapped when plans are destroyed. Mapped memory that its owner
  // has freed is limited to this size.
  static constexpr std::size_t max_kept_bytes = std::size_t{16} << 20;

  signal_pool signals_;
  buffer_pool buffers_;
  lent_memory lent_;
  std::optional<mapped_memory_cache> mappings_;
  std::map<int, bool> reach_;
  std::map<int, pair_caches> caches_;
};

}  // namespace longshore::detail
