// What a rank keeps of the memory of its node for all plans of a team: its signals, spare
// buffers, the memory of its messages, the memory of others that it has mapped, and which ranks can
// map each other's memory at all.
#pragma once

#include <longshore/ghost/detail/buffer_pool.hpp>
#include <longshore/ghost/detail/lent_memory.hpp>
#include <longshore/ghost/detail/signal_pool.hpp>
#include <longshore/transport/detail/mapped_memory.hpp>
#include <longshore/transport/team_attribute.hpp>

#include <map>
#include <optional>

namespace longshore::detail {

class node_access {
 public:
  /// Local. The access of this rank; it lives as long as the team.
  [[nodiscard]] static node_access& of(team& ranks) {
    auto& access = team_attribute<node_access>(ranks);
    if (!access.mappings_) access.mappings_.emplace(ranks.is_one_process(), max_kept_bytes);
    return access;
  }
  [[nodiscard]] signal_pool& signals() noexcept { return signals_; }
  [[nodiscard]] buffer_pool& buffers() noexcept { return buffers_; }
  [[nodiscard]] lent_memory& lent() noexcept { return lent_; }
  [[nodiscard]] mapped_memory_cache& mappings() noexcept { return *mappings_; }
  /// By rank: whether the rank and this one can map each other's memory. Both know the same. A rank
  /// without an entry has not shared a plan with this one.
  [[nodiscard]] std::map<int, bool>& reach() noexcept { return reach_; }

 private:
  // Memory of other ranks stays mapped if plans come and go. If its owner frees it, it takes no more
  // than this.
  static constexpr std::size_t max_kept_bytes = std::size_t{16} << 20;

  signal_pool signals_;
  buffer_pool buffers_;
  lent_memory lent_;
  std::optional<mapped_memory_cache> mappings_;
  std::map<int, bool> reach_;
};

}  // namespace longshore::detail
