// The modes of a halo exchange. A mode decides how a message is transferred. The algorithm
// (algorithm.hpp) decides which messages are sent.
//
// To add a mode:
// 1. Here: add a value to the enumeration, and its name at the same position. If some runs cannot
//    use the mode, add the reason to why_not() of mode.cpp.
// 2. A mode of MPI calls: add a carrier at the same position of ../exchange/detail/movers/carrier.hpp,
//    and its mover in ../exchange/detail/mpi/. Another mode: let halo_setup() of
//    detail/round_program.cpp choose what carries the messages. The tests try every mode.
// 3. For studies: the word in study/src/longshore_study/patterns/halo.py. For readers: the
//    table in docs/reference/halo.md.
#pragma once

#include <longshore/core/name_lookup.hpp>

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace longshore {

/// The modes of MPI calls come after all other modes, and the one-sided modes come last.
/// is_mpi_mode(), detail::carrier_of() and the tests depend on this order.
enum class halo_mode {
  channel,
  direct,
  sendrecv,
  redblack,
  isend_recv,
  irecv_send,
  pairwise,
  waitall,
  persistent,
  neighbor,
  partitioned,
  subarray,
  rma_fence,
  rma_pscw,
  rma_flush
};

template <>
inline constexpr enum_names<15> all_names<halo_mode> = {
    "halo mode",
    {"channel", "direct", "sendrecv", "redblack", "isend-recv", "irecv-send", "pairwise", "waitall",
     "persistent", "neighbor", "partitioned", "subarray", "rma-fence", "rma-pscw", "rma-flush"}};

/// Whether a mode is a sequence of MPI calls.
[[nodiscard]] bool is_mpi_mode(halo_mode mode) noexcept;

/// Returns the reason why a mode cannot be used, or nothing if the mode can be used. `transport` is
/// team::transport_name(). `grid` and `periodic` are the shape and the periodicity of the grid of
/// ranks.
[[nodiscard]] std::optional<std::string> why_not(halo_mode mode, std::string_view transport,
                                                 const std::array<int, 3>& grid,
                                                 const std::array<bool, 3>& periodic);

/// Where the receiver has a message after its arrival.
enum class halo_delivery {
  unpacked,  ///< in the cells or buffers of the plan: the message is copied there
  in_place,  ///< in the memory in which the message arrived: a copy is saved
};

}  // namespace longshore
