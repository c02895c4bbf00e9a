// The collective part of an object of Python with a plan of an exchange: the plan, and references to
// the arrays of its fields.
#pragma once

#include "gil.hpp"
#include "operations.hpp"
#include "python_number.hpp"
#include "python_reference.hpp"
#include "team_owner.hpp"

#include <longshore/transport/traffic.hpp>

#include <nanobind/nanobind.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace longshore::python {

template <class Plan>
class kept_plan : public collective_object {
 public:
  /// REQUIRES: the team has not ended.
  [[nodiscard]] const Plan& plan() const noexcept { return *plan_; }
  /// The errors of functions of the program.
  [[nodiscard]] first_error& errors() noexcept { return errors_; }

  /// Calls begin(plan), which begins an operation.
  template <class Begin>
  void start(const Begin& begin) {
    may_be_accessed_ = true;  // even if `begin` throws
    begin(*plan_);
    in_flight_ = true;
  }
  [[nodiscard]] bool test() {
    const bool complete = plan_->test();
    if (complete) in_flight_ = may_be_accessed_ = false;
    return complete;
  }
  void wait(std::optional<device_stream> stream = {}) {
    plan_->wait(stream);
    in_flight_ = false;
    may_be_accessed_ = stream.has_value();  // by work that the stream still has
  }

  void finish() override {
    if (in_flight_) wait();
  }
  /// Fields of an operation in flight are never freed, because other ranks may still access them.
  void abandon() override {
    if (may_be_accessed_) {
      static_cast<void>(plan_.release());
      for (python_reference& array : arrays_) array.leak();
    }
    outlive_team();
  }
  void outlive_team() override {
    in_flight_ = false;
    plan_.reset();
  }

  /// Takes the arrays that own the memory of the fields.
  void hold(std::vector<python_reference> arrays) { arrays_ = std::move(arrays); }
  void hold(std::unique_ptr<Plan> plan) { plan_ = std::move(plan); }

 protected:
  [[nodiscard]] bool in_flight() const noexcept { return in_flight_; }
  [[nodiscard]] Plan* held() noexcept { return plan_.get(); }

 private:
  // Members are destroyed in reverse order: first the plan, then the arrays.
  std::vector<python_reference> arrays_;
  first_error errors_;
  std::unique_ptr<Plan> plan_;
  bool in_flight_ = false;
  bool may_be_accessed_ = false;  // whether other ranks may access the fields
};

/// Collective. Frees the objects that all ranks have dropped. REQUIRES: the thread holds the GIL.
inline void free_dropped(team_owner& owner) {
  const release_gil unlocked;
  owner.free_dropped();
}

/// The result of moved() in Python.
[[nodiscard]] inline nb::dict dict_of(const traffic& moved) {
  nb::dict found;
  found["messages"] = moved.messages;
  found["payload_bytes"] = moved.payload_bytes;
  found["wire_bytes"] = moved.wire_bytes;
  found["offnode_bytes"] = moved.offnode_bytes;
  return found;
}

}  // namespace longshore::python
