// What a rank asks of an element's owner in one item, and what the owner does with it: the only
// thing in which the aggregated scatter and the aggregated updates differ. Whatever carries items
// (exstack, an engine) is written once over these.
//
// A request type says
//   item<Offset>                    what travels, without padding
//   head                            what precedes the items of a message (empty: nothing)
//   make<Offset>(i, offset)         the item of the caller's i-th index
//   merge(item, later)              adds what a later item wants to one for the same element that has not left yet
//   apply(head, item)               what the owner does
#pragma once

#include <longshore/gather/op.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace longshore::detail {

/// An offset and a value, as they travel: 12 bytes of 4 and 8, where a plain struct has 16.
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
struct bare_offset {
  [[nodiscard]] Offset offset() const noexcept { return value; }
  Offset value;
};

struct no_head {};

/// table[indices[i]] = values[i].
template <trivially_copyable T>
struct store_request {
  template <class Offset>
  using item = offset_and_value<Offset, T>;
  using head = no_head;

  const T* values;
  T* mine;  // this rank's part

  template <class Offset>
  [[nodiscard]] item<Offset> make(std::size_t i, Offset offset) const noexcept {
    return {offset, values[i]};
  }
  template <class Item>
  void merge(Item& earlier, const Item& later) const noexcept {
    earlier.set_value(later.value());
  }
  [[nodiscard]] head own_head() const noexcept { return {}; }
  void apply(const head&, const auto& arrived) const noexcept {
    mine[arrived.offset()] = arrived.value();
  }
  [[nodiscard]] const T* target(const auto& arrived) const noexcept {
    return mine + arrived.offset();
  }
};

/// Values to update with: one per index, or (mask 0) one for all: one loop for both.
template <trivially_copyable T>
struct values_in_memory {
  const T* from;
  std::size_t mask;
  const T& operator()(std::size_t i) const noexcept { return from[i & mask]; }
};

/// table[indices[i]] = op(table[indices[i]], value_of(i)).
template <trivially_copyable T, update_operation<T> Op, class ValueOf>
struct update_request {
  template <class Offset>
  using item = offset_and_value<Offset, T>;
  using head = no_head;

  ValueOf value_of;
  T* mine;
  Op op;

  template <class Offset>
  [[nodiscard]] item<Offset> make(std::size_t i, Offset offset) const noexcept {
    return {offset, value_of(i)};
  }
  template <class Item>
  void merge(Item& earlier, const Item& later) const {
    earlier.set_value(op(earlier.value(), later.value()));
  }
  [[nodiscard]] head own_head() const noexcept { return {}; }
  void apply(const head&, const auto& arrived) const {
    T& element = mine[arrived.offset()];
    element = op(element, arrived.value());
  }
  [[nodiscard]] const T* target(const auto& arrived) const noexcept {
    return mine + arrived.offset();
  }
};

/// table[indices[i]] = op(table[indices[i]], amount): the amount travels once per message.
template <trivially_copyable T, update_operation<T> Op>
struct count_request {
  template <class Offset>
  using item = bare_offset<Offset>;
  using head = T;

  T amount;  // of this rank; others may have another
  T* mine;
  Op op;

  template <class Offset>
  [[nodiscard]] item<Offset> make(std::size_t, Offset offset) const noexcept {
    return {offset};
  }
  [[nodiscard]] head own_head() const noexcept { return amount; }
  void apply(const head& theirs, const auto& arrived) const {
    T& element = mine[arrived.offset()];
    element = op(element, theirs);
  }
  [[nodiscard]] const T* target(const auto& arrived) const noexcept {
    return mine + arrived.offset();
  }
};

}  // namespace longshore::detail
