// Deferring a collective free when the owner of a resource is destroyed during an exception.
#pragma once

#include <longshore/core/error.hpp>

#include <memory>
#include <utility>
#include <vector>

namespace longshore::detail {

/// During an exception the other ranks may never take part in a collective free. So the free is
/// deferred until all ranks allocate or free something again. If all ranks caught the exception,
/// nothing leaks. If the run ends, the resource is never freed.
template <class Resource>
class deferred_frees {
 public:
  /// Frees by close(resource), or defers that call if `unwinding` (an exception is in flight). An
  /// error in close() aborts the run, because destructors cannot throw.
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
  /// Leaks the resources when the run ends, because requests of a library may still use their
  /// memory.
  void abandon() noexcept {
    for (auto& resource : deferred_) static_cast<void>(resource.release());
  }

 private:
  std::vector<std::unique_ptr<Resource>> deferred_;
};

}  // namespace longshore::detail
