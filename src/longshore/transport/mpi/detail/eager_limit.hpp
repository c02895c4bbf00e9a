// The longest messages that an MPI library sends at once, without asking the receiver.
#pragma once

#include <cstddef>

namespace longshore::mpi {

/// Bytes of a message that processes of one host exchange through shared memory without a
/// handshake. 0 if that is not known. Longer messages need a handshake, and a system call that
/// reads the sender's memory. Messages of 4 to 16 KiB then take several times as long.
///
/// Known only for Open MPI 4 and 5: the library's default, unless the environment or option --mca
/// of mpirun sets another value. Parameter files of Open MPI are not read. The control variables of
/// MPI 3.1 would tell that value too, but Open MPI 4.1 loads all its components for each
/// MPI_T_init_thread, which takes 0.2 s.
[[nodiscard]] std::size_t eager_bytes_within_host();

/// The same for messages between hosts. With its header such a message is below 64 KiB, the limit
/// of Open MPI over TCP. Libraries and networks with another limit get pieces of this length, too.
inline constexpr std::size_t eager_bytes_between_hosts = std::size_t{63} << 10;

}  // namespace longshore::mpi
