// Selects the recorded variables by the beginnings of their names, and masks values whose names
// look like secrets.
#include "facts/environment.hpp"

#include <longshore/core/environment.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

namespace longshore::bench {
namespace {

using namespace std::string_view_literals;

constexpr std::array recorded_prefixes{"MPI"sv, "MPICH"sv, "OMPI"sv,     "I_MPI"sv,
                                       "UCX"sv, "FI_"sv,   "PMI"sv,      "SHMEM"sv,
                                       "OMP"sv, "SLURM"sv, "LONGSHORE"sv};

// These variables are no settings, but differ in every start. With them, no two launches would have
// the same environment. Some hold keys of the launcher's daemons.
constexpr std::array describing_one_start{"OMPI_COMM_WORLD_"sv,
                                          "OMPI_MCA_orte_"sv,
                                          "OMPI_MCA_ess"sv,
                                          "OMPI_MCA_initial_wdir"sv,
                                          "OMPI_FILE_LOCATION"sv,
                                          "OMPI_ARGV"sv,
                                          "OMPI_COMMAND"sv,
                                          "OMPI_FIRST_RANKS"sv,
                                          "OMPI_APP_CTX"sv,
                                          "OMPI_NUM_APP_CTX"sv,
                                          "OMPI_UNIVERSE_SIZE"sv,
                                          "PMIX_NAMESPACE"sv,
                                          "PMIX_RANK"sv,
                                          "PMIX_SERVER_"sv,
                                          "PMIX_SYSTEM_"sv,
                                          "PMIX_DSTORE_"sv,
                                          "PMIX_HOSTNAME"sv,
                                          "PMIX_ID"sv,
                                          "PMIX_BFROP"sv,
                                          "PMIX_GDS"sv,
                                          "PMIX_SECURITY_MODE"sv,
                                          "PMI_RANK"sv,
                                          "PMI_FD"sv,
                                          "PMI_PORT"sv,
                                          "PMI_ID"sv,
                                          "PMI_LOCAL"sv,
                                          "PMI_CONTROL"sv,
                                          "I_MPI_HYDRA_UUID"sv,
                                          "MPI_LOCALRANKID"sv,
                                          "MPI_LOCALNRANKS"sv,
                                          "SLURM_PROCID"sv,
                                          "SLURM_LOCALID"sv,
                                          "SLURM_TASK_PID"sv,
                                          "SLURM_SRUN_COMM_"sv,
                                          "SLURM_LAUNCH_NODE_IPADDR"sv,
                                          "SLURM_STEP_LAUNCHER_PORT"sv,
                                          "SLURM_STEP_ID"sv,
                                          "SLURM_STEPID"sv,
                                          "SLURM_STEPMGR"sv,
                                          "SLURM_GTIDS"sv};

constexpr std::array secret_words{"TOKEN"sv,      "SECRET"sv, "PASSW"sv,  "KEY"sv,
                                  "CREDENTIAL"sv, "AUTH"sv,   "COOKIE"sv, "JWT"sv};

template <class List>
bool begins_with_any(std::string_view name, const List& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

bool looks_secret(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return std::any_of(secret_words.begin(), secret_words.end(),
                     [&](std::string_view word) { return name.find(word) != std::string::npos; });
}

}  // namespace

json recorded_environment(const char* const* environment) {
  // Sorted by name, so that equal environments give equal records
  std::map<std::string, std::string> recorded;
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    const std::string_view entry(*environment);
    const auto equals = entry.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string name(entry.substr(0, equals));
    if (!begins_with_any(name, recorded_prefixes) || begins_with_any(name, describing_one_start))
      continue;
    recorded[name] = looks_secret(name) ? "(masked)" : std::string(entry.substr(equals + 1));
  }
  json facts = json::object();
  for (const auto& [name, value] : recorded) facts[name] = value;
  return facts;
}

json loaded_modules() {
  const auto text = environment_text("LOADEDMODULES");
  if (!text) return nullptr;
  json modules = json::array();
  for (std::size_t start = 0; start <= text->size();) {
    const std::size_t end = std::min(text->find(':', start), text->size());
    if (end > start) modules.push_back(text->substr(start, end - start));
    start = end + 1;
  }
  return modules;
}

}  // namespace longshore::bench
