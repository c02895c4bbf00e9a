// Each rank tells its neighbours the shapes of the messages that it sends, and compares theirs with
// those it expects.
#include <longshore/core/error.hpp>
#include <longshore/core/random.hpp>
#include <longshore/halo/detail/backends/exchange_backend.hpp>
#include <longshore/halo/detail/backends/grid_handshake.hpp>
#include <longshore/transport/agree_on_errors.hpp>
#include <longshore/transport/detail/handshake_message.hpp>

#include <algorithm>
#include <array>
#include <cstdint>

namespace longshore::detail {
namespace {

// All numbers are 0 if there is no message.
struct message_shape {
  std::uint64_t bytes = 0;
  std::array<std::uint64_t, 3> cells{};  // of the first part, along x, y, z
  std::uint64_t parts_hash = 0;          // of the extents and the types of all parts

  bool operator==(const message_shape&) const = default;
};

message_shape shape_of(const halo_message& message) {
  message_shape shape;
  if (!message.exists() || message.parts.empty()) return shape;
  shape.bytes = message.size_bytes();
  for (int d = 0; d < 3; ++d) shape.cells[d] = message.parts[0].extents[d];
  const auto add = [&](std::uint64_t number) {
    shape.parts_hash = mix_bits(shape.parts_hash ^ number);
  };
  for (const auto& part : message.parts) {
    add(part.element_bytes);
    for (const auto extent : part.extents) add(extent);
  }
  return shape;
}

// The place of a message in the rounds, which is the same at both of its ends.
struct placed_shape {
  std::uint64_t round, pair;
  message_shape shape;
};

[[noreturn]] void refuse(int sender, const message_shape& sent, int receiver,
                         const message_shape& expected) {
  fail(errc::usage,
       "the halo cells of rank {} do not fit those of rank {}: rank {} sends {} x {} x {} cells "
       "along x, y, z ({} bytes in all), and rank {} expects {} x {} x {} ({} bytes): blocks that "
       "are neighbours along one dimension need equal extents along the others, and the same "
       "fields and widths",
       sender, receiver, sender, sent.cells[0], sent.cells[1], sent.cells[2], sent.bytes, receiver,
       expected.cells[0], expected.cells[1], expected.cells[2], expected.bytes);
}

// Throws unless the messages that `peer` sends are those that this rank expects.
void compare(const std::vector<halo_round>& rounds, int peer, int rank,
             std::span<const std::byte> received) {
  std::size_t awaited = 0;
  for (const auto& round : rounds)
    awaited += std::count_if(round.begin(), round.end(),
                             [&](const auto& pair) { return pair.incoming.peer == peer; });
  handshake_reader reader(received);
  for (; !reader.at_end(); --awaited) {
    const auto sent = reader.take<placed_shape>();
    const bool exists = sent.round < rounds.size() && sent.pair < rounds[sent.round].size();
    const auto expected =
        exists ? shape_of(rounds[sent.round][sent.pair].incoming) : message_shape{};
    if (sent.shape != expected || awaited == 0) refuse(peer, sent.shape, rank, expected);
  }
  if (awaited > 0)
    fail(errc::usage, "rank {} expects {} halo messages of rank {} that it does not send", rank,
         awaited, peer);
}

// Collective. Returns, for each peer of the handshake, the shapes of the messages that the peer
// sends to this rank.
std::vector<std::vector<std::byte>> exchange_shapes(neighbour_handshake& handshake,
                                                    const std::vector<halo_round>& rounds) {
  std::vector<std::vector<std::byte>> descriptions;
  for (const int peer : handshake.peers()) {
    handshake_writer writer;
    for (std::size_t r = 0; r < rounds.size(); ++r)
      for (std::size_t i = 0; i < rounds[r].size(); ++i)
        if (rounds[r][i].outgoing.peer == peer)
          writer.add(placed_shape{r, i, shape_of(rounds[r][i].outgoing)});
    descriptions.push_back(writer.take());
  }
  return handshake.exchange(descriptions);
}

}  // namespace

void agree_on_messages(const rank_grid& grid, const std::vector<halo_round>& rounds) {
  team& ranks = grid.ranks();
  std::vector<neighbour_handshake*> handshakes;
  if (ranks.nodes().largest_node() > 1) handshakes.push_back(handshake_of(grid).get());
  if (ranks.nodes().node_count() > 1)
    handshakes.push_back(handshake_of(grid, neighbour_place::on_other_nodes).get());
  std::vector<std::vector<std::vector<std::byte>>> received;
  for (neighbour_handshake* const handshake : handshakes)
    received.push_back(exchange_shapes(*handshake, rounds));
  agree_on_error_of_lowest_rank(ranks, "a halo plan", [&] {
    for (std::size_t h = 0; h < handshakes.size(); ++h)
      for (std::size_t p = 0; p < received[h].size(); ++p)
        compare(rounds, handshakes[h]->peers()[p], ranks.rank(), received[h][p]);
  });
}

}  // namespace longshore::detail
