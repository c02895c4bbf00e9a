// What a team made together with the others and frees together with them, when it is given back
// while an exception passes.
#pragma once

#include <longshore/core/error.hpp>

#include <memory>
#include <utility>
#include <vector>

namespace longshore::detail {

/// Then the others may never come to free it: it is kept until all make or end something together
/// again, so that an error that all threw and caught leaves nothing, and is not freed at all in a
/// run that ends.
template <class Resource>
class kept_resources {
 public:
  /// Frees by close(resource), unless an exception passes. A deadline that passes in it ends the
  /// run: destructors cannot throw.
  template <class Team, class Close>
  void give_back(Team& team, std::unique_ptr<Resource> resource, bool unwinding,
                 const Close& close) {
    if (unwinding) {
      kept_.push_back(std::move(resource));
      return;
    }
    try {
      close(*resource);
    } catch (const error&) {
      team.end_run(failure_text(std::current_exception()));
    }
  }
  [[nodiscard]] std::vector<std::unique_ptr<Resource>> take() { return std::exchange(kept_, {}); }
  /// The run ends: requests of a library may still be active on them.
  void abandon() noexcept {
    for (auto& resource : kept_) static_cast<void>(resource.release());
  }

 private:
  std::vector<std::unique_ptr<Resource>> kept_;
};

}  // namespace longshore::detail
