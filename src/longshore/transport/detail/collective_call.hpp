// Descriptions of collective calls, by which ranks notice that they make different calls.
//
// Without this check, ranks would read the memory of a different call, take the result of a
// different reduction, or wait until the deadline. So each rank posts a description of its call
// before it arrives at a barrier, and the barrier compares the descriptions (node_barrier.hpp).
#pragma once

#include <longshore/core/bytes.hpp>
#include <longshore/transport/reduction.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace longshore::detail {

enum class collective : std::uint8_t {
  barrier,
  broadcast,
  allgather,
  alltoall,
  alltoallv,
  allreduce_integers,
  allreduce_numbers,
  reduce_integers,
  reduce_numbers,
  allocate,
  open_channels,
  raw_calls,
  free,
  end_of_team,
  end_of_run,
};

/// The name of a call in messages, such as "an allgather". The text is static.
[[nodiscard]] const char* name_of(collective kind) noexcept;

/// The properties of a collective call that must be the same on all ranks.
struct collective_call {
  collective kind = collective::barrier;
  reduction operation = reduction::sum;  ///< for a reduction
  std::int32_t root = 0;                 ///< for a broadcast, or a reduction to a root
  /// Number of elements of a reduction; bytes of an element of an alltoallv; otherwise bytes.
  std::uint64_t size = 0;

  friend bool operator==(const collective_call&, const collective_call&) = default;

  /// A hash of 48 bits. The sum over the ranks of a node hides a difference between calls with a
  /// probability of about 2^-40.
  [[nodiscard]] constexpr std::uint64_t fingerprint() const noexcept {
    // Odd constants with random-looking bits, from SplitMix64 (Steele, Lea, Flood 2014). The
    // function is inline, so that the fingerprint of a barrier is a compile-time constant.
    const auto kind_bits =
        (static_cast<std::uint64_t>(kind) << 8 | static_cast<std::uint64_t>(operation)) << 32;
    std::uint64_t x = (kind_bits | static_cast<std::uint32_t>(root)) * 0x9e3779b97f4a7c15u +
                      size * 0xbf58476d1ce4e5b9u + 1;
    x = (x ^ (x >> 31)) * 0x94d049bb133111ebu;
    return (x ^ (x >> 29)) >> 16;
  }
  /// Text for messages, such as "a broadcast of 8 bytes from rank 0".
  [[nodiscard]] std::string text() const;
};

/// A call and the calling rank. An object whose bytes are all zero is valid.
struct posted_call {
  collective_call call;
  std::int32_t rank = 0;
  /// Number of collective calls that the rank has made on its team, including this call.
  std::uint64_t number = 0;
};

/// Two different collective calls, if ranks make different calls.
struct call_mismatch {
  bool found = false;
  posted_call first, second;

  /// Stores the two calls if they differ and nothing is stored yet.
  void compare(const posted_call& a, const posted_call& b) noexcept {
    if (!found && a.call != b.call) *this = {true, a, b};
  }
  /// Throws errc::usage. The message names both ranks and both calls.
  [[noreturn]] void throw_error() const;
};

/// Throws errc::usage unless `root` is a rank of a team of `size` ranks. `call` is a broadcast or a
/// reduction to a root.
void check_root(collective call, int root, int size);

/// Throws errc::usage: `rank` requests a segment of `bytes`, the ranks request `smallest` to
/// `largest`.
[[noreturn]] void fail_size_mismatch(int rank, std::size_t bytes, std::size_t smallest,
                                     std::size_t largest);

/// Throws errc::usage: in an alltoallv `peer` sends `sent` elements, and `rank` expects `expected`.
[[noreturn]] void fail_count_mismatch(int rank, int peer, std::size_t expected, std::size_t sent);

}  // namespace longshore::detail
