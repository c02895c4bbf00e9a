// Elastic items of a conveyor: cut into pieces of a buffer at most, each with its tag and length in
// front.
#include <longshore/aggregate/conveyor.hpp>
#include <longshore/core/error.hpp>

#include <unordered_map>
#include <utility>
#include <vector>

namespace longshore {
namespace {

// A buffer with less room than this, beside the header, is sent rather than given a smaller piece
// of a cut item.
constexpr std::size_t smallest_piece_bytes = 64;

}  // namespace

// Puts as much of `rest` as fits into the lane's buffer. False when there is no buffer; true with
// an empty rest, or more to do.
bool conveyor::push_piece(std::uint32_t lane, std::uint32_t tag, std::span<const std::byte>& rest) {
  detail::lane& to = lanes_[lane];
  const std::size_t wanted = round_up(rest.size(), sizeof(piece_header));
  if (to.next != to.end) {
    const std::size_t room = static_cast<std::size_t>(to.end - to.next) - sizeof(piece_header);
    if (room < std::min(wanted, smallest_piece_bytes)) {
      const hop& at = hops_[hop_of(lane)];
      at.porter->ship(lane - at.first_lane);
    }
  }
  if (to.next == to.end && !open(lane)) return false;
  const std::size_t room = static_cast<std::size_t>(to.end - to.next) - sizeof(piece_header);
  const std::size_t length = std::min(rest.size(), room);
  const piece_header header{
      tag, static_cast<std::uint32_t>(length) | (length < rest.size() ? more_pieces : 0)};
  std::memcpy(to.next, &header, sizeof header);
  if (length > 0) std::memcpy(to.next + sizeof header, rest.data(), length);
  to.next += sizeof header + round_up(length, sizeof header);
  rest = rest.subspan(length);
  if (to.next == to.end) filled(lane);
  return true;
}

struct conveyor::piece_store {
  std::unordered_map<int, std::vector<std::byte>> of_source;
  // of an item that was put together, and is done with by the next piece
  std::vector<std::byte>* whole = nullptr;
};

// The piece, or all pieces of its item that have come from there; valid until the next piece is put
// together.
std::span<const std::byte> conveyor::put_together(int from, std::span<const std::byte> piece,
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
  if (!push_piece(step.lane, step.tag, item)) return false;
  while (!item.empty())
    if (!push_piece(step.lane, step.tag, item)) {
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
  while (!rest.empty() && push_piece(step.lane, step.tag, rest)) {
  }
  backlog_.sent = backlog_.bytes.size() - rest.size();
  if (rest.empty()) backlog_.rank = -1;
}

}  // namespace longshore
