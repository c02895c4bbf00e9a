// MPI_Finalize first deletes the attributes of MPI_COMM_SELF, while MPI still works (MPI 3.1,
// section 8.7.1). So an attribute tells when MPI ends.
#include <longshore/transport/mpi/lifetime.hpp>

#include <longshore/core/error.hpp>
#include <longshore/core/failing_exit.hpp>
#include <longshore/transport/mpi/detail/team.hpp>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

namespace longshore::mpi {
namespace {

// Teams may be made in several threads.
std::mutex mutex;
std::vector<team*> open_teams;
int end_of_mpi = MPI_KEYVAL_INVALID;  // the attribute; valid until MPI ends
std::atomic<bool> ended = false;

int when_mpi_ends(MPI_Comm, int, void*, void*) {
  const std::scoped_lock lock(mutex);
  end_of_mpi = MPI_KEYVAL_INVALID;
  ended.store(true, std::memory_order_relaxed);
  if (open_teams.empty()) return MPI_SUCCESS;
  open_teams.front()->report_failure(
      "MPI_Finalize was called before the end of this team: before MPI_Finalize, destroy every "
      "team, and all plans, arrays and grids that were made with it (C and Fortran: finalize the "
      "team; Python: team.close())");
  fail_at_exit(runtime_failure_status);
  return MPI_SUCCESS;
}

}  // namespace

mpi_state state_of_mpi() {
  int initialised = 0, finalised = 0;
  MPI_Initialized(&initialised);
  MPI_Finalized(&finalised);
  if (finalised != 0) return mpi_state::ended;
  return initialised != 0 ? mpi_state::running : mpi_state::not_started;
}

bool has_ended() noexcept { return ended.load(std::memory_order_relaxed); }

void check_not_ended(const team& ranks, const char* call) {
  if (has_ended())
    fail(errc::usage,
         "rank {} of {}: {} after MPI_Finalize: make all calls of a team before MPI_Finalize",
         ranks.rank(), ranks.size(), call);
}

void forget_open_teams() {
  const std::scoped_lock lock(mutex);
  open_teams.clear();
}

open_team::open_team(team& ranks) : ranks_(ranks) {
  const std::scoped_lock lock(mutex);
  if (end_of_mpi == MPI_KEYVAL_INVALID) {
    check(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &when_mpi_ends, &end_of_mpi, nullptr),
          "MPI_Comm_create_keyval");
    check(MPI_Comm_set_attr(MPI_COMM_SELF, end_of_mpi, nullptr), "MPI_Comm_set_attr");
  }
  open_teams.push_back(&ranks);
}

open_team::~open_team() {
  const std::scoped_lock lock(mutex);
  std::erase(open_teams, &ranks_);
}

}  // namespace longshore::mpi
