// Collectives in which each rank has something else for each other: it shows what it has on its board, all meet, all look, all meet again. Small
// values are what they are for. They wait within the deadline, which those of the libraries do not. A rank makes connections with all others.
#include <longshore/transport/one_sided/control_block.hpp>
#include <longshore/transport/one_sided/in_pieces.hpp>
#include <longshore/transport/one_sided/team.hpp>

#include <algorithm>
#include <cstring>
#include <numeric>

namespace longshore::one_sided {
namespace {

constexpr std::size_t board_bytes = control_block::board_bytes;
constexpr std::size_t largest_own_board_bytes = std::size_t{32} << 20;  // of an alltoallv

}  // namespace

void team::look(int peer, std::size_t offset, void* to, std::size_t bytes) {
  if (bytes == 0) return;
  if (nodes().is_local(peer))
    std::memcpy(to, control_of(peer).board.data() + offset, bytes);
  else
    control_->get_start(peer, offsetof(control_block, board) + offset, to, bytes);
}

void team::alltoall(std::span<const std::byte> outgoing, std::span<std::byte> incoming) {
  const auto ranks = static_cast<std::size_t>(size());
  if (ranks > board_bytes)
    fail(errc::unsupported, "an alltoall among {} ranks: over {} there are at most {}", ranks, library_.transport_name(),
         board_bytes);
  const std::size_t block = outgoing.size() / ranks;
  in_pieces(block, std::max<std::size_t>(1, board_bytes / ranks), [&](std::size_t first, std::size_t n) {
    for (std::size_t peer = 0; peer < ranks; ++peer)
      std::memcpy(mine().board.data() + peer * n, outgoing.data() + peer * block + first, n);
    meet("an alltoall");
    for (int peer = 0; peer < size(); ++peer)
      look(peer, static_cast<std::size_t>(rank()) * n, incoming.data() + static_cast<std::size_t>(peer) * block + first, n);
    library_.quiet();
    meet("an alltoall");
  });
}

// All that a rank sends is shown as one row of bytes, a window at a time; each looks at what of its block lies in the window.
void team::alltoallv(const std::byte* outgoing, std::span<const std::size_t> outgoing_counts, std::byte* incoming,
                     std::span<const std::size_t> incoming_counts, std::size_t element_bytes) {
  std::vector<std::uint64_t> starts(outgoing_counts.size()), begins(starts.size());
  std::exclusive_scan(outgoing_counts.begin(), outgoing_counts.end(), starts.begin(), std::uint64_t{0});
  const std::size_t shown = (starts.back() + outgoing_counts.back()) * element_bytes;
  alltoall(std::as_bytes(std::span(starts)), std::as_writable_bytes(std::span(begins)));
  const std::size_t most = allreduce_value(shown, reduction::max);

  const std::size_t window = std::clamp(most, std::size_t{1}, most <= board_bytes ? board_bytes : largest_own_board_bytes);
  const lent_region own_board = most <= board_bytes ? lent_region(*this, nullptr) : make_region(window);
  region& where = own_board ? *own_board : *control_;
  const std::size_t board_at = own_board ? 0 : offsetof(control_block, board);
  in_pieces(most, window, [&](std::size_t first, std::size_t) {
    if (first < shown) std::memcpy(where.local() + board_at, outgoing + first, std::min(window, shown - first));
    meet("an alltoallv");
    std::byte* to = incoming;
    for (int peer = 0; peer < size(); ++peer) {
      const std::size_t begin = begins[static_cast<std::size_t>(peer)] * element_bytes;
      const std::size_t bytes = incoming_counts[static_cast<std::size_t>(peer)] * element_bytes;
      const std::size_t low = std::max(begin, first), high = std::min(begin + bytes, first + window);
      if (low < high) {
        if (nodes().is_local(peer))
          std::memcpy(to + (low - begin), where.reach(peer) + board_at + (low - first), high - low);
        else
          where.get_start(peer, board_at + (low - first), to + (low - begin), high - low);
      }
      to += bytes;
    }
    library_.quiet();
    meet("an alltoallv");
  });
}

}  // namespace longshore::one_sided
