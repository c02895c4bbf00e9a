// The operations by which the values of several ranks are combined: ghosts into their owners.
#pragma once

#include <longshore/core/bytes.hpp>
#include <longshore/core/detail/type_name.hpp>
#include <longshore/core/op.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <typeinfo>

namespace longshore {

namespace detail {

/// Pairs of an owned element and a value. Pair i has the element `to_index[i]` of `to`, and the
/// value `from_index[i]` of `from`. If a list of indices is null, pair i has element or value i.
struct element_batch {
  std::byte* to = nullptr;
  std::ptrdiff_t to_stride_bytes = 0;
  const std::uint32_t* to_index = nullptr;
  const std::byte* from = nullptr;
  std::ptrdiff_t from_stride_bytes = 0;
  const std::uint32_t* from_index = nullptr;
  std::size_t count = 0;
};

/// Combines the pairs of a batch, one after another. `op` is the operation, or null if it has no
/// state.
using batch_function = void (*)(const void* op, const element_batch& batch);

// The loop over a batch. It is compiled for each way in which indices can be given, and for
// elements of `Bytes` bytes without gaps. `f(to, from)` gets the addresses of an element and a
// value.
template <std::size_t Bytes, class F>
void for_each_pair_of_addresses(const element_batch& batch, const F& f) {
  const auto loop = [&](const auto& to_at, const auto& from_at) {
    for (std::size_t i = 0; i < batch.count; ++i) f(to_at(i), from_at(i));
  };
  constexpr auto dense = static_cast<std::ptrdiff_t>(Bytes);
  const auto in_order = [](auto* first, std::ptrdiff_t stride) {
    return [=](std::size_t i) { return first + static_cast<std::ptrdiff_t>(i) * stride; };
  };
  const auto indexed = [](auto* first, const std::uint32_t* index, std::ptrdiff_t stride) {
    return [=](std::size_t i) { return first + static_cast<std::ptrdiff_t>(index[i]) * stride; };
  };
  // Most fields have no gaps. For these, the stride is a constant of the compiler.
  const auto with_strides = [&](auto to_stride, auto from_stride) {
    if (batch.to_index == nullptr && batch.from_index == nullptr)
      loop(in_order(batch.to, to_stride()), in_order(batch.from, from_stride()));
    else if (batch.from_index == nullptr)
      loop(indexed(batch.to, batch.to_index, to_stride()), in_order(batch.from, from_stride()));
    else if (batch.to_index == nullptr)
      loop(in_order(batch.to, to_stride()), indexed(batch.from, batch.from_index, from_stride()));
    else
      loop(indexed(batch.to, batch.to_index, to_stride()),
           indexed(batch.from, batch.from_index, from_stride()));
  };
  const auto dense_stride = [] { return dense; };
  if (batch.to_stride_bytes == dense && batch.from_stride_bytes == dense)
    with_strides(dense_stride, dense_stride);
  else
    with_strides([&] { return batch.to_stride_bytes; }, [&] { return batch.from_stride_bytes; });
}

template <class T, class Combine>
void for_each_pair(const element_batch& batch, const Combine& combine) {
  for_each_pair_of_addresses<sizeof(T)>(batch, [&](std::byte* to, const std::byte* from) {
    combine(*reinterpret_cast<T*>(to), *reinterpret_cast<const T*>(from));
  });
}

template <class T, class Op>
void combine_batch(const void*, const element_batch& batch) {
  for_each_pair<T>(batch, [](T& to, const T& from) { to = static_cast<T>(Op{}(to, from)); });
}

/// What a plan knows of the type of a field's elements. `loops` are those of op::add, op::min,
/// op::max and op::bit_or. A loop is null if the type does not have the operation.
struct element_type {
  const std::type_info* type;
  std::string_view (*name)() noexcept;  ///< in messages; the same on all ranks
  std::array<batch_function, 4> loops;
};

// The operations have no constraints, so an unsuitable type would fail to compile within them.
// These concepts try the expressions first.
template <class T>
concept can_add = requires(const T& a, const T& b) {
  static_cast<T>(a + b);
};
template <class T>
concept can_order = requires(const T& a, const T& b) {
  static_cast<bool>(a < b);
};
template <class T>
concept can_or = requires(const T& a, const T& b) {
  static_cast<T>(a | b);
};

template <bool Exists, class T, class Op>
constexpr batch_function loop_if() {
  if constexpr (Exists)
    return &combine_batch<T, Op>;
  else
    return nullptr;
}

template <class T>
inline constexpr element_type element_type_of = {
    &typeid(T),
    &type_name<T>,
    {loop_if<can_add<T>, T, op::add>(), loop_if<can_order<T>, T, op::min>(),
     loop_if<can_order<T>, T, op::max>(), loop_if<can_or<T>, T, op::bit_or>()}};

}  // namespace detail

/// An operation of an accumulate or assemble. It is op::add, op::min, op::max or op::bit_or, for
/// fields of any type that has the operation. Or it is a function for elements of one type:
///
///     plan.accumulate(op::add{});
///     plan.accumulate(combine_op::of<vec3>([](vec3& element, const vec3& ghost) { ... }));
///
/// All ranks pass the same operation. Cheap to copy.
class combine_op {
 public:
  combine_op(op::add) noexcept : kind_(kind::add) {}        // implicit: operations are passed
  combine_op(op::min) noexcept : kind_(kind::min) {}        // by their names
  combine_op(op::max) noexcept : kind_(kind::max) {}        //
  combine_op(op::bit_or) noexcept : kind_(kind::bit_or) {}  //

  /// A function f(element, ghost) that changes the element. The function is compiled into the loop
  /// over the ghosts, which calls the function once per ghost, in the order that the exchange
  /// defines.
  template <trivially_copyable T, class Function>
  requires std::copyable<Function> && std::invocable<const Function&, T&, const T&>
  [[nodiscard]] static combine_op of(Function f) {
    combine_op made;
    made.type_ = &typeid(T);
    made.state_ = std::make_shared<const Function>(std::move(f));
    made.loop_ = [](const void* state, const detail::element_batch& batch) {
      const auto& function = *static_cast<const Function*>(state);
      detail::for_each_pair<T>(batch, [&](T& to, const T& from) { function(to, from); });
    };
    return made;
  }

  /// @cond For plans, and for interfaces of other languages. Makes an operation of a loop for
  /// elements of any type.
  [[nodiscard]] static combine_op of_batches(detail::batch_function loop,
                                             std::shared_ptr<const void> state);
  /// Returns the loop for fields of a type, or null if the type does not have the operation.
  [[nodiscard]] detail::batch_function loop_for(const detail::element_type& type) const;
  [[nodiscard]] const std::shared_ptr<const void>& state() const noexcept { return state_; }
  /// The number of op::add, op::min, op::max or op::bit_or, in this order; nothing for a function.
  [[nodiscard]] std::optional<std::size_t> standard_operation() const noexcept;
  /// @endcond

 private:
  enum class kind { add, min, max, bit_or, function };
  combine_op() = default;
  kind kind_ = kind::function;
  const std::type_info* type_ = nullptr;  // of a function; null for elements of any type
  detail::batch_function loop_ = nullptr;
  std::shared_ptr<const void> state_;
};

/// The operation of a call for all fields, or a list with one operation per field, which is not
/// copied.
class combine_ops {
 public:
  template <std::convertible_to<combine_op> Operation>
  combine_ops(const Operation& one) : one_(one), all_(&*one_, 1) {}  // implicit: an argument is
  template <std::convertible_to<std::span<const combine_op>> List>   // one operation or a list
  combine_ops(const List& list) : all_(list) {}
  combine_ops(const combine_ops&) = delete;
  combine_ops& operator=(const combine_ops&) = delete;

  [[nodiscard]] std::span<const combine_op> all() const noexcept { return all_; }

 private:
  std::optional<combine_op> one_;
  std::span<const combine_op> all_;
};

}  // namespace longshore
