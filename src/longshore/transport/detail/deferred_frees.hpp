// Freeing memory that needs a collective call, if its owner is destroyed during an exception.
#pragma once

#include <longshore/core/error.hpp>

#include <memory>
#include <utility>
#include <vector>

namespace longshore::detail {

/// During an exception the other ranks may never come to free the resource with this rank. So its
/// free is deferred until all ranks allocate or free something again. If all ranks threw and caught
/// the error, nothing leaks. In a run that ends, the resource is never freed.
template <class Resource>
class deferred_frees {
 public:
  /// Frees by close(resource); defers that if `unwinding` (an exception is in flight). An error in
  /// close() aborts the run, because destructors cannot throw.
  template <class Team, class Close>
  void free_or_defer(Team& team, std::unique_ptr<Resource> resource, bool unwinding,
                     const Close& close) {
    if (unwinding) {
      deferred_.push_back(std::move(resource));
      return;
    }
    try {
      close(*resource);
    } catch (const error&) {
      team.abort_run(failure_text(std::current_exception()));
    }
  }
  [[nodiscard]] std::vector<std::unique_ptr<Resource>> take() {
    return std::exchange(deferred_, {});
  }
  /// For a run that ends: leaks the resources, since requests of a library may still use them.
  void abandon() noexcept {
    for (auto& resource : deferred_) static_cast<void>(resource.release());
  }

 private:
  std::vector<std::unique_ptr<Resource>> deferred_;
};

}  // namespace longshore::detail
