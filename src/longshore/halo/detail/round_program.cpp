// Turns boxes of cells into pieces of memories. Joins small messages between nodes.
#include <longshore/halo/detail/round_program.hpp>

#include <longshore/core/bytes.hpp>
#include <longshore/core/error.hpp>
#include <longshore/halo/detail/grid_handshake.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>

namespace longshore::detail {
namespace {

// Between nodes, messages of at least this size are not joined. A saved copy, or an earlier start of
// the receiver, gains more than a saved message.
constexpr std::size_t unjoined_from_bytes = 16384;

bool fits(const message_part& part) { return part.here.extents == part.there.extents; }

// Throws if a message of this rank does not fit that at its other end.
void check_message(const team& ranks, const halo_message& message, bool is_sent) {
  const auto differing = std::find_if_not(message.parts.begin(), message.parts.end(), fits);
  if (differing == message.parts.end()) return;
  const int me = ranks.rank(), sender = is_sent ? me : message.peer,
            receiver = is_sent ? message.peer : me;
  const auto sent = [&](const message_part& part) { return is_sent ? part.here : part.there; };
  const auto expected = [&](const message_part& part) { return is_sent ? part.there : part.here; };
  std::size_t sent_bytes = 0, expected_bytes = 0;
  for (const auto& part : message.parts) {
    sent_bytes += part.bytes_of(sent(part));
    expected_bytes += part.bytes_of(expected(part));
  }
  const auto s = sent(*differing).extents, e = expected(*differing).extents;
  fail(
      errc::usage,
      "the halo cells of rank {} do not fit those of rank {}: of the {} field, rank {} sends {} x "
      "{} x {} cells along x, y, z ({} bytes in all), and rank {} expects {} x {} x {} ({} bytes): "
      "blocks that are neighbours along one dimension need equal extents along the others, and the "
      "same fields and widths",
      sender, receiver, nth(differing->first_field), sender, s[0], s[1], s[2], sent_bytes, receiver,
      e[0], e[1], e[2], expected_bytes);
}

// Returns the earlier message to which a message can be joined, or null. Both ends see the messages
// between them in the same order and with the same sizes. So both ends join the same messages.
template <class Message>
Message* joinable(std::vector<Message>& messages, const std::vector<std::size_t>& bytes,
                  const halo_message& message) {
  if (message.size_bytes() >= unjoined_from_bytes) return nullptr;
  for (std::size_t i = 0; i < messages.size(); ++i)
    if (messages[i].peer == message.peer && bytes[i] < unjoined_from_bytes) return &messages[i];
  return nullptr;
}

// Through faces a rank is red if the sum of its coordinates is even. Two neighbours through an edge
// may have the same sum. So through edges and corners the first coordinate in which the neighbours
// differ decides. Around a periodic dimension their coordinates differ by an odd number, because
// why_not() in mode.cpp refuses odd numbers of ranks there. So neighbours have different colours.
bool is_red(const rank_grid& grid, const halo_direction& direction) {
  const auto& at = grid.coordinates();
  if (direction.step_count() == 1) return (at[0] + at[1] + at[2]) % 2 == 0;
  for (int d = 0; d < 3; ++d)
    if (direction.step[d] != 0 && grid.shape()[d] > 1) return at[d] % 2 == 0;
  return true;  // the neighbour is this rank
}

// Returns the program of the rounds. `has_calls` tells that MPI calls carry the messages. A memory
// holds the fields of a group.
exchange_program program_of(const rank_grid& grid, std::span<const halo_round> rounds,
                            std::span<const exchanged_field> groups, bool has_calls) {
  const team& ranks = grid.ranks();
  exchange_program program;
  std::map<std::size_t, int> memory_of;  // by the number of the first field
  for (const auto& group : groups) memory_of.emplace(group.number, std::ssize(memory_of));
  for (const auto& round : rounds) {
    auto& made = program.rounds.emplace_back();
    std::vector<std::size_t> outgoing_bytes, incoming_bytes;
    const auto message_for = [&](auto& messages, std::vector<std::size_t>& bytes,
                                 const halo_message& message) -> auto& {
      const bool may_join = !has_calls && !ranks.nodes().is_local(message.peer);
      auto* joined = may_join ? joinable(messages, bytes, message) : nullptr;
      if (joined == nullptr) {
        joined = &messages.emplace_back();
        joined->peer = message.peer;
        bytes.push_back(0);
      }
      bytes[static_cast<std::size_t>(joined - messages.data())] += message.size_bytes();
      return joined->parts;
    };
    std::vector<halo_direction> directions;
    for (const auto& [direction, out, in] : round) {
      if (has_calls) {
        directions.push_back(direction);
        add_call_pair(made, out.exists(), in.exists());
      }
      if (out.exists()) program.payload_bytes += out.size_bytes();
      if (out.exists() && (has_calls || out.peer != ranks.rank())) {
        auto& parts = message_for(made.outgoing, outgoing_bytes, out);
        for (const auto& part : out.parts)
          parts.push_back({memory_of.at(part.first_field), part.here});
      }
      if (!in.exists()) continue;
      auto& parts = message_for(made.incoming, incoming_bytes, in);
      for (const auto& part : in.parts) {
        const int memory = memory_of.at(part.first_field);
        parts.push_back({memory, part.here, memory, part.there, in.peer});
      }
    }
    if (has_calls) order_calls(made, grid, directions);
  }
  return program;
}

// Returns about how many bytes the cache lines have that hold the cells of all messages.
std::size_t touched_bytes(std::span<const halo_round> rounds) {
  std::size_t bytes = 0;
  const auto add = [&](const halo_message& message) {
    for (const auto& part : message.parts)
      bytes += part.bytes_of(part.here) +
               part.fields * part.here.extents[1] * part.here.extents[2] * shared_line_bytes;
  };
  for (const auto& round : rounds)
    for (const auto& pair : round) add(pair.outgoing), add(pair.incoming);
  return bytes;
}

}  // namespace

void check_messages(const team& ranks, std::span<const halo_round> rounds) {
  for (const bool is_sent : {false, true})
    for (const auto& round : rounds)
      for (const auto& pair : round)
        check_message(ranks, is_sent ? pair.outgoing : pair.incoming, is_sent);
}

void add_call_pair(exchange_round& round, bool has_outgoing, bool has_incoming) {
  const auto next = [](bool exists, const auto& messages) {
    return exists ? static_cast<int>(messages.size()) : -1;
  };
  round.pairs.push_back({.outgoing = next(has_outgoing, round.outgoing),
                         .incoming = next(has_incoming, round.incoming)});
}

void order_calls(exchange_round& round, const rank_grid& grid,
                 std::span<const halo_direction> directions) {
  for (std::size_t i = 0; i < directions.size(); ++i) {
    const auto opposite = std::find(directions.begin(), directions.end(), directions[i].opposite());
    if (opposite != directions.end())
      round.pairs[i].opposite = static_cast<int>(opposite - directions.begin());
    round.pairs[i].sends_first = is_red(grid, directions[i]);
  }
  const auto faces = face_directions(grid.dimensions());
  if (!std::equal(directions.begin(), directions.end(), faces.begin(), faces.end())) return;
  auto& ranks = round.grid.emplace();
  for (int d = grid.dimensions() - 1; d >= 0; --d) {
    ranks.shape.push_back(grid.shape()[d]);
    ranks.periods.push_back(grid.periodic()[d] ? 1 : 0);
    ranks.number = ranks.number * grid.shape()[d] + grid.coordinates()[d];
  }
}

plan_setup halo_setup(const rank_grid& grid, halo_mode mode) {
  plan_setup setup{
      .name = "halo",
      .by = is_mpi_mode(mode) ? carrier_of(mode) : carrier::direct,
      .reads = mode == halo_mode::direct ? read_policy::dense : read_policy::large_contiguous,
      .neighbours = messenger_of(grid)};
  setup.posts_in_place = true;
  return setup;
}

plan_setup setup_of_rounds(const rank_grid& grid, halo_mode mode,
                           std::span<const halo_round> rounds, std::span<const field_memory> fields,
                           std::span<const exchanged_field> groups) {
  auto setup = halo_setup(grid, mode);
  setup.touched_bytes = touched_bytes(rounds);
  for (const auto& field : fields) setup.types.push_back(field.type);
  rank_memories memories;
  for (const auto& group : groups) {
    auto& memory = memories.emplace_back();
    for (std::size_t f = group.number; f < group.number + group.alike; ++f)
      memory.push_back(field_of_cells(fields[f], static_cast<int>(f)));
  }
  setup.programs = {program_of(grid, rounds, groups, is_mpi_mode(mode))};
  setup.memory = std::make_unique<plan_memory>(grid.ranks(), memories);
  return setup;
}

}  // namespace longshore::detail
