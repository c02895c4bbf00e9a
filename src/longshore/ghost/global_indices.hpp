// Lists of global indices as programs have them: arrays of int, long, long long, std::size_t.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>  // has the concepts of ranges, without the views of <ranges>
#include <type_traits>
#include <vector>

namespace longshore {

/// Global indices for one call: any range of integers converts to this type. Contiguous integers of
/// 64 bits are read where they lie; others are copied. An index must be from 0 to 2^63 - 1. The
/// call refuses negative indices. It reads a larger unsigned index as negative, and so refuses
/// that, too.
class global_indices {
 public:
  template <std::ranges::input_range Range>
  requires(std::integral<std::ranges::range_value_t<Range>> &&
           !std::same_as<std::remove_cv_t<std::ranges::range_value_t<Range>>, bool>)
      // NOLINTNEXTLINE(google-explicit-constructor): a list of indices is given as it is
      global_indices(Range&& indices) {
    using index = std::ranges::range_value_t<Range>;
    if constexpr (std::ranges::contiguous_range<Range> && std::ranges::sized_range<Range> &&
                  sizeof(index) == sizeof(std::int64_t)) {
      // The compiler may assume that long and long long do not alias. The fence makes it store all
      // integers that this rank wrote. (<atomic> has it, too, but takes long to compile.)
      __atomic_signal_fence(__ATOMIC_SEQ_CST);
      values_ = {reinterpret_cast<const std::int64_t*>(std::ranges::data(indices)),
                 static_cast<std::size_t>(std::ranges::size(indices))};
    } else {
      for (const auto i : indices) copies_.push_back(static_cast<std::int64_t>(i));
      values_ = copies_;
    }
  }
  global_indices(const global_indices&) = delete;
  global_indices& operator=(const global_indices&) = delete;

  [[nodiscard]] std::span<const std::int64_t> values() const noexcept { return values_; }
  [[nodiscard]] std::size_t size() const noexcept { return values_.size(); }

 private:
  std::vector<std::int64_t> copies_;
  std::span<const std::int64_t> values_;
};

}  // namespace longshore
