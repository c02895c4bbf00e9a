// outstanding_requests: which requests of this rank wait for replies. There is a ring per rank,
// with the numbers of the requests to that rank. Replies of a rank arrive in the order of the
// requests, so one load gives the number of the request that a reply answers.
#pragma once

#include <longshore/core/bytes.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace longshore::detail {

/// Memory: 4 bytes x ranks x ring size. A ring holds twice a rank's even share of the window, and
/// at least 64 requests, or fewer if all rings would take more than 256 KiB, but never less than 8.
/// That also suffices for a rank to which many ranks send requests, since a full ring of each sender
/// keeps that rank busy. (A larger ring would only use more cache.)
class outstanding_requests {
  struct ring {
    // The number of outstanding requests is sent - replied. Both counts may wrap around.
    std::uint32_t sent = 0, replied = 0;
  };

 public:
  static constexpr std::size_t min_ring_size = 8,
                               min_bytes_per_rank =
                                   min_ring_size * sizeof(std::uint32_t) + sizeof(ring);

  outstanding_requests(int ranks, std::size_t window_items)
      : ring_size_(ring_size_for(static_cast<std::size_t>(ranks), window_items)),
        mask_(static_cast<std::uint32_t>(ring_size_ - 1)),
        numbers_(static_cast<std::size_t>(ranks) * ring_size_),
        rings_(static_cast<std::size_t>(ranks)) {}

  /// Whether one more request to `rank` fits.
  [[nodiscard]] bool has_room(int rank) const noexcept {
    return rings_[rank].sent - rings_[rank].replied <= mask_;
  }
  /// How many more requests fit, whichever ranks they go to.
  [[nodiscard]] std::size_t room() const noexcept {
    std::size_t max_outstanding = 0;
    for (const ring& of_rank : rings_)
      max_outstanding = std::max<std::size_t>(max_outstanding, of_rank.sent - of_rank.replied);
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
  static std::size_t ring_size_for(std::size_t ranks, std::size_t window_items) {
    const std::size_t at_least =
        std::clamp<std::size_t>(std::bit_floor(65536 / ranks), min_ring_size, 64);
    const std::size_t share = std::bit_ceil(2 * window_items / ranks);
    return std::min(window_items, std::max(at_least, share));
  }

  std::size_t ring_size_;  // a power of two
  std::uint32_t mask_;
  std::vector<std::uint32_t> numbers_;  // ring after ring
  std::vector<ring> rings_;
};

}  // namespace longshore::detail
