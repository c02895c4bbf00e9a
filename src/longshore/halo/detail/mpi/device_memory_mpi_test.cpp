// Tests that messages of fields in device memory go to an MPI library that takes such memory without
// a detour through the host. Here the library is this file: it gives MPI memory that MPI can use.
#include <longshore/exchange/device_twin_test.hpp>
#include <longshore/halo/halo_test.hpp>
#include <longshore/transport/spmd_test.hpp>

#include <mpi.h>

#include <cstdlib>

namespace longshore {
namespace {

int from_device = 0;  // how often MPI got memory of a device

template <class Any>
Any* usable(Any* memory, int bytes) {
  auto& devices = testing::emulated();
  if (memory == nullptr || devices.device_of(memory) < 0) return memory;
  ++from_device;
  const void* const first = memory;
  return devices.at(first, static_cast<std::size_t>(bytes), 0);
}

}  // namespace
}  // namespace longshore

extern "C" {
using longshore::usable;

int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request* request) {
  return PMPI_Isend(usable(data, count), count, type, to, tag, comm, request);
}
int MPI_Irecv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request* request) {
  return PMPI_Irecv(usable(data, count), count, type, from, tag, comm, request);
}
int MPI_Send(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  return PMPI_Send(usable(data, count), count, type, to, tag, comm);
}
int MPI_Recv(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
             MPI_Status* status) {
  return PMPI_Recv(usable(data, count), count, type, from, tag, comm, status);
}
int MPI_Sendrecv(const void* data, int count, MPI_Datatype type, int to, int tag, void* received,
                 int received_count, MPI_Datatype received_type, int from, int received_tag,
                 MPI_Comm comm, MPI_Status* status) {
  return PMPI_Sendrecv(usable(data, count), count, type, to, tag, usable(received, received_count),
                       received_count, received_type, from, received_tag, comm, status);
}
int MPI_Send_init(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                  MPI_Request* request) {
  return PMPI_Send_init(usable(data, count), count, type, to, tag, comm, request);
}
int MPI_Recv_init(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                  MPI_Request* request) {
  return PMPI_Recv_init(usable(data, count), count, type, from, tag, comm, request);
}
}

namespace longshore {
namespace {

TEST(HaloDeviceMemoryOfMpi, is_sent_and_received_without_the_host) {
  if (!testing::is_emulated()) GTEST_SKIP();
  auto& devices = testing::emulated();
  const detail::device_installation installed(devices);
  ::setenv("LONGSHORE_MPI_DEVICE_MEMORY", "1", 1);
  devices.lets_libraries_use_memory = true;
  testing::spmd([&](team& team) {
    const rank_grid grid(team);
    const bool has_nodes = team.nodes().node_count() > 1;
    for (const auto mode : testing::possible_modes(grid)) {
      testing::device_twin<double> twin(7 * 6 * 5);
      const auto view = [](double* first) {
        return field_view<double>(first + 1 + 7 + 42, {5, 4, 3}, {1, 7, 42}, 1);
      };
      halo_exchange on_host(grid, {.mode = mode}, view(twin.host()));
      from_device = 0;
      halo_exchange on_device(grid, {.mode = mode}, view(twin.device()));
      for (int step = 0; step < 3; ++step) {
        twin.fill(testing::seed_of(team, step));
        on_host.exchange(), on_device.exchange();
        EXPECT_EQ(twin.differences(), 0u) << name_of(mode);
      }
      using enum halo_mode;
      const bool is_sequence = mode == sendrecv || mode == redblack || mode == isend_recv ||
                               mode == irecv_send || mode == pairwise || mode == waitall ||
                               mode == persistent;
      const bool is_posted = team.transport_name() == "mpi" && has_nodes;
      EXPECT_EQ(from_device > 0, is_sequence || ((mode == direct || mode == channel) && is_posted))
          << name_of(mode);
    }
  });
  devices.lets_libraries_use_memory = false;
  ::unsetenv("LONGSHORE_MPI_DEVICE_MEMORY");
}

}  // namespace
}  // namespace longshore
