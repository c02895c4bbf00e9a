// Neighbours on the node describe their memories to each other, and map what they can.
#include <longshore/ghost/detail/direct_peers.hpp>

#include <longshore/transport/find_shareable.hpp>
#include <longshore/transport/handshake_message.hpp>

#include <algorithm>
#include <new>

namespace longshore::detail {
namespace {

constexpr std::uint32_t can_signal = std::uint32_t{1} << 31;

// Memory without a handle has address 0: within a process its offset is the whole address.
struct described_memory {
  shared_memory_handle memory;
  std::uint64_t offset = 0;
  std::int64_t stride_bytes = 0;
};
struct description_header {
  described_memory signals = {};
  std::uint32_t memories = 0, fields = 0, exposed = 0;  // exposed: a bit per memory
};

// Returns whether other ranks of the node may be able to map the memory.
bool describe(described_memory& described, const element_memory& memory, bool in_process) {
  described.stride_bytes = memory.stride_bytes;
  const auto address = reinterpret_cast<std::uint64_t>(memory.data);
  described.offset = address;
  if (in_process) return true;
  const auto handle = find_shareable(memory.data);
  if (!handle) return false;
  described.memory = *handle;
  described.offset = address - handle->address;
  return true;
}

}  // namespace

bool direct_peer::can_read(const incoming_message& message) const {
  return std::all_of(message.parts.begin(), message.parts.end(), [this](const auto& part) {
    return (readable >> part.sender_memory & 1) != 0;
  });
}

bool direct_peer::is_read(const outgoing_message& message) const {
  return std::all_of(message.parts.begin(), message.parts.end(),
                     [this](const auto& part) { return (read_by_peer >> part.memory & 1) != 0; });
}

direct_peers::direct_peers(team& ranks, std::shared_ptr<messenger> neighbours,
                           std::span<const ghost_memory> fields, const rank_memories& memories,
                           std::span<const std::size_t> elements, std::size_t rounds)
    : messenger_(std::move(neighbours)) {
  const auto all_peers = messenger_->peers();
  std::vector<std::size_t> local;  // of all peers
  for (std::size_t i = 0; i < all_peers.size(); ++i)
    if (ranks.nodes().is_local(all_peers[i])) local.push_back(i);
  const std::size_t signal_bytes = rounds * sizeof(direct_signals);
  signals_ = shareable_memory(ranks, local.size() * signal_bytes);
  for (std::size_t i = 0; i < local.size() * rounds; ++i)
    new (signals_.data() + i * sizeof(direct_signals)) direct_signals{};

  const bool in_process = ranks.is_one_process();
  description_header header{.memories = static_cast<std::uint32_t>(memories.size()),
                            .fields = static_cast<std::uint32_t>(fields.size())};
  std::vector<described_memory> described;
  for (std::size_t m = 0; m < memories.size(); ++m) {
    bool is_exposed = true;
    for (const auto& memory : memories[m])
      is_exposed =
          describe(described.emplace_back(), memory, in_process || elements[m] == 0) && is_exposed;
    header.exposed |= static_cast<std::uint32_t>(is_exposed) << m;
  }
  std::vector<std::vector<std::byte>> messages(local.size());
  for (std::size_t i = 0; i < local.size(); ++i) {
    (void)describe(header.signals, {signals_.data() + i * signal_bytes, 0}, in_process);
    handshake_writer writer;
    writer.add(header);
    writer.add_all(std::span<const described_memory>(described));
    messages[i] = writer.take();
  }
  const auto received = messenger_->exchange_equal(
      local, messages, sizeof header + described.size() * sizeof(described_memory));
  for (std::size_t i = 0; i < local.size(); ++i) {
    add_peer(ranks, all_peers[local[i]], received[i]);
    peers_.back().signals_from_peer =
        reinterpret_cast<direct_signals*>(signals_.data() + i * signal_bytes);
  }
  // A link needs two ranks that can signal each other, which threads of a process always can.
  if (in_process) {
    for (auto& peer : peers_) peer.read_by_peer = header.exposed;
    return;
  }
  for (std::size_t i = 0; i < local.size(); ++i) {
    handshake_writer writer;
    writer.add(peers_[i].readable);
    messages[i] = writer.take();
  }
  const auto replies = messenger_->exchange_equal(local, messages, sizeof(std::uint32_t));
  for (std::size_t i = 0; i < local.size(); ++i) {
    auto& peer = peers_[i];
    peer.read_by_peer = handshake_reader(replies[i]).take<std::uint32_t>();
    if ((peer.readable & peer.read_by_peer & can_signal) == 0)
      peer.readable = peer.read_by_peer = 0;
  }
}

void direct_peers::add_peer(team& ranks, int rank, std::span<const std::byte> description) {
  handshake_reader reader(description);
  const auto header = reader.take<description_header>();
  const bool in_process = ranks.is_one_process();
  // The address of memory of the peer in this process, or null.
  const auto mapped = [&](const described_memory& described) -> std::byte* {
    const auto offset = static_cast<std::ptrdiff_t>(described.offset);
    if (in_process || described.memory.address == 0)
      return reinterpret_cast<std::byte*>(described.offset);
    auto mapping = messenger_->mappings().map(described.memory);
    if (mapping.data == nullptr) return nullptr;
    mappings_.push_back(std::move(mapping.owner));
    return mapping.data + offset;
  };
  direct_peer peer;
  peer.rank = rank;
  peer.signals_to_peer = reinterpret_cast<direct_signals*>(mapped(header.signals));
  const bool has_signals = in_process || header.signals.memory.address != 0;
  if (has_signals && peer.signals_to_peer != nullptr) peer.readable |= can_signal;
  for (std::uint32_t m = 0; m < header.memories; ++m) {
    auto& memory = peer.memories.emplace_back();
    bool is_readable = (header.exposed >> m & 1) != 0;
    for (std::uint32_t f = 0; f < header.fields; ++f) {
      const auto described = reader.take<described_memory>();
      std::byte* data = nullptr;
      if (is_readable) {
        data = mapped(described);
        is_readable = data != nullptr || described.memory.address == 0;
      }
      memory.push_back({data, static_cast<std::ptrdiff_t>(described.stride_bytes)});
    }
    peer.readable |= static_cast<std::uint32_t>(is_readable) << m;
  }
  peers_.push_back(std::move(peer));
}

const direct_peer* direct_peers::find(int rank) const {
  const auto peer = std::lower_bound(peers_.begin(), peers_.end(), rank,
                                     [](const direct_peer& p, int r) { return p.rank < r; });
  return peer == peers_.end() || peer->rank != rank || peer->readable == 0 ? nullptr : &*peer;
}

}  // namespace longshore::detail
