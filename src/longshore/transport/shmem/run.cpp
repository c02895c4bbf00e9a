// Starts and ends OpenSHMEM, and runs a program whose ranks are its processing elements.
#include <longshore/core/launcher.hpp>
#include <longshore/transport/detail/long_tcp_segments.hpp>
#include <longshore/transport/detail/transport_entry.hpp>
#include <longshore/transport/detail/watchdog.hpp>
#include <longshore/transport/one_sided/detail/team.hpp>
#include <longshore/transport/shmem/detail/library.hpp>
#include <longshore/transport/shmem/detail/symmetric_heap.hpp>

#include <fmt/core.h>
#include <shmem.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace longshore::shmem {
namespace {

constexpr const char* hooks_variable = "OMPI_MCA_opal_common_ucx_opal_mem_hooks";

bool is_open_mpi() {
  char name[SHMEM_MAX_NAME_LEN + 1] = "";
  shmem_info_get_name(name);
  return std::string_view(name).find("Open MPI") != std::string_view::npos;
}

// Starts OpenSHMEM, which is possible once per process. If the start takes longer than
// `timeout_seconds` (at least ten seconds; 0 means no deadline), the process ends.
void start(std::size_t symmetric_bytes, double timeout_seconds) {
  set_symmetric_heap(symmetric_bytes);
  // For UCX, Open MPI 4.1 installs hooks in the memory allocator. The hooks outlive the library
  // that they call, so the program would crash at its end.
  const bool sets_hooks = std::getenv(hooks_variable) == nullptr;
  if (sets_hooks) setenv(hooks_variable, "0", 1);
  longshore::detail::use_long_tcp_segments();
  {  // shmem_init waits for other processes without a deadline
    const watched_call limit(timeout_seconds, "shmem_init");
    shmem_init();
  }
  if (sets_hooks && shmem_my_pe() == 0 && is_open_mpi())
    fmt::print(stderr,
               "longshore: transport shmem starts with {}=0, without which Open MPI 4.1 crashes "
               "when it ends\n",
               hooks_variable);
}

class started_library final : public longshore::detail::started_transport {
 public:
  explicit started_library(const run_options& options)
      : timeout_seconds_(*options.timeout_seconds) {
    start(options.symmetric_bytes, timeout_seconds_);
  }
  ~started_library() override {
    const watched_call limit(timeout_seconds_, "shmem_finalize");
    shmem_finalize();
  }
  void run(const run_options& options, const std::function<void(longshore::team&)>& body) override {
    library lib(*with_environment(options).timeout_seconds);
    one_sided::run(lib, options, [&body](longshore::team& team) {
      require_launch_of("OpenSHMEM", team.size());
      body(team);
    });
  }

 private:
  double timeout_seconds_;
};

}  // namespace
}  // namespace longshore::shmem

const longshore::detail::transport_entry entry_of_longshore_shmem = {
    .start = [](const longshore::run_options& options)
        -> std::unique_ptr<longshore::detail::started_transport> {
      return std::make_unique<longshore::shmem::started_library>(options);
    }};
