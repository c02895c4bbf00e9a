// The collective parts of a GhostGraph and of a Ghost.
#pragma once

#include "kept_plan.hpp"
#include "kept_value.hpp"

#include <longshore/ghost/ghost_exchange.hpp>

#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace longshore::python {

using kept_graph = kept_value<ghost_graph>;

/// A field of a plan. An element is a row of the array.
struct ghost_rows {
  ghost_memory memory;
  element_content content;
};

class ghost_plan_of_fields final : public kept_plan<ghost_exchange> {
 public:
  /// Collective. `arrays` own the memory of the fields.
  void make(const ghost_graph& graph, const ghost_options& options, std::vector<ghost_rows> fields,
            std::vector<python_reference> arrays) {
    if (held() != nullptr)
      held()->remake(graph, memory_of(fields));
    else
      hold(std::make_unique<ghost_exchange>(graph, options, memory_of(fields)));
    fields_ = std::move(fields);
    hold(std::move(arrays));
  }
  /// Local, but collective if the plan has no fields yet. `arrays` own the memory of the fields.
  void rebind(std::vector<ghost_rows> fields, std::vector<python_reference> arrays) {
    held()->rebind(memory_of(fields));
    fields_ = std::move(fields);
    hold(std::move(arrays));
  }
  [[nodiscard]] std::span<const ghost_rows> fields() const noexcept { return fields_; }

 private:
  static std::vector<ghost_memory> memory_of(const std::vector<ghost_rows>& fields) {
    std::vector<ghost_memory> memory;
    for (const ghost_rows& field : fields) memory.push_back(field.memory);
    return memory;
  }

  std::vector<ghost_rows> fields_;
};

}  // namespace longshore::python
