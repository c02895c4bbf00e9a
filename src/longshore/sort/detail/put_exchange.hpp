// The exchanges that put: each block goes at once into the memory of the rank that is to have it.
#pragma once

#include <longshore/sort/block_exchange.hpp>
#include <longshore/sort/detail/room.hpp>

namespace longshore::detail {

/// Exchange put: a fetch_add at the target says where the block goes there, in the order in which
/// ranks come.
class claimed_put final : public block_exchange {
 public:
  claimed_put(team& team, std::size_t item_bytes, std::vector<int> targets);

 private:
  std::byte* make_room(std::size_t bytes, std::size_t most_bytes) override;
  void agree(const block_counts& counts) override;
  void move(const std::byte* outgoing, const arrival& arrived) override;
  std::size_t claim(int target, std::size_t bytes);
  [[nodiscard]] std::size_t counter() const noexcept {
    return static_cast<std::size_t>(runs_ % 2) * sizeof(std::int64_t);
  }

  std::vector<int> targets_;
  shared_room room_;
  // Bytes that have a place on this rank: two counters, of which that of the last run is set back
  // while nobody looks at it.
  std::unique_ptr<segment> claimed_;
  unsigned runs_ = 0;
  std::size_t claimed_last_ = 0;  // by the last run, on this rank
};

/// Exchanges put-scan and direct: each rank sums up what it gets from the ranks before another, and
/// tells that one. No atomics, and what lies where depends on nothing but the counts. With `direct`
/// blocks for ranks of the node are stored by the caller.
class scanned_put final : public block_exchange {
 public:
  scanned_put(team& team, std::size_t item_bytes, std::vector<int> targets, bool direct);

 private:
  std::byte* make_room(std::size_t bytes, std::size_t most_bytes) override;
  void agree(const block_counts& counts) override;
  void move(const std::byte* outgoing, const arrival& arrived) override;

  std::vector<int> targets_;
  bool direct_;
  shared_room room_;
  std::vector<std::size_t> there_;  // where the block goes, by target, in bytes
};

}  // namespace longshore::detail
