// A setting of UCX for puts over TCP. Transport ucx is not the only one that uses UCX: Open MPI's
// one-sided calls and its OpenSHMEM do, too.
#pragma once

namespace longshore::detail {

/// Call this before the start of a library that may use UCX. Lets UCX cut a put over TCP into
/// pieces of 64 KiB instead of 8 KiB, for an eighth of the system calls. Changes the environment of
/// this process, unless it has one of UCX's variables for the size of pieces.
void use_long_tcp_segments();

}  // namespace longshore::detail
