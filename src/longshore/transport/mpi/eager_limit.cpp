// Reads the eager limit of shared memory from the library's control variables.
#include <longshore/transport/mpi/eager_limit.hpp>
#include <longshore/transport/mpi/headers.hpp>

#include <mpi.h>

#include <optional>

namespace longshore::mpi {
namespace {

#ifdef OPEN_MPI

// The component for shared memory of Open MPI 4, and of Open MPI 5.
constexpr const char* variable_names[] = {"btl_vader_eager_limit", "btl_sm_eager_limit"};

std::optional<std::size_t> control_variable(const char* name) {
  int index = 0, count = 0;
  MPI_T_cvar_handle handle;
  if (MPI_T_cvar_get_index(name, &index) != MPI_SUCCESS) return std::nullopt;
  if (MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count) != MPI_SUCCESS) return std::nullopt;
  std::optional<std::size_t> found;
  std::size_t value = 0;
  int name_length = 0, verbosity = 0, bind = 0, scope = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_T_enum enumeration;
  int description_length = 0;
  const bool is_size =
      MPI_T_cvar_get_info(index, nullptr, &name_length, &verbosity, &type, &enumeration, nullptr,
                          &description_length, &bind, &scope) == MPI_SUCCESS &&
      count == 1 && (type == MPI_UNSIGNED_LONG || type == MPI_UNSIGNED_LONG_LONG);
  if (is_size && MPI_T_cvar_read(handle, &value) == MPI_SUCCESS) found = value;
  MPI_T_cvar_handle_free(&handle);
  return found;
}

#endif

}  // namespace

// The variables of other libraries have other names, and some libraries have no MPI_T.
std::size_t eager_bytes_within_host() {
#ifdef OPEN_MPI
  int provided = 0;
  if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS) return 0;
  std::size_t bytes = 0;
  for (const char* const name : variable_names)
    if (const auto value = control_variable(name)) bytes = *value;
  MPI_T_finalize();
  return bytes;
#else
  return 0;
#endif
}

}  // namespace longshore::mpi
