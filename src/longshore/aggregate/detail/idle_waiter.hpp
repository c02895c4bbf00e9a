// idle_waiter: for loops that drive an engine.
#pragma once

#include <longshore/aggregate/item_engine.hpp>
#include <longshore/transport/waiter.hpp>

#include <cstddef>
#include <optional>

namespace longshore {

/// Pauses a loop while its engine makes no progress, and records in the engine's stats() how long
/// and why the loop waited.
template <class Engine>
class idle_waiter {
 public:
  explicit idle_waiter(Engine& engine) : engine_(engine), last_activity_(engine.activity()) {}

  /// To be called after each iteration of the loop. `progressed`: the loop pushed or received
  /// items. `refused`: a push found no free buffer.
  void after_iteration(bool progressed, bool refused) {
    const std::size_t activity = engine_.activity();
    if (progressed || activity != last_activity_) {
      if (wait_) {
        engine_.add_wait(engine_.ranks().now() - began_seconds_, refused_);
        wait_.reset();
      }
      last_activity_ = activity;
      return;
    }
    if (!wait_) {
      wait_.emplace(engine_.ranks(), "items of an aggregation engine");
      began_seconds_ = engine_.ranks().now();
      refused_ = refused;
    }
    wait_->pause();
  }

 private:
  Engine& engine_;
  std::size_t last_activity_;
  std::optional<waiter> wait_;
  double began_seconds_ = 0;
  bool refused_ = false;
};

}  // namespace longshore
