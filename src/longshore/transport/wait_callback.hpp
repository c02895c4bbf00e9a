// A function that a long wait calls, so that an interpreter can look for signals during it.
#pragma once

namespace longshore {

/// A team attribute (team_attribute.hpp). A wait that has stopped spinning calls `call` now and
/// then, in the rank's thread. An exception from it ends the wait; the team can then only be
/// destroyed, as after a timeout.
struct wait_callback {
  void (*call)() = nullptr;
};

}  // namespace longshore
