// Both ends of a channel over MPI: MPI_Issend on one side, a posted MPI_Irecv per slot on the
// other. A closing message, longer than any other, tells the receiver that no message follows.
#include <longshore/core/bytes.hpp>
#include <longshore/transport/mpi/detail/message_channels.hpp>

#include <algorithm>
#include <cassert>

namespace longshore::mpi {
namespace {

// The length of the closing message: one byte more than any other message.
std::size_t closing_bytes(std::size_t slot_bytes) { return slot_bytes + 1; }

std::size_t stride_bytes(std::size_t slot_bytes) {
  return round_up(closing_bytes(slot_bytes), cache_line_bytes);
}

// A message of more pieces is sent as one, because a handshake costs less than their copies.
constexpr std::size_t max_pieces = 9;

// With fewer slots than this, each message is synchronous, so that each slot is free early.
constexpr std::size_t min_slots_of_groups = 8;

int bytes_of(const MPI_Status& status) {
  int bytes = 0;
  check(MPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
  return bytes;
}

}  // namespace

std::size_t message_buffer_bytes(std::size_t slot_bytes, int slots) {
  count(slot_bytes, "a channel's slot");
  count(closing_bytes(slot_bytes), "a channel's slot");
  return slots * stride_bytes(slot_bytes);
}

message_format::message_format(std::size_t slot, std::size_t eager_bytes) noexcept
    : slot_bytes(slot), piece_bytes(closing_bytes(slot)), pieces(1) {
  if (eager_bytes == 0 || piece_bytes <= eager_bytes || piece_bytes > max_pieces * eager_bytes)
    return;
  pieces = (piece_bytes + eager_bytes - 1) / eager_bytes;
  piece_bytes = eager_bytes;
}

message_sender::message_sender(channel_end end, message_format format, std::byte* buffer,
                               MPI_Comm comm, int tag)
    : channel_sender(end),
      format_(format),
      buffer_(buffer),
      comm_(comm),
      tag_(tag),
      requests_(static_cast<std::size_t>(end.slots) * format.pieces, MPI_REQUEST_NULL),
      slots_(static_cast<std::size_t>(end.slots)),
      group_slots_(slots_ < min_slots_of_groups || format.pieces > 1 ? 1 : slots_ / 4) {}

// The requests of a group become null together, before the first slot of the group is used again.
bool message_sender::is_group_free(std::size_t slot) {
  if (requests_[slot] == MPI_REQUEST_NULL) return true;
  const std::size_t first = slot / group_slots_ * group_slots_;
  int done = 0;
  check(MPI_Testall(static_cast<int>(std::min(group_slots_, slots_ - first)), &requests_[first],
                    &done, MPI_STATUSES_IGNORE),
        "MPI_Testall");
  return done != 0;
}

bool message_sender::is_free(std::size_t slot) {
  if (group_slots_ > 1) return is_group_free(slot);
  MPI_Request* const requests = requests_.data() + slot * format_.pieces;
  // When the last piece is matched, all earlier pieces are matched too, and almost always complete.
  MPI_Request& last = requests[format_.pieces - 1];
  if (last == MPI_REQUEST_NULL && format_.pieces == 1) return true;
  int done = 1;
  if (last != MPI_REQUEST_NULL) check(MPI_Test(&last, &done, MPI_STATUS_IGNORE), "MPI_Test");
  if (done != 0 && format_.pieces > 1)
    check(MPI_Testall(static_cast<int>(format_.pieces - 1), requests, &done, MPI_STATUSES_IGNORE),
          "MPI_Testall");
  return done != 0;
}

std::byte* message_sender::reserve() {
  return is_free(slot_) ? buffer_ + slot_ * stride_bytes(slot_bytes()) : nullptr;
}

void message_sender::commit(std::size_t bytes) {
  assert(bytes <= slot_bytes() && !close_sent_);
  send(bytes, (slot_ + 1) % group_slots_ == 0 || slot_ + 1 == slots_);
}

void message_sender::send(std::size_t bytes, bool is_synchronous) {
  const std::byte* piece = buffer_ + slot_ * stride_bytes(slot_bytes());
  MPI_Request* const requests = requests_.data() + slot_ * format_.pieces;
  const std::size_t last = format_.pieces - 1;
  for (std::size_t k = 0; k < last; ++k) {
    const std::size_t part = std::min(bytes, format_.piece_bytes);
    check(MPI_Isend(piece, static_cast<int>(part), MPI_BYTE, peer(), tag_, comm_, &requests[k]),
          "MPI_Isend");
    piece += part;
    bytes -= part;
  }
  const auto start = is_synchronous ? MPI_Issend : MPI_Isend;
  check(start(piece, static_cast<int>(bytes), MPI_BYTE, peer(), tag_, comm_, &requests[last]),
        is_synchronous ? "MPI_Issend" : "MPI_Isend");
  slot_ = slot_ + 1 == slots_ ? 0 : slot_ + 1;
}

bool message_sender::try_close() {
  if (!close_sent_) {
    if (reserve() == nullptr) return false;
    send(closing_bytes(slot_bytes()), true);
    close_sent_ = true;
  }
  for (std::size_t slot = 0; slot < slots_; ++slot)
    if (!is_free(slot)) return false;
  return true;
}

std::size_t pending_receives::add(message_receiver& receiver) {
  receivers_.push_back(&receiver);
  requests_.push_back(MPI_REQUEST_NULL);
  complete_.resize(requests_.size());
  statuses_.resize(requests_.size());
  return requests_.size() - 1;
}

void pending_receives::test_all() {
  ++tests_;
  int count = 0;
  check(MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count, complete_.data(),
                     statuses_.data()),
        "MPI_Testsome");
  for (int k = 0; k < count; ++k)  // count is MPI_UNDEFINED (negative) if all requests are null
    receivers_[complete_[k]]->on_arrival(statuses_[k]);
}

message_receiver::message_receiver(channel_end end, message_format format, std::byte* buffer,
                                   MPI_Comm comm, int tag, pending_receives& pending)
    : channel_receiver(end),
      format_(format),
      buffer_(buffer),
      comm_(comm),
      tag_(tag),
      pending_(pending),
      index_(pending.add(*this)),
      requests_(static_cast<std::size_t>(end.slots) * format.pieces, MPI_REQUEST_NULL),
      statuses_(format.pieces - 1),
      slots_(static_cast<std::size_t>(end.slots)) {
  for (std::size_t slot = 0; slot < slots_; ++slot) post(slot);
  await_slot();
}

void message_receiver::await_slot() {
  pending_.set(index_, std::exchange(requests_of(slot_)[format_.pieces - 1], MPI_REQUEST_NULL));
}

// The earlier pieces were sent before the last, so MPI_Waitall waits at most for their copies.
void message_receiver::on_arrival(const MPI_Status& status) {
  length_bytes_ = static_cast<std::size_t>(bytes_of(status));
  if (!statuses_.empty()) {
    check(MPI_Waitall(static_cast<int>(statuses_.size()), requests_of(slot_), statuses_.data()),
          "MPI_Waitall");
    for (const auto& piece : statuses_) length_bytes_ += static_cast<std::size_t>(bytes_of(piece));
  }
  closed_ = length_bytes_ == closing_bytes(slot_bytes());
  arrived_ = !closed_;
}

void message_receiver::post(std::size_t slot) {
  std::byte* piece = buffer_ + slot * stride_bytes(slot_bytes());
  std::size_t left = closing_bytes(slot_bytes());
  for (std::size_t k = 0; k < format_.pieces; ++k) {
    const std::size_t part = std::min(left, format_.piece_bytes);
    check(MPI_Irecv(piece, static_cast<int>(part), MPI_BYTE, peer(), tag_, comm_,
                    &requests_of(slot)[k]),
          "MPI_Irecv");
    piece += part;
    left -= part;
  }
}

std::optional<std::span<const std::byte>> message_receiver::front() {
  if (!arrived_) {
    if (closed_) return std::nullopt;
    // Without a test since this receiver's last empty poll, all receivers have been polled once.
    if (polled_at_ == pending_.tests()) pending_.test_all();
    polled_at_ = pending_.tests();
    if (!arrived_) return std::nullopt;
  }
  return std::span<const std::byte>(buffer_ + slot_ * stride_bytes(slot_bytes()), length_bytes_);
}

void message_receiver::release() {
  assert(arrived_);
  arrived_ = false;
  post(slot_);
  slot_ = slot_ + 1 == slots_ ? 0 : slot_ + 1;
  await_slot();
}

bool message_receiver::try_close() {
  while (front()) release();
  if (!closed_) return false;
  for (auto& request : requests_) {
    if (request == MPI_REQUEST_NULL) continue;
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  return true;
}

}  // namespace longshore::mpi
