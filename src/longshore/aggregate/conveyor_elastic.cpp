// Elastic items of a conveyor: each is cut into pieces that fit a buffer, and each piece has a
// header with its tag and length.
#include <longshore/aggregate/conveyor.hpp>
#include <longshore/core/error.hpp>

#include <unordered_map>
#include <utility>
#include <vector>

namespace longshore {
namespace {

// A buffer with less free space than this after the header is sent, instead of taking a smaller
// piece of a cut item.
constexpr std::size_t smallest_piece_bytes = 64;

}  // namespace

// Puts as much of `rest` as fits into the link's buffer and removes it from `rest`. False if the
// link has no buffer.
bool conveyor::push_piece(std::uint32_t link, std::uint32_t tag, std::span<const std::byte>& rest) {
  detail::tagged_buffer& to = buffers_[link];
  const std::size_t wanted = round_up(rest.size(), sizeof(piece_header));
  if (to.next != to.end) {
    const std::size_t room = static_cast<std::size_t>(to.end - to.next) - sizeof(piece_header);
    if (room < std::min(wanted, smallest_piece_bytes)) {
      const hop& at = hops_[hop_of(link)];
      at.porter->send(link - at.first_link);
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
  // an assembled item, which the next call of assemble() clears
  std::vector<std::byte>* whole = nullptr;
};

// The piece itself if it is a whole item, else all pieces of the item that have come from this
// source. Valid until the next call.
std::span<const std::byte> conveyor::assemble(int from, std::span<const std::byte> piece,
                                              bool is_cut) {
  if (!pieces_ && !is_cut) return piece;
  if (!pieces_) pieces_ = std::make_shared<piece_store>();
  if (pieces_->whole != nullptr) std::exchange(pieces_->whole, nullptr)->clear();
  const auto begun = pieces_->of_source.find(from);
  if (!is_cut && (begun == pieces_->of_source.end() || begun->second.empty())) return piece;
  auto& item = begun == pieces_->of_source.end() ? pieces_->of_source[from] : begun->second;
  item.insert(item.end(), piece.begin(), piece.end());
  if (!is_cut) pieces_->whole = &item;
  return item;
}

bool conveyor::push_bytes(int rank, std::span<const std::byte> item) {
  assert(options_.elastic);
  if (backlog_.rank >= 0) {
    push_backlog();
    if (backlog_.rank >= 0) return false;
  }
  const first_step step = first_[rank];
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
  const first_step step = first_[backlog_.rank];
  std::span<const std::byte> rest =
      std::span<const std::byte>(backlog_.bytes).subspan(backlog_.sent);
  while (!rest.empty() && push_piece(step.link, step.tag, rest)) {
  }
  backlog_.sent = backlog_.bytes.size() - rest.size();
  if (rest.empty()) backlog_.rank = -1;
}

}  // namespace longshore
