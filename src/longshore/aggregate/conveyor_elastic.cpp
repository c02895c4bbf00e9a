// Elastic items of a conveyor: an item is cut into pieces that fit a buffer, and a piece has a
// header with its tag and length.
#include <longshore/aggregate/conveyor.hpp>
#include <longshore/core/error.hpp>

#include <unordered_map>
#include <utility>
#include <vector>

namespace longshore {
namespace {

// A buffer is sent if it could take only a piece of an item, and the piece would be smaller than
// this.
constexpr std::size_t min_piece_bytes = 64;

}  // namespace

// Moves as much of `rest` as fits into the link's buffer. Returns false if no buffer is free.
bool conveyor::push_piece(std::uint32_t link, std::uint32_t tag, std::span<const std::byte>& rest) {
  detail::tagged_buffer& to = buffers_[link];
  // Pieces are padded to the size of a header, and so are buffers. So an open buffer has room for a
  // header.
  const std::size_t wanted = round_up(rest.size(), sizeof(piece_header));
  if (to.next != to.end) {
    const std::size_t room = static_cast<std::size_t>(to.end - to.next) - sizeof(piece_header);
    if (room < std::min(wanted, min_piece_bytes)) {
      const hop_state& hop = hops_[hop_of(link)];
      hop.porter->send(link - hop.first_link);
    }
  }
  if (to.next == to.end && !open(link)) return false;
  const std::size_t room = static_cast<std::size_t>(to.end - to.next) - sizeof(piece_header);
  const std::size_t length = std::min(rest.size(), room);
  const piece_header header{
      tag, static_cast<std::uint32_t>(length) | (length < rest.size() ? more_pieces : 0)};
  std::memcpy(to.next, &header, sizeof header);
  if (length > 0) std::memcpy(to.next + sizeof header, rest.data(), length);
  to.next += sizeof header + round_up(length, sizeof header);
  rest = rest.subspan(length);
  if (to.next == to.end) filled(link);
  return true;
}

struct conveyor::piece_store {
  std::unordered_map<int, std::vector<std::byte>> of_source;
  // the item that assemble() has returned; the next call clears the item
  std::vector<std::byte>* assembled = nullptr;
};

// Returns `piece` if it is a whole item, else all pieces of the item that have arrived from
// `source` so far. The result is valid until the next call.
std::span<const std::byte> conveyor::assemble(int source, std::span<const std::byte> piece,
                                              bool is_cut) {
  if (!pieces_ && !is_cut) return piece;
  if (!pieces_) pieces_ = std::make_shared<piece_store>();
  if (pieces_->assembled != nullptr) std::exchange(pieces_->assembled, nullptr)->clear();
  const auto begun = pieces_->of_source.find(source);
  if (!is_cut && (begun == pieces_->of_source.end() || begun->second.empty())) return piece;
  auto& item = begun == pieces_->of_source.end() ? pieces_->of_source[source] : begun->second;
  item.insert(item.end(), piece.begin(), piece.end());
  if (!is_cut) pieces_->assembled = &item;
  return item;
}

bool conveyor::push_bytes(int rank, std::span<const std::byte> item) {
  assert(options_.elastic);
  if (backlog_.rank >= 0) {
    push_backlog();
    if (backlog_.rank >= 0) return false;
  }
  const first_step step = first_steps_[rank];
  if (!push_piece(step.link, step.tag, item)) return false;
  while (!item.empty())
    if (!push_piece(step.link, step.tag, item)) {
      backlog_.rank = rank;
      backlog_.bytes.assign(item.begin(), item.end());
      backlog_.sent = 0;
      break;
    }
  return true;
}

void conveyor::push_backlog() {
  const first_step step = first_steps_[backlog_.rank];
  std::span<const std::byte> rest =
      std::span<const std::byte>(backlog_.bytes).subspan(backlog_.sent);
  while (!rest.empty() && push_piece(step.link, step.tag, rest)) {
  }
  backlog_.sent = backlog_.bytes.size() - rest.size();
  if (rest.empty()) backlog_.rank = -1;
}

}  // namespace longshore
