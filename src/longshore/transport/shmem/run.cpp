#include <longshore/transport/one_sided/team.hpp>
#include <longshore/transport/shmem/library.hpp>
#include <longshore/transport/shmem/run.hpp>

#include <shmem.h>

#include <cstdlib>

namespace longshore::shmem {
namespace {

// What a run has when its user said nothing. Not touched, it costs nothing.
constexpr const char* default_heap = "1G";

}  // namespace

environment::environment() {
  setenv("SHMEM_SYMMETRIC_SIZE", default_heap, 0);
  // Open MPI 4.1: a hook into the memory allocator, set for UCX, outlives the library that it calls, and a program that ends runs into it.
  setenv("OMPI_MCA_opal_common_ucx_opal_mem_hooks", "0", 0);
  shmem_init();
}

environment::~environment() { shmem_finalize(); }

void run(const run_options& options, const std::function<void(longshore::team&)>& body) {
  library lib;
  one_sided::run(lib, options, body);
}

}  // namespace longshore::shmem
