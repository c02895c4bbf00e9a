// Neighbours on the node describe their memories to each other, and map those that they can.
#include <longshore/ghost/detail/direct_peers.hpp>

#include <longshore/core/error.hpp>
#include <longshore/transport/detail/handshake_message.hpp>
#include <longshore/transport/shareable_memory.hpp>

#include <algorithm>

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
  std::uint32_t memories = 0, fields = 0, exposed = 0;  // exposed has a bit per memory
};

// Returns whether other ranks of the node may be able to map the memory.
bool describe(described_memory& described, const element_memory& memory, bool needs_no_mapping) {
  described.stride_bytes = memory.stride_bytes;
  const auto address = reinterpret_cast<std::uint64_t>(memory.data);
  described.offset = address;
  if (needs_no_mapping) return true;
  const auto found = find_shareable(memory.data);
  if (!found) return false;
  described.memory = found->handle;
  described.offset = address - found->handle.address;
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
    : ranks_(ranks), access_(node_access::of(ranks)), messenger_(std::move(neighbours)) {
  const auto all_peers = messenger_->peers();
  for (std::size_t i = 0; i < all_peers.size(); ++i)
    if (ranks.nodes().is_local(all_peers[i])) local_.push_back(i);
  signals_ = access_.signals().take(ranks, local_.size() * rounds);

  const bool is_one_process = ranks.is_one_process();
  description_header header{.memories = static_cast<std::uint32_t>(memories.size()),
                            .fields = static_cast<std::uint32_t>(fields.size())};
  std::vector<described_memory> described;
  for (std::size_t m = 0; m < memories.size(); ++m) {
    bool is_exposed = true;
    for (const auto& memory : memories[m])
      is_exposed = describe(described.emplace_back(), memory, is_one_process || elements[m] == 0) &&
                   is_exposed;
    exposed_ |= static_cast<std::uint32_t>(is_exposed) << m;
  }
  header.exposed = exposed_;
  for (std::size_t i = 0; i < local_.size(); ++i) {
    direct_peer peer;
    peer.rank = all_peers[local_[i]];
    peer.signals_from_peer = signals_.data() + i * rounds;
    if (is_one_process) access_.reach()[peer.rank] = true;
    const auto reach = access_.reach().find(peer.rank);
    if (reach == access_.reach().end())
      knows_reach_ = false;
    else if (reach->second)
      peer.readable = peer.read_by_peer = exposed_ | can_signal;
    (void)describe(header.signals, {reinterpret_cast<std::byte*>(peer.signals_from_peer), 0},
                   is_one_process);
    handshake_writer writer;
    writer.reserve(sizeof header + described.size() * sizeof(described_memory));
    writer.add(header);
    writer.add_all(std::span<const described_memory>(described));
    descriptions_.push_back(writer.take());
    peers_.push_back(std::move(peer));
  }
}

std::vector<std::vector<std::byte>> direct_peers::exchange(
    const agreed_numbers& numbers, const when_agreed& agreed,
    const std::vector<std::vector<std::byte>>& attachments) {
  const std::size_t described_bytes = descriptions_.empty() ? 0 : descriptions_[0].size();
  for (std::size_t i = 0; i < attachments.size(); ++i)
    descriptions_[i].insert(descriptions_[i].end(), attachments[i].begin(), attachments[i].end());
  auto received = messenger_->exchange_with(local_, descriptions_, numbers, agreed);
  descriptions_.clear();
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    const auto reach = access_.reach().find(peers_[i].rank);
    if (reach == access_.reach().end() || reach->second) map_memories(peers_[i], received[i]);
    const auto attachment = received[i].begin() + static_cast<std::ptrdiff_t>(described_bytes);
    received[i].erase(received[i].begin(), attachment);
  }
  return received;
}

// A link needs two ranks that can signal each other.
void direct_peers::confirm(const agreed_numbers& numbers, const when_agreed& agreed) {
  std::vector<std::vector<std::byte>> messages;
  for (const auto& peer : peers_) {
    handshake_writer writer;
    writer.add(peer.readable);
    messages.push_back(writer.take());
  }
  const auto replies = messenger_->exchange_with(local_, messages, numbers, agreed);
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    auto& peer = peers_[i];
    peer.read_by_peer = handshake_reader(replies[i]).take<std::uint32_t>();
    const bool reach = (peer.readable & peer.read_by_peer & can_signal) != 0;
    if (!reach) peer.readable = peer.read_by_peer = 0;
    access_.reach()[peer.rank] = reach;
  }
}

// Until confirm(), a peer whose signals are mapped is assumed to map all that this rank exposes.
void direct_peers::map_memories(direct_peer& peer, std::span<const std::byte> description) {
  handshake_reader reader(description);
  const auto header = reader.take<description_header>();
  const bool is_one_process = ranks_.is_one_process();
  // Returns the address of the peer's memory in this process, or null if it cannot be mapped.
  const auto mapped = [&](const described_memory& described) -> std::byte* {
    const auto offset = static_cast<std::ptrdiff_t>(described.offset);
    if (is_one_process || described.memory.address == 0)
      return reinterpret_cast<std::byte*>(described.offset);
    auto mapping = access_.mappings().map(described.memory);
    if (mapping.data == nullptr) return nullptr;
    mappings_.push_back(std::move(mapping.owner));
    return mapping.data + offset;
  };
  peer.readable = 0;
  peer.signals_to_peer = reinterpret_cast<direct_signals*>(mapped(header.signals));
  const bool has_signals = is_one_process || header.signals.memory.address != 0;
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
  const auto expected = header.exposed | can_signal;
  if (access_.reach().count(peer.rank) == 0) {
    peer.read_by_peer = (peer.readable & can_signal) != 0 ? exposed_ | can_signal : 0;
  } else if (peer.readable != expected) {
    peer.readable = expected;
    unmapped_rank_ = peer.rank;
  }
}

void direct_peers::check_mapped() const {
  if (unmapped_rank_ >= 0)
    fail(errc::out_of_memory,
         "rank {} cannot map memory of rank {}: a process has too many mappings or open files, or "
         "the memory was freed",
         ranks_.rank(), unmapped_rank_);
}

const direct_peer* direct_peers::find(int rank) const {
  const auto peer = std::lower_bound(peers_.begin(), peers_.end(), rank,
                                     [](const direct_peer& p, int r) { return p.rank < r; });
  return peer == peers_.end() || peer->rank != rank || peer->readable == 0 ? nullptr : &*peer;
}

}  // namespace longshore::detail
