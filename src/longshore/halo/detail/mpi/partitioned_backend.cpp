// The MPI calls of mode partitioned: one partition per part of a message, each sent when it is
// packed.
#include <longshore/halo/detail/mpi/partitioned_backend.hpp>

#include <algorithm>

#if MPI_VERSION >= 4
namespace longshore::mpi {
namespace {

// The number of partitions depends on sizes only. So it is the same at both ends of a message.
int partitions_of(const detail::halo_message& message) {
  const auto& parts = message.parts;
  const bool are_equal = std::all_of(parts.begin(), parts.end(), [&](const auto& part) {
    return part.size_bytes() == parts[0].size_bytes();
  });
  return are_equal ? static_cast<int>(parts.size()) : 1;
}

}  // namespace

partitioned_backend::partitioned_backend(const round_setup& setup) : nonblocking_backend(setup) {
  for (std::size_t i = 0; i < count(); ++i) {
    const auto& in = incoming(i);
    if (in.rank == MPI_PROC_NULL) continue;
    const int partitions = partitions_of(round()[i].incoming);
    check(MPI_Precv_init(in.data, partitions, in.bytes / partitions, MPI_BYTE, in.rank, in.tag,
                         comm(), MPI_INFO_NULL, &requests_[i]),
          "MPI_Precv_init");
  }
  for (std::size_t i = 0; i < count(); ++i) {
    const auto& out = outgoing(i);
    if (out.rank == MPI_PROC_NULL) continue;
    const int partitions = partitions_of(round()[i].outgoing);
    check(MPI_Psend_init(out.data, partitions, out.bytes / partitions, MPI_BYTE, out.rank, out.tag,
                         comm(), MPI_INFO_NULL, &requests_[count() + i]),
          "MPI_Psend_init");
  }
}

void partitioned_backend::start() {
  // A message that does not exist has a null request, which MPI_Start refuses.
  for (auto& request : requests_)
    if (request != MPI_REQUEST_NULL) check(MPI_Start(&request), "MPI_Start");
  for (std::size_t i = 0; i < count(); ++i) {
    const auto& out = outgoing(i);
    if (out.rank == MPI_PROC_NULL) continue;
    const int partitions = partitions_of(round()[i].outgoing);
    if (partitions == 1) pack(i);
    for (int p = 0; p < partitions; ++p) {
      if (partitions > 1 && packing(i).size_bytes() > 0)
        packing(i).pack_part(static_cast<std::size_t>(p), static_cast<std::byte*>(out.data));
      check(MPI_Pready(p, requests_[count() + i]), "MPI_Pready");
    }
  }
  in_flight_ = true;
}

// Tests one request at a time, because MPI_Testall of MPICH 5.0 fails on partitioned requests.
bool partitioned_backend::test() {
  if (!in_flight_) return true;
  for (auto& request : requests_) {
    int is_complete = 0;
    check(MPI_Test(&request, &is_complete, MPI_STATUS_IGNORE), "MPI_Test");
    if (is_complete == 0) return false;
  }
  in_flight_ = false;
  unpack_all();
  return true;
}

}  // namespace longshore::mpi
#endif
