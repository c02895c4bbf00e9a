// Takes the address of a communicator from mpi4py.MPI._addressof.
#include "mpi4py_communicator.hpp"

#include "arrays.hpp"

#include <longshore/core/error.hpp>

#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace longshore::python {

namespace {

// Libraries with the binary interface of MPICH.
constexpr std::array<std::string_view, 5> like_mpich = {"MPICH", "Intel MPI", "MVAPICH", "MVAPICH2",
                                                        "Cray MPICH"};

const char* headers_of(const nb::module_& mpi) {
  const auto vendor = nb::cast<std::string>(mpi.attr("get_vendor")()[nb::int_(0)]);
  if (vendor == "Open MPI") return "Open MPI";
  for (const std::string_view name : like_mpich)
    if (vendor == name) return "MPICH";
  return nullptr;
}

}  // namespace

mpi4py_communicator communicator_of(nb::handle comm, const char* caller) {
  const nb::handle type = comm.type();
  const auto module = nb::cast<std::string>(type.attr("__module__"));
  if (module != "mpi4py.MPI")
    type_error("{}: a communicator of mpi4py is needed, got {}.{}", caller, module,
               nb::cast<std::string>(type.attr("__name__")));
  const nb::module_ mpi = nb::module_::import_("mpi4py.MPI");
  if (PyObject_IsInstance(comm.ptr(), mpi.attr("Comm").ptr()) != 1)
    type_error("{}: a communicator of mpi4py is needed, got another object of mpi4py", caller);
  const bool can_ask =
      nb::cast<bool>(mpi.attr("Is_initialized")()) && !nb::cast<bool>(mpi.attr("Is_finalized")());
  const std::string rank = can_ask ? fmt::format("rank {} of COMM_WORLD: ",
                                                 nb::cast<int>(mpi.attr("COMM_WORLD").attr("rank")))
                                   : std::string();
  if (comm.equal(mpi.attr("COMM_NULL")))
    fail(errc::usage,
         "{}{}: the communicator is COMM_NULL: this rank is not in it, or has freed it; only its "
         "ranks make the call",
         rank, caller);
  if (can_ask && nb::cast<bool>(comm.attr("Is_inter")()))
    fail(errc::usage, "{}{}: an intercommunicator has two groups of ranks; comm.Merge() joins them",
         rank, caller);
  const auto address = nb::cast<std::uintptr_t>(mpi.attr("_addressof")(comm));
  return {reinterpret_cast<const void*>(address), headers_of(mpi)};
}

}  // namespace longshore::python
