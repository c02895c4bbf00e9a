// What a program wants to be called for while a rank waits long: an interpreter that looks for
// signals.
#pragma once

namespace longshore {

/// Kept with a team: team.kept<wait_hook>().call = look. Called in the rank's thread between two
/// looks at what is awaited, every now and then once a wait has lasted longer than it spins. What
/// it throws ends the wait, as a deadline does: after it the team can only be left.
struct wait_hook {
  void (*call)() = nullptr;
};

}  // namespace longshore
