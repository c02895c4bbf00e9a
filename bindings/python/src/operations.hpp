// The operations that combine elements of fields: names, and functions of NumPy.
#pragma once

#include "arrays.hpp"

#include <longshore/exchange/combine_op.hpp>
#include <longshore/exchange/runtime_types.hpp>

#include <cstddef>
#include <exception>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace longshore::python {

/// The type of a real number, or of each of the two numbers of a complex one.
[[nodiscard]] element real_type_of(element type);

/// What an element of a field consists of.
struct element_content {
  std::optional<element> type;  ///< of the numbers; nothing for structured types
  /// Numbers of type real_type_of(type) that are combined one by one. It is 1 for a field whose
  /// elements are one number each, real or complex.
  std::size_t numbers = 1;
  std::size_t bytes = 0;
};

/// The first error of functions of the program, which an exchange calls. The exchange continues
/// after the error, because other ranks wait for it.
class first_error {
 public:
  void keep(std::exception_ptr error) noexcept {
    if (!error_) error_ = std::move(error);
  }
  [[nodiscard]] bool exists() const noexcept { return error_ != nullptr; }
  /// REQUIRES: the thread holds the GIL.
  void rethrow() {
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }

 private:
  std::exception_ptr error_;
};

/// Returns the operation `given` for each of the fields. `given` is a name, or a function of NumPy.
/// Throws TypeError or errc::usage if it is neither, or if a field does not have the operation.
/// `errors` gets the errors of functions, and must outlive the operations.
[[nodiscard]] std::vector<combine_op> ops_from(nb::handle given,
                                               std::span<const element_content> fields,
                                               first_error& errors);

}  // namespace longshore::python
