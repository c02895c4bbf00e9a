// Blocks of a sort between nodes as messages of MPI.
#pragma once

#include <longshore/sort/detail/posted_blocks.hpp>

#include <memory>

namespace longshore::mpi {

/// Local, in the same order on all ranks. The size of a message is a multiple of `unit_bytes`.
/// REQUIRES: a team of the mpi transport.
[[nodiscard]] std::unique_ptr<detail::posted_blocks> make_block_requests(longshore::team& ranks,
                                                                         std::size_t unit_bytes);

}  // namespace longshore::mpi
