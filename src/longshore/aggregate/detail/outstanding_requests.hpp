// Which requests wait for replies. For each rank there is a ring with the numbers of the requests
// to it, oldest first. Replies of a rank come in the order of the requests to it, so the next reply
// finds the number of its request by one load.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace longshore::detail {

/// Memory: 4 bytes x ranks x places. A ring has places for twice a rank's even share of the window,
/// and for at least 64 requests. That suffices also for a rank that many others send requests to,
/// since it is busy with so many requests of each. (A larger ring would only use more cache.)
class outstanding_requests {
  struct ring {
    std::uint32_t sent = 0, replied = 0;  // counts that wrap; their difference is outstanding
  };

 public:
  outstanding_requests(int ranks, std::size_t window_items)
      : places_(
            std::min(window_items, std::bit_ceil(std::max<std::size_t>(
                                       64, 2 * window_items / static_cast<std::size_t>(ranks))))),
        mask_(static_cast<std::uint32_t>(places_ - 1)),
        numbers_(static_cast<std::size_t>(ranks) * places_),
        rings_(static_cast<std::size_t>(ranks)) {}

  /// Whether one more request to `rank` fits.
  [[nodiscard]] bool has_room(int rank) const noexcept {
    return rings_[rank].sent - rings_[rank].replied <= mask_;
  }
  /// How many more requests fit, whichever ranks they go to.
  [[nodiscard]] std::size_t room() const noexcept {
    std::size_t least = places_;
    for (const ring& one : rings_) least = std::min(least, places_ - (one.sent - one.replied));
    return least;
  }

  /// Records numbers of requests. A copy for loops: their stores cannot change its members.
  struct number_writer {
    std::uint32_t* numbers;
    const ring* rings;
    std::size_t places;
    std::uint32_t mask;
    /// Records the number of a request to `rank`. `ahead` counts the requests to this rank that
    /// were recorded since the last add_sent().
    void operator()(int rank, std::size_t ahead, std::uint32_t number) const noexcept {
      numbers[static_cast<std::size_t>(rank) * places +
              ((rings[rank].sent + static_cast<std::uint32_t>(ahead)) & mask)] = number;
    }
  };
  [[nodiscard]] number_writer writer() noexcept {
    return {numbers_.data(), rings_.data(), places_, mask_};
  }
  void add_sent(int rank, std::size_t count) noexcept {
    rings_[rank].sent += static_cast<std::uint32_t>(count);
  }

  /// Reads the numbers of the outstanding requests to a rank: reader(0) is the oldest.
  struct number_reader {
    const std::uint32_t* numbers;
    std::uint32_t first, mask;
    std::uint32_t operator()(std::size_t ahead) const noexcept {
      return numbers[(first + static_cast<std::uint32_t>(ahead)) & mask];
    }
  };
  [[nodiscard]] number_reader oldest(int rank) const noexcept {
    return {numbers_.data() + static_cast<std::size_t>(rank) * places_, rings_[rank].replied,
            mask_};
  }
  void add_replied(int rank, std::size_t count) noexcept {
    rings_[rank].replied += static_cast<std::uint32_t>(count);
  }

 private:
  std::size_t places_;  // per ring; a power of two
  std::uint32_t mask_;
  std::vector<std::uint32_t> numbers_;
  std::vector<ring> rings_;
};

}  // namespace longshore::detail
