// Waiting while an engine has nothing to do, for loops that drive an engine.
#pragma once

#include <longshore/aggregate/item_engine.hpp>
#include <longshore/transport/waiter.hpp>

#include <cstddef>
#include <optional>

namespace longshore {

/// Pauses between two polls of an engine that made no progress, and records in the engine's stats()
/// how long and why the loop waited.
template <class Engine>
class idle_waiter {
 public:
  explicit idle_waiter(Engine& engine) : engine_(engine), seen_(engine.activity()) {}

  /// To be called after each iteration of the loop. `progressed`: the loop itself did something.
  /// `refused`: a push found no buffer.
  void after_iteration(bool progressed, bool refused) {
    const std::size_t now = engine_.activity();
    if (progressed || now != seen_) {
      if (wait_) {
        detail::engine_access::add_wait(engine_, engine_.ranks().now() - began_, refused_);
        wait_.reset();
      }
      seen_ = now;
      return;
    }
    if (!wait_) {
      wait_.emplace(engine_.ranks(), "items of an aggregation engine");
      began_ = engine_.ranks().now();
      refused_ = refused;
    }
    wait_->pause();
  }

 private:
  Engine& engine_;
  std::size_t seen_;
  std::optional<waiter> wait_;
  double began_ = 0;
  bool refused_ = false;
};

}  // namespace longshore
