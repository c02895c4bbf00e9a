// outstanding_requests: which requests of this rank wait for replies. Replies of a rank arrive in
// the order of the requests, so the numbers of the requests to each rank are a queue. One load
// gives the number of the request that a reply answers.
#pragma once

#include <longshore/core/bytes.hpp>
#include <longshore/core/detail/min_max.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace longshore::detail {

/// With up to max_rings ranks, each queue is a ring. With more ranks, each queue is a list.
///
/// Memory of rings: 4 bytes x ranks x ring size. A ring holds twice a rank's even share of the
/// window, and at least 64 requests. That also suffices for a rank to which many ranks send
/// requests, because a full ring of each sender keeps that rank busy. (A larger ring would only use
/// more cache.)
///
/// Memory of lists: 8 bytes x window and 4 bytes x ranks. With so many ranks, few requests of the
/// window go to each rank. Rings would be mostly empty, and yet too small for some ranks.
class outstanding_requests {
  struct ring {
    // The number of outstanding requests is sent - replied. Both counts may wrap around.
    std::uint32_t sent = 0, replied = 0;
  };
  struct list_entry {
    std::uint32_t next, number;
  };
  static constexpr std::uint32_t no_entry = 0xffffffff;

 public:
  static constexpr int max_rings = 1024;
  static constexpr std::size_t min_ring_size = 64, list_bytes_per_rank = sizeof(std::uint32_t);

  outstanding_requests(int ranks, std::size_t window_items);

  /// Whether one more request to `rank` fits. REQUIRES: the window is not full.
  [[nodiscard]] bool has_room(int rank) const noexcept {
    return !has_rings_ || rings_[rank].sent - rings_[rank].replied <= mask_;
  }
  /// Records a request. REQUIRES: has_room(rank).
  void add(int rank, std::uint32_t number) noexcept {
    if (!has_rings_) [[unlikely]] {
      add_to_list(rank, number);
      return;
    }
    writer()(rank, 0, number);
    add_sent(rank, 1);
  }
  /// Removes the oldest request to `rank`, and returns its number.
  [[nodiscard]] std::uint32_t take_oldest(int rank) noexcept {
    if (!has_rings_) [[unlikely]]
      return take_from_list(rank);
    const std::uint32_t number = oldest(rank)(0);
    add_replied(rank, 1);
    return number;
  }

  /// Whether oldest(), writer(), add_sent() and add_replied() serve many requests at a time.
  [[nodiscard]] bool has_rings() const noexcept { return has_rings_; }

  /// How many more requests fit, whichever ranks they go to. 0 without rings.
  [[nodiscard]] std::size_t room() const noexcept {
    if (!has_rings_) return 0;
    std::size_t max_outstanding = 0;
    for (const ring& of_rank : rings_)
      max_outstanding = larger<std::size_t>(max_outstanding, of_rank.sent - of_rank.replied);
    return ring_size_ - max_outstanding;
  }

  /// Records numbers of requests. Stores of a loop cannot change the members of this copy.
  struct number_writer {
    std::uint32_t* numbers;
    const ring* rings;
    std::size_t ring_size;
    std::uint32_t mask;
    /// Records the number of a request to `rank`. `ahead` counts the requests to this rank that
    /// were recorded since the last add_sent().
    void operator()(int rank, std::size_t ahead, std::uint32_t number) const noexcept {
      std::uint32_t* const to = numbers + static_cast<std::size_t>(rank) * ring_size +
                                ((rings[rank].sent + static_cast<std::uint32_t>(ahead)) & mask);
      __builtin_prefetch(to + cache_line_bytes / sizeof(std::uint32_t), 1);
      *to = number;
    }
  };
  [[nodiscard]] number_writer writer() noexcept {
    return {numbers_.data(), rings_.data(), ring_size_, mask_};
  }
  void add_sent(int rank, std::size_t count) noexcept {
    rings_[rank].sent += static_cast<std::uint32_t>(count);
  }

  /// Reads the numbers of the outstanding requests to a rank: reader(0) is the oldest request.
  struct number_reader {
    const std::uint32_t* numbers;
    std::uint32_t first, mask;
    std::uint32_t operator()(std::size_t ahead) const noexcept {
      return numbers[(first + static_cast<std::uint32_t>(ahead)) & mask];
    }
  };
  [[nodiscard]] number_reader oldest(int rank) const noexcept {
    return {numbers_.data() + static_cast<std::size_t>(rank) * ring_size_, rings_[rank].replied,
            mask_};
  }
  void add_replied(int rank, std::size_t count) noexcept {
    rings_[rank].replied += static_cast<std::uint32_t>(count);
  }

 private:
  // Not inlined: loops over rings stay small.
  void add_to_list(int rank, std::uint32_t number) noexcept;
  [[nodiscard]] std::uint32_t take_from_list(int rank) noexcept;

  bool has_rings_;
  std::size_t ring_size_;  // a power of two
  std::uint32_t mask_;
  std::vector<std::uint32_t> numbers_;  // ring after ring
  std::vector<ring> rings_;
  std::vector<std::uint32_t> newest_;  // indexed by rank: an entry, or no_entry
  std::vector<list_entry> entries_;
  std::uint32_t free_ = 0;  // the first entry of the list of free ones
};

}  // namespace longshore::detail
