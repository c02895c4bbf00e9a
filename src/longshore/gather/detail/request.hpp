// What a scatter or an update sends to the owner of an element, and what the owner does with it.
// There are three request types: store_request for scatter, update_request for updates, and
// constant_amount_request for updates by a constant. Classes exstack_requests and engine_requests
// carry requests of any type to the owners: their function run() sends the requests of this rank,
// and applies the requests that arrive. If an index is out of range, run() throws errc::usage on
// the rank that passed the index and errc::peer_failed on the other ranks, and can be called again.
//
// A request type has
//   item<Offset>                    the type that is sent for each index, without padding
//   header                          the type at the start of each message; may be empty
//   make_item<Offset>(i, offset)    the item for the caller's i-th index
//   merge(waiting_item, later_item) optional: merges the later item into the waiting one; both are
//                                   for the same element
//   header_of_rank()                the header of this rank's messages
//   apply(header, item)             applies an arrived item to this rank's part of the table
//   address_of(item)                the address of the item's element, for a prefetch
#pragma once

#include <longshore/core/op.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace longshore::detail {

/// An offset and a value without padding: 4 and 8 bytes take 12 bytes, where a plain struct has 16.
template <class Offset, trivially_copyable T>
struct offset_and_value {
  offset_and_value() = default;
  offset_and_value(Offset offset, const T& value) noexcept {
    std::memcpy(offset_bytes, &offset, sizeof(Offset));
    set_value(value);
  }
  [[nodiscard]] Offset offset() const noexcept {
    Offset offset;
    std::memcpy(&offset, offset_bytes, sizeof(Offset));
    return offset;
  }
  // Copies the bytes first, because value_bytes is not aligned for T, and T may have no default
  // constructor.
  [[nodiscard]] T value() const noexcept {
    alignas(T) std::byte copy[sizeof(T)];
    std::memcpy(copy, value_bytes, sizeof(T));
    return *reinterpret_cast<const T*>(copy);
  }
  void set_value(const T& value) noexcept { std::memcpy(value_bytes, &value, sizeof(T)); }

  std::byte offset_bytes[sizeof(Offset)];
  std::byte value_bytes[sizeof(T)];
};

/// An offset without a value, with the same access to the offset as offset_and_value.
template <class Offset>
struct offset_only {
  [[nodiscard]] Offset offset() const noexcept { return stored_offset; }
  Offset stored_offset;
};

struct no_header {};

/// table[indices[i]] = values[i].
template <trivially_copyable T>
struct store_request {
  template <class Offset>
  using item = offset_and_value<Offset, T>;
  using header = no_header;

  const T* values;
  T* local_part;

  template <class Offset>
  [[nodiscard]] item<Offset> make_item(std::size_t i, Offset offset) const noexcept {
    return {offset, values[i]};
  }
  template <class Item>
  void merge(Item& earlier, const Item& later) const noexcept {
    earlier.set_value(later.value());
  }
  [[nodiscard]] header header_of_rank() const noexcept { return {}; }
  void apply(const header&, const auto& arrived) const noexcept {
    local_part[arrived.offset()] = arrived.value();
  }
  [[nodiscard]] const T* address_of(const auto& arrived) const noexcept {
    return local_part + arrived.offset();
  }
};

/// The operation of a stream that scatters: the new element is the value.
struct take_value {
  template <class T>
  const T& operator()(const T&, const T& value) const noexcept {
    return value;
  }
};

/// The values of an update: either one value per index, or the same value for all indices. A mask
/// turns the position of an index into the position of its value. The mask is all ones in the first
/// case and 0 in the second. So one compiled loop, without a branch, serves both cases.
template <trivially_copyable T>
class update_values {
 public:
  update_values(const T* values, bool is_one_value) noexcept
      : values_(values), mask_(is_one_value ? 0 : ~std::size_t{0}) {}
  const T& operator()(std::size_t i) const noexcept { return values_[i & mask_]; }

 private:
  const T* values_;
  std::size_t mask_;
};

/// table[indices[i]] = op(table[indices[i]], values(i)).
template <trivially_copyable T, update_operation<T> Op>
struct update_request {
  template <class Offset>
  using item = offset_and_value<Offset, T>;
  using header = no_header;

  update_values<T> values;  // a function of the position i
  T* local_part;
  Op op;

  template <class Offset>
  [[nodiscard]] item<Offset> make_item(std::size_t i, Offset offset) const noexcept {
    return {offset, values(i)};
  }
  template <class Item>
  void merge(Item& earlier, const Item& later) const {
    earlier.set_value(op(earlier.value(), later.value()));
  }
  [[nodiscard]] header header_of_rank() const noexcept { return {}; }
  void apply(const header&, const auto& arrived) const {
    T& element = local_part[arrived.offset()];
    element = op(element, arrived.value());
  }
  [[nodiscard]] const T* address_of(const auto& arrived) const noexcept {
    return local_part + arrived.offset();
  }
};

/// table[indices[i]] = op(table[indices[i]], amount). The amount travels once per message. There is
/// no merge(): an item is an offset alone, and cannot carry the result of two updates.
template <trivially_copyable T, update_operation<T> Op>
struct constant_amount_request {
  template <class Offset>
  using item = offset_only<Offset>;
  using header = T;

  T amount;  // other ranks may have other amounts
  T* local_part;
  Op op;

  template <class Offset>
  [[nodiscard]] item<Offset> make_item(std::size_t, Offset offset) const noexcept {
    return {offset};
  }
  [[nodiscard]] header header_of_rank() const noexcept { return amount; }
  void apply(const header& amount_of_sender, const auto& arrived) const {
    T& element = local_part[arrived.offset()];
    element = op(element, amount_of_sender);
  }
  [[nodiscard]] const T* address_of(const auto& arrived) const noexcept {
    return local_part + arrived.offset();
  }
};

}  // namespace longshore::detail
