// Makes the links of mode direct: describes this rank's outgoing cells to its neighbours, maps the
// memory that the neighbours describe, and pairs their cells with the halo of this rank.
#include <longshore/halo/detail/backends/direct_backend.hpp>
#include <longshore/halo/detail/backends/grid_handshake.hpp>
#include <longshore/transport/detail/handshake_message.hpp>
#include <longshore/transport/shareable_memory.hpp>

#include <algorithm>
#include <new>

namespace longshore::detail {
namespace {

// A handshake message consists of descriptors without padding: first the signals, then each halo
// message, followed by its boxes.

// A box of cells in the memory of another rank.
struct remote_box_descriptor {
  shared_memory_handle memory;
  std::uint64_t offset;
  std::uint64_t element_bytes;
  std::array<std::size_t, 3> extents;
  std::array<std::ptrdiff_t, 3> strides_bytes;
};
// Names a halo message by round and message pair. The descriptors of its `boxes` boxes follow.
struct remote_message_descriptor {
  std::uint32_t round, pair, boxes;
};
// The signals of the receiver, in the memory of the sender: one direct_signals per round.
struct remote_signals_descriptor {
  shared_memory_handle memory;
  std::uint64_t offset;
};

// The handshake message of a neighbour, with addresses in this process.
struct mapped_handshake {
  bool all_mapped = false;       // whether all memory of the message could be mapped
  std::byte* signals = nullptr;  // one direct_signals per round
  struct message {
    std::uint32_t round, pair;
    std::vector<strided_box> parts;
  };
  std::vector<message> messages;
  std::vector<std::shared_ptr<const void>> memory_owners;
};

// Makes the links of all rounds of one plan.
class link_maker {
 public:
  link_maker(const rank_grid& grid, std::vector<halo_round>& rounds, const backend_options& options)
      : grid_(grid),
        rounds_(rounds),
        options_(options),
        handshake_(handshake_of(grid)),
        peers_(handshake_->peers()),
        is_one_process_(grid.ranks().is_one_process()),
        exposed_messages_(peers_.size()) {
    std::sort(options_.shareable.begin(), options_.shareable.end(),
              [](const auto& a, const auto& b) { return a.address < b.address; });
    signals_ = std::make_shared<shareable_memory>(grid.ranks(), signals_bytes() * peers_.size());
    for (std::size_t i = 0; i < peers_.size() * rounds.size(); ++i)
      new (signals_->data() + i * sizeof(direct_signals)) direct_signals{};
  }

  std::vector<std::unique_ptr<direct_backend>> make(const direct_filter& filter);

 private:
  [[nodiscard]] std::size_t signals_bytes() const {
    return rounds_.size() * sizeof(direct_signals);
  }
  [[nodiscard]] const shared_memory_handle* memory_of(const std::byte* address) const;
  bool describe(const halo_message& message, remote_message_descriptor descriptor,
                handshake_writer& writer) const;
  // Peers are given by their index in peers_.
  [[nodiscard]] std::vector<std::byte> message_to(std::size_t peer, const direct_filter& filter);
  [[nodiscard]] mapped_handshake read(std::span<const std::byte> message) const;
  void add_link(std::size_t round, std::size_t peer, const mapped_handshake& handshake);

  const rank_grid& grid_;
  std::vector<halo_round>& rounds_;
  backend_options options_;
  std::shared_ptr<neighbour_handshake> handshake_;
  std::span<const int> peers_;
  bool is_one_process_;
  std::shared_ptr<shareable_memory> signals_;
  struct exposed_message {
    std::size_t round, pair;
  };
  // The messages that this rank described to each peer.
  std::vector<std::vector<exposed_message>> exposed_messages_;
  std::vector<direct_messages> direct_;  // indexed by round
};

// Returns the shareable memory that holds an address, or null.
const shared_memory_handle* link_maker::memory_of(const std::byte* address) const {
  const auto number = reinterpret_cast<std::uint64_t>(address);
  auto handle = std::upper_bound(
      options_.shareable.begin(), options_.shareable.end(), number,
      [](std::uint64_t a, const shared_memory_handle& memory) { return a < memory.address; });
  if (handle == options_.shareable.begin()) return nullptr;
  --handle;  // the last memory that begins at or before the address
  return number < handle->address + handle->bytes ? &*handle : nullptr;
}

// Writes nothing and returns false if a part lies in memory that other ranks cannot map.
bool link_maker::describe(const halo_message& message, remote_message_descriptor descriptor,
                          handshake_writer& writer) const {
  std::vector<remote_box_descriptor> boxes;
  for (const auto& part : message.parts) {
    shared_memory_handle memory;
    if (const auto* const handle = memory_of(part.first))
      memory = *handle;
    else if (!is_one_process_)
      return false;
    const auto offset = reinterpret_cast<std::uint64_t>(part.first) - memory.address;
    boxes.push_back({memory, offset, part.element_bytes, part.extents, part.strides_bytes});
  }
  writer.add(descriptor);
  for (const auto& box : boxes) writer.add(box);
  return true;
}

std::vector<std::byte> link_maker::message_to(std::size_t peer, const direct_filter& filter) {
  handshake_writer writer;
  writer.reserve(sizeof(remote_signals_descriptor) +
                 rounds_.size() *
                     (sizeof(remote_message_descriptor) + sizeof(remote_box_descriptor)));
  writer.add(remote_signals_descriptor{signals_->handle(), peer * signals_bytes()});
  for (std::size_t r = 0; r < rounds_.size(); ++r)
    for (std::size_t i = 0; i < rounds_[r].size(); ++i) {
      const auto& out = rounds_[r][i].outgoing;
      if (out.peer != peers_[peer] || !filter(out)) continue;
      const remote_message_descriptor descriptor{
          .round = static_cast<std::uint32_t>(r),
          .pair = static_cast<std::uint32_t>(i),
          .boxes = static_cast<std::uint32_t>(out.parts.size())};
      if (describe(out, descriptor, writer)) exposed_messages_[peer].push_back({r, i});
    }
  return writer.take();
}

mapped_handshake link_maker::read(std::span<const std::byte> message) const {
  mapped_handshake handshake;
  handshake.all_mapped = true;
  const auto address_of = [&](const shared_memory_handle& memory,
                              std::uint64_t offset) -> std::byte* {
    auto mapping = handshake_->mappings().map(memory);
    // Memory without a handle has address 0: within a process its offset is the whole address.
    const bool is_mapped = mapping.data != nullptr || (is_one_process_ && memory.address == 0);
    if (!is_mapped) handshake.all_mapped = false;
    if (mapping.owner) handshake.memory_owners.push_back(std::move(mapping.owner));
    return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(mapping.data) + offset);
  };
  handshake_reader reader(message);
  const auto signals = reader.take<remote_signals_descriptor>();
  handshake.signals = address_of(signals.memory, signals.offset);
  while (!reader.at_end()) {
    const auto descriptor = reader.take<remote_message_descriptor>();
    mapped_handshake::message mapped{descriptor.round, descriptor.pair, {}};
    for (std::uint32_t i = 0; i < descriptor.boxes; ++i) {
      const auto box = reader.take<remote_box_descriptor>();
      mapped.parts.push_back(
          {address_of(box.memory, box.offset), box.element_bytes, box.extents, box.strides_bytes});
    }
    handshake.messages.push_back(std::move(mapped));
  }
  return handshake;
}

void link_maker::add_link(std::size_t round, std::size_t peer, const mapped_handshake& handshake) {
  auto& direct = direct_[round];
  direct_link link;
  link.peer = peers_[peer];
  link.signals_from_peer =
      reinterpret_cast<direct_signals*>(signals_->data() + peer * signals_bytes()) + round;
  link.signals_to_peer = reinterpret_cast<direct_signals*>(handshake.signals) + round;
  for (const auto& from : handshake.messages) {
    if (from.round != round) continue;
    auto& in = rounds_[round][from.pair].incoming;
    for (std::size_t i = 0; i < in.parts.size(); ++i) link.copies.add(in.parts[i], from.parts[i]);
    direct.received[from.pair] = in.contiguous();
    in = {};
  }
  for (const auto& [r, pair] : exposed_messages_[peer]) {
    if (r != round) continue;
    auto& out = rounds_[r][pair].outgoing;
    direct.moved.payload_bytes += out.size_bytes();
    link.peer_reads = true;
    out = {};
  }
  if (link.copies.empty() && !link.peer_reads) return;
  direct.memory_owners.insert(direct.memory_owners.end(), handshake.memory_owners.begin(),
                              handshake.memory_owners.end());
  direct.links.push_back(std::move(link));
}

std::vector<std::unique_ptr<direct_backend>> link_maker::make(const direct_filter& filter) {
  std::vector<std::vector<std::byte>> messages, replies;
  messages.reserve(peers_.size());
  for (std::size_t i = 0; i < peers_.size(); ++i) messages.push_back(message_to(i, filter));
  std::vector<mapped_handshake> handshakes;
  handshakes.reserve(peers_.size());
  for (const auto& message : handshake_->exchange(messages)) {
    handshakes.push_back(read(message));
    if (!is_one_process_) replies.push_back({static_cast<std::byte>(handshakes.back().all_mapped)});
  }
  // A link needs two ranks that can map each other's memory. Threads of a process always can. If
  // all_mapped is true here, the reply of this rank is 1, and so is an equal reply of the peer.
  if (!is_one_process_) {
    const auto peer_replies = handshake_->exchange(replies);
    for (std::size_t i = 0; i < peers_.size(); ++i)
      handshakes[i].all_mapped = handshakes[i].all_mapped && peer_replies[i] == replies[i];
  }
  for (const auto& round : rounds_) {
    direct_.emplace_back().received.resize(round.size(), nullptr);
    direct_.back().links.reserve(peers_.size());
  }
  for (std::size_t round = 0; round < rounds_.size(); ++round)
    for (std::size_t i = 0; i < peers_.size(); ++i)
      if (handshakes[i].all_mapped) add_link(round, i, handshakes[i]);
  std::vector<std::unique_ptr<direct_backend>> backends;
  for (auto& direct : direct_) {
    backends.push_back(nullptr);
    if (direct.links.empty()) continue;
    auto& owners = direct.memory_owners;
    owners.push_back(signals_);
    std::sort(owners.begin(), owners.end());
    owners.erase(std::unique(owners.begin(), owners.end()), owners.end());
    backends.back() = std::make_unique<direct_backend>(grid_.ranks(), std::move(direct), options_);
  }
  return backends;
}

}  // namespace

std::vector<std::unique_ptr<direct_backend>> make_direct_backends(const rank_grid& grid,
                                                                  std::vector<halo_round>& rounds,
                                                                  const backend_options& options,
                                                                  const direct_filter& filter) {
  return link_maker(grid, rounds, options).make(filter);
}

}  // namespace longshore::detail
