// A failure that the process reports by its exit status only at its regular end.
#pragma once

namespace longshore {

/// Exit status of a process whose rank failed.
inline constexpr int runtime_failure_status = 3;

/// From now on the process ends with `status` when it exits regularly. Until then it goes on, so
/// nothing that it still has to write is lost. May be called again; the last status counts.
void fail_at_exit(int status);

}  // namespace longshore
