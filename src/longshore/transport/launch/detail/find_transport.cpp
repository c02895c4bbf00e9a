// Only this file knows which transports the build has.
#include <longshore/transport/launch/detail/find_transport.hpp>

#include <longshore/transport/threads/run.hpp>
#ifdef LONGSHORE_HAVE_MPI
#include <longshore/transport/mpi/run.hpp>
#endif

namespace longshore::detail {
namespace {

class started_threads final : public started_transport {
  void run(const run_options& options, const std::function<void(team&)>& body) override {
    threads::run(options, body);
  }
};
constexpr transport_entry threads_entry = {
    .start = [](const run_options&) -> std::unique_ptr<started_transport> {
      return std::make_unique<started_threads>();
    }};

#ifdef LONGSHORE_HAVE_MPI
class started_mpi final : public started_transport {
  void run(const run_options& options, const std::function<void(team&)>& body) override {
    mpi::run(options, body);
  }
  mpi::environment environment_;
};
constexpr transport_entry mpi_entry = {
    .start = [](const run_options&) -> std::unique_ptr<started_transport> {
      return std::make_unique<started_mpi>();
    }};
#endif

}  // namespace

found_part<transport_entry> find_transport(std::string_view name) {
  if (name == "threads") return {&threads_entry};
#ifdef LONGSHORE_HAVE_MPI
  if (name == "mpi") return {&mpi_entry};
#endif
#ifdef LONGSHORE_MODULES
  if (name == "shmem") return {"shmem", "entry_of_longshore_shmem"};
  if (name == "ucx") return {"ucx", "entry_of_longshore_ucx"};
  if (name == "simulated") return {"simulated", "entry_of_longshore_simulated"};
#else
#ifdef LONGSHORE_HAVE_SHMEM
  if (name == "shmem") return {&entry_of_longshore_shmem};
#endif
#ifdef LONGSHORE_HAVE_UCX
  if (name == "ucx") return {&entry_of_longshore_ucx};
#endif
#ifdef LONGSHORE_HAVE_SIMULATED
  if (name == "simulated") return {&entry_of_longshore_simulated};
#endif
#endif
  return {};
}

}  // namespace longshore::detail
