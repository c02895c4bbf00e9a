// Knows the variables of the launchers of Open MPI, MPICH (PMI), PMIx, SMPI and Slurm.
#include <longshore/core/environment.hpp>
#include <longshore/core/error.hpp>
#include <longshore/core/launcher.hpp>

#include <charconv>
#include <string_view>
#include <system_error>

namespace longshore {
namespace {

// Launchers set these variables, so a text that is not a number is ignored.
std::optional<int> number(const char* variable) {
  const auto text = environment_text(variable).value_or("");
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_count = !text.empty() && error == std::errc() && end == text.data() + text.size();
  return is_count && value >= 0 ? std::optional(value) : std::nullopt;
}

// The tasks of Slurm among which this process is one. The script of a batch job is not a task,
// although its variables have rank 0 and the number of tasks of the job.
std::optional<launched_processes> tasks_of_slurm() {
  const auto rank = number("SLURM_PROCID");
  if (!rank) return std::nullopt;
  if (const auto count = number("SLURM_STEP_NUM_TASKS"))
    return launched_processes{*rank, *count, "SLURM_STEP_NUM_TASKS"};
  const auto count = number("SLURM_NTASKS");
  if (!count || environment_text("ENVIRONMENT") == "BATCH") return std::nullopt;
  return launched_processes{*rank, *count, "SLURM_NTASKS"};
}

}  // namespace

std::optional<launched_processes> launched() {
  struct names {
    const char* rank;
    const char* count;
  };
  const auto tasks = tasks_of_slurm();
  for (const auto [rank, count] :
       {names{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, names{"PMI_RANK", "PMI_SIZE"},
        names{"SMPI_RANK", "SMPI_GLOBAL_SIZE"}})
    if (const auto processes = number(count)) {
      // In a shell of Slurm with one task, PMI_SIZE comes from Slurm itself. The other variables
      // come from a launcher that has started one process in that shell.
      const bool is_single_task = tasks && tasks->count == 1 && *processes == 1;
      if (is_single_task && std::string_view(count) == "PMI_SIZE") return std::nullopt;
      return launched_processes{number(rank).value_or(0), *processes, count};
    }
  if (tasks) return tasks->count == 1 ? std::nullopt : tasks;
  for (const char* rank : {"PMIX_RANK", "PMI_RANK", "MPI_LOCALRANKID"})
    if (const auto known = number(rank)) return launched_processes{*known, 0, rank};
  return std::nullopt;
}

void require_launch_of(std::string_view library, int seen) {
  const auto processes = launched();
  if (!processes || processes->count <= 1 || seen != 1) return;
  fail(errc::usage,
       "the launcher started {} processes ({}), and {} sees 1: start the program with the launcher "
       "of the {} library with which it was built, such as its mpirun; srun needs --mpi=pmix or "
       "--mpi=pmi2, as that library supports it",
       processes->count, processes->variable, library, library);
}

}  // namespace longshore
