// Selects the recorded variables by the beginnings of their names, and masks values whose names
// look like secrets.
#include "facts/environment.hpp"

#include <longshore/core/environment.hpp>

#include <algorithm>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <string_view>

namespace longshore::bench {
namespace {

constexpr const char* recorded_prefixes =
    "MPI MPICH OMPI I_MPI UCX FI_ PMI SHMEM OMP SLURM LONGSHORE";

// These variables are no settings, but differ in every start. With them, no two launches would have
// the same environment. Some hold keys of the launcher's daemons.
constexpr const char* describing_one_start =
    "OMPI_COMM_WORLD_ OMPI_MCA_orte_ OMPI_MCA_ess OMPI_MCA_initial_wdir OMPI_FILE_LOCATION "
    "OMPI_ARGV OMPI_COMMAND OMPI_FIRST_RANKS OMPI_APP_CTX OMPI_NUM_APP_CTX OMPI_UNIVERSE_SIZE "
    "PMIX_NAMESPACE PMIX_RANK PMIX_SERVER_ PMIX_SYSTEM_ PMIX_DSTORE_ PMIX_HOSTNAME PMIX_ID "
    "PMIX_BFROP PMIX_GDS PMIX_SECURITY_MODE PMI_RANK PMI_FD PMI_PORT PMI_ID PMI_LOCAL "
    "PMI_CONTROL I_MPI_HYDRA_UUID MPI_LOCALRANKID MPI_LOCALNRANKS SLURM_PROCID SLURM_LOCALID "
    "SLURM_TASK_PID SLURM_SRUN_COMM_ SLURM_LAUNCH_NODE_IPADDR SLURM_STEP_LAUNCHER_PORT "
    "SLURM_STEP_ID SLURM_STEPID SLURM_STEPMGR SLURM_GTIDS";

constexpr const char* secret_words = "TOKEN SECRET PASSW KEY CREDENTIAL AUTH COOKIE JWT";

// Whether `holds(word)` is true for any of the words, which blanks separate.
template <class Holds>
bool any_word(const char* words, const Holds& holds) {
  std::istringstream in(words);
  return std::any_of(std::istream_iterator<std::string>(in), {}, holds);
}

bool begins_with_any(std::string_view name, const char* prefixes) {
  return any_word(prefixes, [&](const std::string& prefix) { return name.starts_with(prefix); });
}

bool looks_secret(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return any_word(secret_words,
                  [&](const std::string& word) { return name.find(word) != std::string::npos; });
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
