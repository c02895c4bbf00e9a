// The longest message that an MPI library sends within a host at once, without asking the receiver.
#pragma once

#include <cstddef>

namespace longshore::mpi {

/// Bytes of a message that processes of one host exchange through shared memory without a
/// handshake. 0 if the library does not tell. Longer messages take a handshake and a system call,
/// which read the sender's memory: several times as long for messages of 4 to 16 KiB.
///
/// Read from the control variables of the library (MPI 3.1, section 14.3.6). Open MPI 4 and 5 have
/// one. Requires that MPI is initialized.
[[nodiscard]] std::size_t eager_bytes_within_host();

}  // namespace longshore::mpi
