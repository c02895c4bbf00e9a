// Lists of elements of a memory, and pairs of lists that say which element is copied where.
#pragma once

#include <longshore/exchange/combine_op.hpp>
#include <longshore/exchange/detail/copy/copy_stores.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace longshore::detail {

/// Numbers of elements, in order. Consecutive numbers need no memory. Copies share the memory.
class index_list {
 public:
  index_list() = default;
  index_list(std::uint32_t first, std::size_t count) : first_(first), count_(count) {}
  explicit index_list(std::vector<std::uint32_t> indices);

  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
  [[nodiscard]] bool is_contiguous() const noexcept { return indices_ == nullptr; }
  [[nodiscard]] std::uint32_t operator[](std::size_t i) const noexcept {
    return indices_ == nullptr ? first_ + static_cast<std::uint32_t>(i) : indices_.get()[i];
  }
  /// The numbers. Null if they are consecutive; they then begin with first().
  [[nodiscard]] const std::uint32_t* indices() const noexcept { return indices_.get(); }
  [[nodiscard]] std::uint32_t first() const noexcept { return first_; }
  [[nodiscard]] std::vector<std::uint32_t> to_vector() const;
  [[nodiscard]] index_list slice(std::size_t begin, std::size_t count) const;
  [[nodiscard]] std::size_t memory_bytes() const noexcept {
    return indices_ == nullptr ? 0 : count_ * sizeof(std::uint32_t);
  }
  friend bool operator==(const index_list& a, const index_list& b) noexcept;

 private:
  std::uint32_t first_ = 0;
  std::size_t count_ = 0;
  std::shared_ptr<const std::uint32_t> indices_;
};

/// The memory of elements of one field.
struct element_memory {
  std::byte* data = nullptr;
  std::ptrdiff_t stride_bytes = 0;
};

/// Pairs of a target and a source, in order. Long runs of consecutive pairs are found once, and are
/// then copied as blocks.
class pair_list {
 public:
  pair_list() = default;
  /// REQUIRES: lists of equal length.
  pair_list(index_list to, index_list from);

  [[nodiscard]] std::size_t size() const noexcept { return to_.size(); }
  [[nodiscard]] std::size_t memory_bytes() const noexcept { return runs_.size() * sizeof(run); }
  /// Copies elements of `element_bytes` bytes. With streaming stores, addresses of targets and
  /// element_bytes are multiples of 4.
  void copy(const element_memory& to, const element_memory& from, std::size_t element_bytes,
            copy_stores stores) const;
  /// Combines the elements of `to` with those of `from`.
  void combine(const element_memory& to, const element_memory& from, batch_function loop,
               const void* op) const;

 private:
  struct run {
    std::uint32_t to, from, count;
  };
  template <class F>
  void for_each_batch(const element_memory& to, const element_memory& from, const F& f) const;

  index_list to_, from_;
  std::vector<run> runs_;  // empty if runs are short
};

}  // namespace longshore::detail
