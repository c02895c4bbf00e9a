// What a collective call of a team is, so that ranks can notice that they are not in the same one.
//
// Ranks that make different collective calls would otherwise read memory of another call, take the
// result of another reduction, or wait until the deadline. So each rank posts its call before it
// arrives at a barrier, and the barrier compares them (node_barrier.hpp).
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
  allocate,
  open_channels,
  raw_calls,
  free,
  end_of_team,
  end_of_run,
};

/// Name of a call for messages, such as "an allgather". Static text.
[[nodiscard]] const char* name_of(collective what) noexcept;

/// What all ranks must agree on when they make one collective call.
struct collective_call {
  collective what = collective::barrier;
  reduction operation = reduction::sum;  ///< of an allreduce
  std::int32_t root = 0;                 ///< of a broadcast
  /// elements of an allreduce, bytes of an element of an alltoallv, else bytes
  std::uint64_t size = 0;

  friend bool operator==(const collective_call&, const collective_call&) = default;

  /// 48 bits that differ for different calls, but for a chance of some 2^-40 when those of the
  /// ranks of a node are added up.
  [[nodiscard]] constexpr std::uint64_t fingerprint() const noexcept {
    // Odd constants whose bits look random (of SplitMix64: Steele, Lea, Flood 2014). Inline: of a
    // barrier it is a constant.
    const auto kind =
        (static_cast<std::uint64_t>(what) << 8 | static_cast<std::uint64_t>(operation)) << 32;
    std::uint64_t x = (kind | static_cast<std::uint32_t>(root)) * 0x9e3779b97f4a7c15u +
                      size * 0xbf58476d1ce4e5b9u + 1;
    x = (x ^ (x >> 31)) * 0x94d049bb133111ebu;
    return (x ^ (x >> 29)) >> 16;
  }
  /// For messages: "a broadcast of 8 bytes from rank 0".
  [[nodiscard]] std::string text() const;
};

/// A call, and who makes it. All bytes zero is a valid value.
struct posted_call {
  collective_call call;
  std::int32_t rank = 0;
  /// how many collective calls the rank has made on its team, this one included
  std::uint64_t number = 0;
};

/// Two ranks that are in different collective calls, or none.
struct disagreement {
  bool found = false;
  posted_call one, other;

  /// Remembers the first two calls that differ.
  void compare(const posted_call& mine, const posted_call& theirs) noexcept {
    if (!found && mine.call != theirs.call) *this = {true, mine, theirs};
  }
  /// Throws errc::usage, which names both ranks and both calls.
  [[noreturn]] void report() const;
};

/// Throws errc::usage unless `root` is a rank of a team of `size` ranks.
void check_root(int root, int size);

/// Throws errc::usage: `rank` expects `expected` elements of `peer` in an alltoallv, which sends
/// `sent`.
[[noreturn]] void refuse_block(int rank, int peer, std::size_t expected, std::size_t sent);

}  // namespace longshore::detail
