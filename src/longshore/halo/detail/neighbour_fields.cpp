// Neighbours tell each other extents, strides and widths of their fields.
#include <longshore/halo/detail/neighbour_fields.hpp>

#include <longshore/transport/detail/handshake_message.hpp>

namespace longshore::detail {
namespace {

struct told_field {
  std::size_t element_bytes;
  std::array<std::size_t, 3> extents;
  std::array<std::ptrdiff_t, 3> strides_bytes;
  std::array<int, 3> low, high, shared;
};

told_field told(const exchanged_field& field) {
  return {field.memory.element_bytes, field.memory.extents, field.memory.strides_bytes,
          field.widths.low,           field.widths.high,    field.memory.shared};
}

exchanged_field learned(const told_field& told) {
  field_memory memory{.element_bytes = told.element_bytes,
                      .extents = told.extents,
                      .strides_bytes = told.strides_bytes,
                      .widths = {told.low, told.high},
                      .shared = told.shared,
                      .memory = {}};
  return {memory, memory.widths};
}

}  // namespace

fields_by_rank learn_fields_of_neighbours(team& ranks, messenger& neighbours,
                                          std::span<const exchanged_field> fields,
                                          const plan_arguments& arguments) {
  handshake_writer writer;
  for (const auto& field : fields) writer.add(told(field));
  const std::vector<std::vector<std::byte>> messages(neighbours.peers().size(), writer.take());
  const auto received =
      neighbours.exchange(messages, arguments.numbers(),
                          [&](const agreed_numbers& largest) { arguments.agree(ranks, largest); });
  fields_by_rank all;
  for (const auto& field : fields) all[ranks.rank()].push_back(learned(told(field)));
  for (std::size_t i = 0; i < received.size(); ++i) {
    auto& of_peer = all[neighbours.peers()[i]];
    for (handshake_reader reader(received[i]); !reader.at_end();)
      of_peer.push_back(learned(reader.take<told_field>()));
  }
  return all;
}

}  // namespace longshore::detail
