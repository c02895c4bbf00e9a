// The collective part of a Python object without a plan: a graph or a layout.
#pragma once

#include "team_owner.hpp"

#include <optional>
#include <utility>

namespace longshore::python {

template <class Value>
class kept_value final : public collective_object {
 public:
  explicit kept_value(Value value) : value_(std::move(value)) {}
  /// REQUIRES: the team has not ended.
  [[nodiscard]] const Value& value() const noexcept { return *value_; }
  void outlive_team() override { value_.reset(); }

 private:
  std::optional<Value> value_;
};

}  // namespace longshore::python
