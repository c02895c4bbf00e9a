#include <longshore/core/error.hpp>
#include <longshore/halo/detail/direct_carrier.hpp>
#include <longshore/halo/detail/direct_letter.hpp>

#include <algorithm>
#include <new>

namespace longshore::detail {
namespace {

// Makes the links of one plan.
class link_maker {
 public:
  link_maker(const rank_grid& grid, std::vector<halo_round>& rounds, const carrier_options& options)
      : grid_(grid),
        rounds_(rounds),
        options_(options),
        mail_(grid.mail()),
        peers_(mail_->peers()),
        in_process_(grid.ranks().transport_name() == "threads"),
        lent_(peers_.size()) {
    std::sort(options_.readable.begin(), options_.readable.end(),
              [](const auto& a, const auto& b) { return a.address < b.address; });
    board_ = std::make_shared<readable_memory>(grid.ranks(), signals_bytes() * peers_.size());
    for (std::size_t i = 0; i < peers_.size() * rounds.size(); ++i)
      new (board_->data() + i * sizeof(direct_signals)) direct_signals{};
  }

  std::vector<std::unique_ptr<direct_carrier>> make(
      const std::function<bool(const halo_message&)>& wanted);

 private:
  [[nodiscard]] std::size_t signals_bytes() const {
    return rounds_.size() * sizeof(direct_signals);
  }
  [[nodiscard]] std::size_t index_of(int peer) const {
    return static_cast<std::size_t>(std::lower_bound(peers_.begin(), peers_.end(), peer) -
                                    peers_.begin());
  }
  [[nodiscard]] const memory_ticket* memory_of(const std::byte* address) const;
  bool describe(const halo_message& message, letter_writer& letter, told_message head) const;
  [[nodiscard]] std::vector<std::byte> letter_to(
      std::size_t peer, const std::function<bool(const halo_message&)>& wanted);
  [[nodiscard]] offer read(std::span<const std::byte> letter) const;
  void add_link(std::size_t round, std::size_t peer, const offer& theirs);

  const rank_grid& grid_;
  std::vector<halo_round>& rounds_;
  carrier_options options_;
  std::shared_ptr<neighbour_mail> mail_;
  std::span<const int> peers_;
  bool in_process_;
  std::shared_ptr<readable_memory> board_;
  struct place {
    std::size_t round, leg;
  };
  std::vector<std::vector<place>> lent_;  // by peer
  struct parts_of_carrier {
    std::vector<direct_link> links;
    std::vector<std::shared_ptr<const void>> keep;
    std::vector<const std::byte*> received;
    traffic moved;
  };
  std::vector<parts_of_carrier> made_;  // by round
};

// The memory in which an address lies, or null.
const memory_ticket* link_maker::memory_of(const std::byte* address) const {
  const auto at = reinterpret_cast<std::uint64_t>(address);
  auto after = std::upper_bound(
      options_.readable.begin(), options_.readable.end(), at,
      [](std::uint64_t a, const memory_ticket& ticket) { return a < ticket.address; });
  if (after == options_.readable.begin()) return nullptr;
  --after;
  return at < after->address + after->bytes ? &*after : nullptr;
}

// False, and nothing written, when a part lies where others cannot read.
bool link_maker::describe(const halo_message& message, letter_writer& letter,
                          told_message head) const {
  std::vector<told_box> boxes;
  for (const auto& part : message.parts) {
    memory_ticket memory;
    if (const auto* const found = memory_of(part.first))
      memory = *found;
    else if (!in_process_)
      return false;
    const auto offset = reinterpret_cast<std::uint64_t>(part.first) - memory.address;
    boxes.push_back({memory, offset, part.element_bytes, part.extents, part.strides_bytes});
  }
  letter.add(head);
  for (const auto& box : boxes) letter.add(box);
  return true;
}

std::vector<std::byte> link_maker::letter_to(
    std::size_t peer, const std::function<bool(const halo_message&)>& wanted) {
  letter_writer letter;
  letter.reserve(sizeof(told_signals) + rounds_.size() * (sizeof(told_message) + sizeof(told_box)));
  letter.add(told_signals{board_->ticket(), peer * signals_bytes()});
  for (std::size_t r = 0; r < rounds_.size(); ++r)
    for (std::size_t i = 0; i < rounds_[r].size(); ++i) {
      const auto& out = rounds_[r][i].outgoing;
      if (out.peer != peers_[peer] || !wanted(out)) continue;
      const told_message head{static_cast<std::uint32_t>(r), static_cast<std::uint32_t>(i),
                              static_cast<std::uint32_t>(out.parts.size())};
      if (describe(out, letter, head)) lent_[peer].push_back({r, i});
    }
  return letter.take();
}

offer link_maker::read(std::span<const std::byte> letter) const {
  offer found;
  found.reachable = true;
  const auto reach = [&](const memory_ticket& memory, std::uint64_t offset) -> std::byte* {
    auto view = mail_->mapped().redeem(memory);
    const bool is_there = view.data != nullptr || (in_process_ && memory.address == 0);
    if (!is_there) found.reachable = false;
    if (view.keep) found.keep.push_back(std::move(view.keep));
    return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(view.data) + offset);
  };
  letter_reader reader(letter);
  const auto signals = reader.take<told_signals>();
  found.signals = reach(signals.memory, signals.offset);
  while (!reader.at_end()) {
    const auto head = reader.take<told_message>();
    offer::message message{head.round, head.leg, {}};
    for (std::uint32_t i = 0; i < head.boxes; ++i) {
      const auto box = reader.take<told_box>();
      message.parts.push_back(
          {reach(box.memory, box.offset), box.element_bytes, box.extents, box.strides_bytes});
    }
    found.messages.push_back(std::move(message));
  }
  return found;
}

void link_maker::add_link(std::size_t round, std::size_t peer, const offer& theirs) {
  auto& made = made_[round];
  direct_link link;
  link.peer = peers_[peer];
  link.mine = reinterpret_cast<direct_signals*>(board_->data() + peer * signals_bytes()) + round;
  link.theirs = reinterpret_cast<direct_signals*>(theirs.signals) + round;
  for (const auto& from : theirs.messages) {
    if (from.round != round) continue;
    auto& in = rounds_[round][from.leg].incoming;
    bool fits = in.peer == link.peer && in.parts.size() == from.parts.size();
    for (std::size_t i = 0; fits && i < in.parts.size(); ++i)
      fits = in.parts[i].extents == from.parts[i].extents &&
             in.parts[i].element_bytes == from.parts[i].element_bytes;
    if (!fits)
      fail(errc::usage,
           "rank {} offers cells of halo to rank {} that do not fit there: blocks that are "
           "neighbours along one dimension need "
           "equal "
           "extents along the others, and the same fields and widths",
           link.peer, grid_.ranks().rank());
    for (std::size_t i = 0; i < in.parts.size(); ++i) link.copies.add(in.parts[i], from.parts[i]);
    made.received[from.leg] = in.dense();
    in = {};
  }
  for (const auto& [r, leg] : lent_[peer]) {
    if (r != round) continue;
    auto& out = rounds_[r][leg].outgoing;
    made.moved.payload_bytes += out.size_bytes();
    link.is_read = true;
    out = {};
  }
  if (link.copies.empty() && !link.is_read) return;
  made.keep.insert(made.keep.end(), theirs.keep.begin(), theirs.keep.end());
  made.links.push_back(std::move(link));
}

std::vector<std::unique_ptr<direct_carrier>> link_maker::make(
    const std::function<bool(const halo_message&)>& wanted) {
  std::vector<std::vector<std::byte>> letters, verdicts;
  letters.reserve(peers_.size());
  for (std::size_t i = 0; i < peers_.size(); ++i) letters.push_back(letter_to(i, wanted));
  std::vector<offer> offers;
  offers.reserve(peers_.size());
  for (const auto& letter : mail_->exchange(letters)) {
    offers.push_back(read(letter));
    if (!in_process_) verdicts.push_back({static_cast<std::byte>(offers.back().reachable)});
  }
  // Only where both reach each other's memory is there a link. Threads of one process always do.
  if (!in_process_) {
    const auto answers = mail_->exchange(verdicts);
    for (std::size_t i = 0; i < peers_.size(); ++i)
      offers[i].reachable = offers[i].reachable && answers[i] == verdicts[i];
  }
  for (const auto& round : rounds_)
    made_.push_back({{}, {}, std::vector<const std::byte*>(round.size(), nullptr), {}});
  for (auto& made : made_) made.links.reserve(peers_.size());
  for (std::size_t round = 0; round < rounds_.size(); ++round)
    for (std::size_t i = 0; i < peers_.size(); ++i)
      if (offers[i].reachable) add_link(round, i, offers[i]);
  std::vector<std::unique_ptr<direct_carrier>> carriers;
  for (auto& made : made_) {
    carriers.push_back(nullptr);
    if (made.links.empty()) continue;
    made.keep.push_back(board_);
    std::sort(made.keep.begin(), made.keep.end());
    made.keep.erase(std::unique(made.keep.begin(), made.keep.end()), made.keep.end());
    carriers.back() =
        std::make_unique<direct_carrier>(std::move(made.links), std::move(made.keep),
                                         std::move(made.received), made.moved, options_.workers);
  }
  return carriers;
}

}  // namespace

std::vector<std::unique_ptr<direct_carrier>> take_direct(
    const rank_grid& grid, std::vector<halo_round>& rounds, const carrier_options& options,
    const std::function<bool(const halo_message&)>& wanted) {
  return link_maker(grid, rounds, options).make(wanted);
}

}  // namespace longshore::detail
