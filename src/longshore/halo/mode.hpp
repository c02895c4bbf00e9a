// The modes of a halo exchange: how messages are transferred. The algorithm (algorithm.hpp) decides
// which messages there are.
//
// To add a mode: add its name here, its exchange backend in detail/backends/ (in detail/mpi/ if it
// calls MPI), and a line in detail/backends/exchange_backend.cpp (detail/mpi/backends.cpp).
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace longshore {

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

/// Names as users type them, in the order of the enumeration: "channel", ..., "isend-recv", ...,
/// "rma-flush".
[[nodiscard]] std::span<const std::string_view> halo_mode_names() noexcept;
[[nodiscard]] std::string_view name_of(halo_mode mode) noexcept;
/// Throws errc::usage for an unknown name.
[[nodiscard]] halo_mode halo_mode_from(std::string_view name);

/// Whether a mode is a sequence of MPI calls.
[[nodiscard]] bool is_mpi_mode(halo_mode mode) noexcept;

/// The reason why a mode cannot be used, or nothing if it can. `transport` is
/// team::transport_name(); `grid` and `periodic` are the shape and the periodicity of the grid of
/// ranks.
[[nodiscard]] std::optional<std::string> why_not(halo_mode mode, std::string_view transport,
                                                 const std::array<int, 3>& grid,
                                                 const std::array<bool, 3>& periodic);

/// Where a message goes when it has arrived.
enum class halo_delivery {
  unpacked,  ///< it is copied to its cells or buffers
  in_place,  ///< it stays in the memory in which it arrived, without another copy
};

}  // namespace longshore
