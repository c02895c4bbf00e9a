// Both ends of a channel over MPI: MPI_Issend on one side, a posted MPI_Irecv per slot on the
// other. A closing message, longer than any other, tells the receiver that no message follows.
#include <longshore/core/bytes.hpp>
#include <longshore/transport/mpi/message_channels.hpp>

#include <cassert>

namespace longshore::mpi {
namespace {

// The length of the closing message: one byte more than any other message.
std::size_t closing_bytes(std::size_t slot_bytes) { return slot_bytes + 1; }

std::size_t stride_bytes(std::size_t slot_bytes) {
  return round_up(closing_bytes(slot_bytes), cache_line_bytes);
}

}  // namespace

std::size_t message_buffer_bytes(std::size_t slot_bytes, int slots) {
  count(slot_bytes, "a channel's slot");
  count(closing_bytes(slot_bytes), "a channel's slot");
  return slots * stride_bytes(slot_bytes);
}

message_sender::message_sender(channel_end end, int slots, std::byte* buffer, MPI_Comm comm,
                               int tag)
    : channel_sender(end),
      buffer_(buffer),
      comm_(comm),
      tag_(tag),
      requests_(slots, MPI_REQUEST_NULL) {}

bool message_sender::is_free(std::size_t slot) {
  if (requests_[slot] == MPI_REQUEST_NULL) return true;
  int done = 0;
  check(MPI_Test(&requests_[slot], &done, MPI_STATUS_IGNORE), "MPI_Test");
  return done != 0;
}

std::byte* message_sender::reserve() {
  return is_free(slot_) ? buffer_ + slot_ * stride_bytes(slot_bytes()) : nullptr;
}

void message_sender::commit(std::size_t bytes) {
  assert(bytes <= slot_bytes() && !close_sent_);
  send(bytes);
}

void message_sender::send(std::size_t bytes) {
  check(MPI_Issend(buffer_ + slot_ * stride_bytes(slot_bytes()), static_cast<int>(bytes), MPI_BYTE,
                   peer(), tag_, comm_, &requests_[slot_]),
        "MPI_Issend");
  slot_ = slot_ + 1 == requests_.size() ? 0 : slot_ + 1;
}

bool message_sender::try_close() {
  if (!close_sent_) {
    if (reserve() == nullptr) return false;
    send(closing_bytes(slot_bytes()));
    close_sent_ = true;
  }
  for (std::size_t slot = 0; slot < requests_.size(); ++slot)
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

message_receiver::message_receiver(channel_end end, int slots, std::byte* buffer, MPI_Comm comm,
                                   int tag, pending_receives& pending)
    : channel_receiver(end),
      buffer_(buffer),
      comm_(comm),
      tag_(tag),
      pending_(pending),
      index_(pending.add(*this)),
      requests_(slots, MPI_REQUEST_NULL) {
  for (std::size_t slot = 0; slot < requests_.size(); ++slot) post(slot);
  pending_.set(index_, std::exchange(requests_[slot_], MPI_REQUEST_NULL));
}

void message_receiver::on_arrival(const MPI_Status& status) {
  check(MPI_Get_count(&status, MPI_BYTE, &length_bytes_), "MPI_Get_count");
  closed_ = static_cast<std::size_t>(length_bytes_) == closing_bytes(slot_bytes());
  arrived_ = !closed_;
}

void message_receiver::post(std::size_t slot) {
  check(MPI_Irecv(buffer_ + slot * stride_bytes(slot_bytes()),
                  static_cast<int>(closing_bytes(slot_bytes())), MPI_BYTE, peer(), tag_, comm_,
                  &requests_[slot]),
        "MPI_Irecv");
}

std::optional<std::span<const std::byte>> message_receiver::front() {
  if (!arrived_) {
    if (closed_) return std::nullopt;
    // Without a test since the last poll of this receiver, all receivers have been polled once.
    if (polled_at_ == pending_.tests()) pending_.test_all();
    polled_at_ = pending_.tests();
    if (!arrived_) return std::nullopt;
  }
  return std::span<const std::byte>(buffer_ + slot_ * stride_bytes(slot_bytes()),
                                    static_cast<std::size_t>(length_bytes_));
}

void message_receiver::release() {
  assert(arrived_);
  arrived_ = false;
  post(slot_);
  slot_ = slot_ + 1 == requests_.size() ? 0 : slot_ + 1;
  pending_.set(index_, std::exchange(requests_[slot_], MPI_REQUEST_NULL));
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
