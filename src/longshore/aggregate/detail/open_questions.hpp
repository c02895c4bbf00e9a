// Which questions are open, by the rank that was asked: a ring of numbers per rank, so that the
// next reply of a rank finds its question by one load, in order, whatever the ranks are.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace longshore::detail {

/// Memory: 4 bytes x ranks x places, of which there are twice a rank's even share of the window, at
/// least 64: a rank that many others ask has enough to do with so many questions of each. (A larger
/// ring would only be more memory to walk through.)
class open_questions {
  struct ring {
    std::uint32_t asked = 0, answered = 0;  // counts that wrap; their difference is open
  };

 public:
  open_questions(int ranks, std::size_t window_items)
      : places_(
            std::min(window_items, std::bit_ceil(std::max<std::size_t>(
                                       64, 2 * window_items / static_cast<std::size_t>(ranks))))),
        mask_(static_cast<std::uint32_t>(places_ - 1)),
        numbers_(static_cast<std::size_t>(ranks) * places_),
        rings_(static_cast<std::size_t>(ranks)) {}

  [[nodiscard]] bool has_room(int rank) const noexcept {
    return rings_[rank].asked - rings_[rank].answered <= mask_;
  }
  /// How many more questions there is room for, whatever their ranks are.
  [[nodiscard]] std::size_t room() const noexcept {
    std::size_t least = places_;
    for (const ring& one : rings_) least = std::min(least, places_ - (one.asked - one.answered));
    return least;
  }
  /// What writes down numbers: by value, so that what a loop writes elsewhere cannot change it.
  struct number_writer {
    std::uint32_t* numbers;
    const ring* rings;
    std::size_t places;
    std::uint32_t mask;
    /// The number of the question that is `ahead` behind the last one to `rank` that was said to be
    /// asked.
    void operator()(int rank, std::size_t ahead, std::uint32_t number) const noexcept {
      numbers[static_cast<std::size_t>(rank) * places +
              ((rings[rank].asked + static_cast<std::uint32_t>(ahead)) & mask)] = number;
    }
  };
  [[nodiscard]] number_writer writer() noexcept {
    return {numbers_.data(), rings_.data(), places_, mask_};
  }
  void asked(int rank, std::size_t count) noexcept {
    rings_[rank].asked += static_cast<std::uint32_t>(count);
  }
  /// The numbers of the open questions to a rank, the oldest first.
  struct number_reader {
    const std::uint32_t* numbers;
    std::uint32_t first, mask;
    std::uint32_t operator()(std::size_t ahead) const noexcept {
      return numbers[(first + static_cast<std::uint32_t>(ahead)) & mask];
    }
  };
  [[nodiscard]] number_reader oldest(int rank) const noexcept {
    return {numbers_.data() + static_cast<std::size_t>(rank) * places_, rings_[rank].answered,
            mask_};
  }
  void answered(int rank, std::size_t count) noexcept {
    rings_[rank].answered += static_cast<std::uint32_t>(count);
  }

 private:
  std::size_t places_;  // a power of two
  std::uint32_t mask_;
  std::vector<std::uint32_t> numbers_;
  std::vector<ring> rings_;
};

}  // namespace longshore::detail
