// Posted messages over MPI: persistent requests. This header has no MPI types, so that files outside
// this folder can include the header.
#pragma once

#include <longshore/ghost/detail/posted_messages.hpp>
#include <longshore/transport/team.hpp>

#include <memory>
#include <span>

namespace longshore::mpi {

/// Local, in the same order on all ranks. REQUIRES: a team of the mpi transport. Several messages
/// between two ranks have the same order at both ends. Throws errc::out_of_memory. A message to a
/// rank that sends nothing back is synchronous, so that a rank cannot get more than one exchange ahead
/// of such a receiver. The destructor waits for such receivers.
[[nodiscard]] std::unique_ptr<detail::posted_messages> make_request_messages(
    team& ranks, std::span<const detail::posted_end> to, std::span<const detail::posted_end> from);

/// Longer messages between hosts are cut, because MPI asks the receiver before it sends them.
[[nodiscard]] std::size_t longest_posted_message() noexcept;

}  // namespace longshore::mpi
