#include <longshore/halo/detail/backends/direct_handshake.hpp>

#include <longshore/core/error.hpp>
#include <longshore/halo/detail/backends/handshake_message.hpp>
#include <longshore/halo/detail/backends/neighbour_handshake.hpp>

#include <algorithm>
#include <new>

namespace longshore::detail {
namespace {

// Makes the links of all rounds of one plan.
class link_maker {
 public:
  link_maker(const rank_grid& grid, std::vector<halo_round>& rounds, const backend_options& options)
      : grid_(grid),
        rounds_(rounds),
        options_(options),
        handshake_(handshake_of(grid)),
        peers_(handshake_->peers()),
        in_process_(grid.ranks().transport_name() == "threads"),
        exposed_(peers_.size()) {
    std::sort(options_.shareable.begin(), options_.shareable.end(),
              [](const auto& a, const auto& b) { return a.address < b.address; });
    signals_ = std::make_shared<shareable_memory>(grid.ranks(), signals_bytes() * peers_.size());
    for (std::size_t i = 0; i < peers_.size() * rounds.size(); ++i)
      new (signals_->data() + i * sizeof(direct_signals)) direct_signals{};
  }

  std::vector<std::unique_ptr<direct_backend>> make(
      const std::function<bool(const halo_message&)>& wanted);

 private:
  [[nodiscard]] std::size_t signals_bytes() const {
    return rounds_.size() * sizeof(direct_signals);
  }
  [[nodiscard]] const memory_handle* memory_of(const std::byte* address) const;
  bool describe(const halo_message& message, remote_message_descriptor head,
                handshake_writer& out) const;
  [[nodiscard]] std::vector<std::byte> message_to(
      std::size_t peer, const std::function<bool(const halo_message&)>& wanted);
  [[nodiscard]] mapped_handshake read(std::span<const std::byte> message) const;
  void add_link(std::size_t round, std::size_t peer, const mapped_handshake& theirs);

  const rank_grid& grid_;
  std::vector<halo_round>& rounds_;
  backend_options options_;
  std::shared_ptr<neighbour_handshake> handshake_;
  std::span<const int> peers_;
  bool in_process_;
  std::shared_ptr<shareable_memory> signals_;
  struct exposed_message {
    std::size_t round, pair;
  };
  std::vector<std::vector<exposed_message>> exposed_;  // by peer
  struct backend_parts {
    std::vector<direct_link> links;
    std::vector<std::shared_ptr<const void>> keep;
    std::vector<const std::byte*> received;
    traffic moved;
  };
  std::vector<backend_parts> made_;  // by round
};

// The shareable memory that holds an address, or null.
const memory_handle* link_maker::memory_of(const std::byte* address) const {
  const auto at = reinterpret_cast<std::uint64_t>(address);
  auto after = std::upper_bound(
      options_.shareable.begin(), options_.shareable.end(), at,
      [](std::uint64_t a, const memory_handle& handle) { return a < handle.address; });
  if (after == options_.shareable.begin()) return nullptr;
  --after;
  return at < after->address + after->bytes ? &*after : nullptr;
}

// Writes nothing and returns false if a part lies in memory that other ranks cannot map.
bool link_maker::describe(const halo_message& message, remote_message_descriptor head,
                          handshake_writer& out) const {
  std::vector<remote_box_descriptor> boxes;
  for (const auto& part : message.parts) {
    memory_handle memory;
    if (const auto* const found = memory_of(part.first))
      memory = *found;
    else if (!in_process_)
      return false;
    const auto offset = reinterpret_cast<std::uint64_t>(part.first) - memory.address;
    boxes.push_back({memory, offset, part.element_bytes, part.extents, part.strides_bytes});
  }
  out.add(head);
  for (const auto& box : boxes) out.add(box);
  return true;
}

std::vector<std::byte> link_maker::message_to(
    std::size_t peer, const std::function<bool(const halo_message&)>& wanted) {
  handshake_writer writer;
  writer.reserve(sizeof(remote_signals_descriptor) +
                 rounds_.size() *
                     (sizeof(remote_message_descriptor) + sizeof(remote_box_descriptor)));
  writer.add(remote_signals_descriptor{signals_->handle(), peer * signals_bytes()});
  for (std::size_t r = 0; r < rounds_.size(); ++r)
    for (std::size_t i = 0; i < rounds_[r].size(); ++i) {
      const auto& out = rounds_[r][i].outgoing;
      if (out.peer != peers_[peer] || !wanted(out)) continue;
      const remote_message_descriptor head{static_cast<std::uint32_t>(r),
                                           static_cast<std::uint32_t>(i),
                                           static_cast<std::uint32_t>(out.parts.size())};
      if (describe(out, head, writer)) exposed_[peer].push_back({r, i});
    }
  return writer.take();
}

mapped_handshake link_maker::read(std::span<const std::byte> message) const {
  mapped_handshake found;
  found.reachable = true;
  const auto reach = [&](const memory_handle& memory, std::uint64_t offset) -> std::byte* {
    auto view = handshake_->mapped().map(memory);
    const bool is_mapped = view.data != nullptr || (in_process_ && memory.address == 0);
    if (!is_mapped) found.reachable = false;
    if (view.keep) found.keep.push_back(std::move(view.keep));
    return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(view.data) + offset);
  };
  handshake_reader reader(message);
  const auto signals = reader.take<remote_signals_descriptor>();
  found.signals = reach(signals.memory, signals.offset);
  while (!reader.at_end()) {
    const auto head = reader.take<remote_message_descriptor>();
    mapped_handshake::message described{head.round, head.pair, {}};
    for (std::uint32_t i = 0; i < head.boxes; ++i) {
      const auto box = reader.take<remote_box_descriptor>();
      described.parts.push_back(
          {reach(box.memory, box.offset), box.element_bytes, box.extents, box.strides_bytes});
    }
    found.messages.push_back(std::move(described));
  }
  return found;
}

void link_maker::add_link(std::size_t round, std::size_t peer, const mapped_handshake& theirs) {
  auto& made = made_[round];
  direct_link link;
  link.peer = peers_[peer];
  link.mine = reinterpret_cast<direct_signals*>(signals_->data() + peer * signals_bytes()) + round;
  link.theirs = reinterpret_cast<direct_signals*>(theirs.signals) + round;
  for (const auto& from : theirs.messages) {
    if (from.round != round) continue;
    auto& in = rounds_[round][from.pair].incoming;
    bool fits = in.peer == link.peer && in.parts.size() == from.parts.size();
    for (std::size_t i = 0; fits && i < in.parts.size(); ++i)
      fits = in.parts[i].extents == from.parts[i].extents &&
             in.parts[i].element_bytes == from.parts[i].element_bytes;
    if (!fits)
      fail(
          errc::usage,
          "the halo cells of rank {} do not fit those of rank {}: blocks that are neighbours along "
          "one dimension need equal extents along the others, and the same fields and widths",
          link.peer, grid_.ranks().rank());
    for (std::size_t i = 0; i < in.parts.size(); ++i) link.copies.add(in.parts[i], from.parts[i]);
    made.received[from.pair] = in.contiguous();
    in = {};
  }
  for (const auto& [r, pair] : exposed_[peer]) {
    if (r != round) continue;
    auto& out = rounds_[r][pair].outgoing;
    made.moved.payload_bytes += out.size_bytes();
    link.is_read = true;
    out = {};
  }
  if (link.copies.empty() && !link.is_read) return;
  made.keep.insert(made.keep.end(), theirs.keep.begin(), theirs.keep.end());
  made.links.push_back(std::move(link));
}

std::vector<std::unique_ptr<direct_backend>> link_maker::make(
    const std::function<bool(const halo_message&)>& wanted) {
  std::vector<std::vector<std::byte>> messages, verdicts;
  messages.reserve(peers_.size());
  for (std::size_t i = 0; i < peers_.size(); ++i) messages.push_back(message_to(i, wanted));
  std::vector<mapped_handshake> mapped;
  mapped.reserve(peers_.size());
  for (const auto& message : handshake_->exchange(messages)) {
    mapped.push_back(read(message));
    if (!in_process_) verdicts.push_back({static_cast<std::byte>(mapped.back().reachable)});
  }
  // A link needs two ranks that reach each other's memory. Threads of one process always do.
  if (!in_process_) {
    const auto answers = handshake_->exchange(verdicts);
    for (std::size_t i = 0; i < peers_.size(); ++i)
      mapped[i].reachable = mapped[i].reachable && answers[i] == verdicts[i];
  }
  for (const auto& round : rounds_)
    made_.push_back({{}, {}, std::vector<const std::byte*>(round.size(), nullptr), {}});
  for (auto& made : made_) made.links.reserve(peers_.size());
  for (std::size_t round = 0; round < rounds_.size(); ++round)
    for (std::size_t i = 0; i < peers_.size(); ++i)
      if (mapped[i].reachable) add_link(round, i, mapped[i]);
  std::vector<std::unique_ptr<direct_backend>> backends;
  for (auto& made : made_) {
    backends.push_back(nullptr);
    if (made.links.empty()) continue;
    made.keep.push_back(signals_);
    std::sort(made.keep.begin(), made.keep.end());
    made.keep.erase(std::unique(made.keep.begin(), made.keep.end()), made.keep.end());
    backends.back() =
        std::make_unique<direct_backend>(std::move(made.links), std::move(made.keep),
                                         std::move(made.received), made.moved, options_.workers);
  }
  return backends;
}

}  // namespace

std::vector<std::unique_ptr<direct_backend>> make_direct_backends(
    const rank_grid& grid, std::vector<halo_round>& rounds, const backend_options& options,
    const std::function<bool(const halo_message&)>& wanted) {
  return link_maker(grid, rounds, options).make(wanted);
}

}  // namespace longshore::detail
