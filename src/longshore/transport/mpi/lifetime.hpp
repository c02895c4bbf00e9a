// The lifetime of MPI in this process. A program that has started MPI itself may end it while a
// team still exists, which is an error of the program. That error is reported when MPI ends. From
// then on, teams make no MPI call any more.
#pragma once

namespace longshore::mpi {

class team;

enum class mpi_state { not_started, running, ended };
[[nodiscard]] mpi_state state_of_mpi();

/// Whether MPI has ended after a team was made. Cost: one load.
[[nodiscard]] bool has_ended() noexcept;
/// Throws errc::usage if has_ended(). `call` names the call in the message.
void check_not_ended(const team& ranks, const char* call);

/// MPI_Finalize will not report the teams that exist now. For a process that has failed and cannot
/// end its teams, because the other ranks may never take part.
void forget_open_teams();

/// Makes MPI_Finalize report an error if it is called during the lifetime of this object. The
/// process goes on after the error; when it exits, its status is 3.
class open_team {
 public:
  explicit open_team(team& ranks);
  ~open_team();
  open_team(const open_team&) = delete;
  open_team& operator=(const open_team&) = delete;

 private:
  team& ranks_;
};

}  // namespace longshore::mpi
