// Requests of scatter and updates to the owner of an element: the item that travels per index, and
// the change that the owner makes. Scatter and the kinds of updates differ only here;
// exstack_requests and engine_requests carry any of these request types.
//
// A request type has
//   item<Offset>                    the type that travels per index, without padding
//   header                          the type before the items of a message; may be empty
//   make_item<Offset>(i, offset)    the item for the caller's i-th index
//   merge(item, later)              merges a later item for the same element into a waiting one
//   own_header()                    the header of this rank's messages
//   apply(header, item)             applies an arrived item to this rank's part
//   address_of(item)                the element that an item is for, to prefetch it
#pragma once

#include <longshore/gather/op.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace longshore::detail {

/// An offset and a value without padding: 12 bytes for 4 and 8, where a plain struct has 16.
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
  [[nodiscard]] T value() const noexcept {
    alignas(T) std::byte copy[sizeof(T)];
    std::memcpy(copy, value_bytes, sizeof(T));
    return *reinterpret_cast<const T*>(copy);
  }
  void set_value(const T& value) noexcept { std::memcpy(value_bytes, &value, sizeof(T)); }

  std::byte offset_bytes[sizeof(Offset)];
  std::byte value_bytes[sizeof(T)];
};

/// An offset alone.
template <class Offset>
struct offset_only {
  [[nodiscard]] Offset offset() const noexcept { return value; }
  Offset value;
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
  [[nodiscard]] header own_header() const noexcept { return {}; }
  void apply(const header&, const auto& arrived) const noexcept {
    local_part[arrived.offset()] = arrived.value();
  }
  [[nodiscard]] const T* address_of(const auto& arrived) const noexcept {
    return local_part + arrived.offset();
  }
};

/// The values of an update: one per index, or with mask 0 the same
// value for all. One loop serves both.
template <trivially_copyable T>
struct value_source {
  const T* from;
  std::size_t mask;
  const T& operator()(std::size_t i) const noexcept { return from[i & mask]; }
};

/// table[indices[i]] = op(table[indices[i]], value_of(i)).
template <trivially_copyable T, update_operation<T> Op, class ValueOf>
struct update_request {
  template <class Offset>
  using item = offset_and_value<Offset, T>;
  using header = no_header;

  ValueOf value_of;
  T* local_part;
  Op op;

  template <class Offset>
  [[nodiscard]] item<Offset> make_item(std::size_t i, Offset offset) const noexcept {
    return {offset, value_of(i)};
  }
  template <class Item>
  void merge(Item& earlier, const Item& later) const {
    earlier.set_value(op(earlier.value(), later.value()));
  }
  [[nodiscard]] header own_header() const noexcept { return {}; }
  void apply(const header&, const auto& arrived) const {
    T& element = local_part[arrived.offset()];
    element = op(element, arrived.value());
  }
  [[nodiscard]] const T* address_of(const auto& arrived) const noexcept {
    return local_part + arrived.offset();
  }
};

/// table[indices[i]] = op(table[indices[i]], amount). The amount travels once per message.
template <trivially_copyable T, update_operation<T> Op>
struct constant_request {
  template <class Offset>
  using item = offset_only<Offset>;
  using header = T;

  T amount;  // of this rank; other ranks may have others
  T* local_part;
  Op op;

  template <class Offset>
  [[nodiscard]] item<Offset> make_item(std::size_t, Offset offset) const noexcept {
    return {offset};
  }
  [[nodiscard]] header own_header() const noexcept { return amount; }
  void apply(const header& theirs, const auto& arrived) const {
    T& element = local_part[arrived.offset()];
    element = op(element, theirs);
  }
  [[nodiscard]] const T* address_of(const auto& arrived) const noexcept {
    return local_part + arrived.offset();
  }
};

}  // namespace longshore::detail
