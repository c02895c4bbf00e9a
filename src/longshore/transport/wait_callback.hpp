// A function that long waits call, so that an interpreter can handle signals during a wait.
#pragma once

namespace longshore {

/// A team attribute (team_attribute.hpp). A wait that has stopped spinning calls `call` now and
/// then, in the rank's thread. An exception thrown by `call` ends the wait; the team can then only
/// be destroyed, as after a timeout.
struct wait_callback {
  void (*call)() = nullptr;
};

}  // namespace longshore
