#include <longshore/core/environment.hpp>
#include <longshore/core/error.hpp>
#include <longshore/transport/ucx/library.hpp>
#include <longshore/transport/ucx/message_channels.hpp>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <exception>
#include <utility>

namespace longshore::ucx {
namespace {

constexpr unsigned message_id = 7;
// Over TCP up to 64 KiB with their heads leave straight from where they lie, and arrive in one
// piece.
constexpr std::size_t default_part_bytes = std::size_t{56} << 10;
// So often a rank looks in vain before it sends a credit for which no message has come along.
constexpr unsigned most_idle_turns = 64;

}  // namespace

struct message_board::rendezvous {
  message_board* board;
  std::shared_ptr<void> kept;
  std::uint64_t* missing_bytes;
  std::uint64_t bytes;
  int peer;
};

message_board::message_board(library& lib)
    : library_(lib), part_bytes_(default_part_bytes), send_flags_(UCP_AM_SEND_FLAG_EAGER) {
  // Who sets a threshold wants UCX to decide.
  if (environment_text("UCX_RNDV_THRESH")) {
    part_bytes_ = std::size_t{1} << 62;
    send_flags_ = 0;
  }
  ucp_am_handler_param_t handler{};
  handler.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_FLAGS |
                       UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
  handler.id = message_id;
  handler.flags = UCP_AM_FLAG_WHOLE_MSG;
  handler.cb = &message_board::came;
  handler.arg = this;
  if (const auto status = ucp_worker_set_am_recv_handler(lib.worker(), &handler); status != UCS_OK)
    fail(errc::transport, "ucp_worker_set_am_recv_handler: {}", ucs_status_string(status));
}

std::uint32_t message_board::add(message_sender& end) {
  senders_.emplace(++last_number_, &end);
  return last_number_;
}

std::uint32_t message_board::add(message_receiver& end) {
  receivers_.emplace(++last_number_, &end);
  return last_number_;
}

void message_board::remove(std::uint32_t number, message_receiver* end) {
  if (end == nullptr) {
    senders_.erase(number);
    return;
  }
  receivers_.erase(number);
  std::erase(owing_, end);
  if (const auto last = last_told_.find(end->peer());
      last != last_told_.end() && last->second == end)
    last_told_.erase(last);
}

// A credit that goes alone costs as much as a small message: it waits for one where the last one
// found one soon, and as long as the sender has another slot.
void message_board::owe(message_receiver& end) {
  if (!end.rides_soon_ || end.consumed_ - end.told_ == end.slots_) {
    tell(end);
    return;
  }
  if (end.owes_) return;
  end.owes_ = true;
  owing_.push_back(&end);
  idle_turns_ = 0;
}

void message_board::load(message_head& head, int peer) {
  if (const auto last = last_told_.find(peer); last != last_told_.end()) {
    last->second->rides_soon_ = true;  // had it waited, it would have come along
    last_told_.erase(last);
  }
  const auto found = std::find_if(owing_.begin(), owing_.end(),
                                  [&](const auto* end) { return end->peer() == peer; });
  if (found == owing_.end()) return;
  auto& end = **found;
  owing_.erase(found);
  end.owes_ = false;
  end.told_ = end.consumed_;
  head.credited = end.sender_;
  head.consumed = end.consumed_;
}

void message_board::idle() {
  if (owing_.empty() || ++idle_turns_ < most_idle_turns) return;
  for (auto* const end : std::vector(owing_)) {
    end->rides_soon_ = false;
    tell(*end);
  }
}

void message_board::tell(message_receiver& end) {
  if (end.owes_) std::erase(owing_, &end);
  end.owes_ = false;
  end.told_ = end.consumed_;
  last_told_[end.peer()] = &end;
  auto* const head = new message_head{};
  head->credited = end.sender_;
  head->consumed = end.consumed_;
  ucp_request_param_t kept{};
  kept.op_attr_mask =
      UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  kept.flags = UCP_AM_SEND_FLAG_EAGER;
  kept.user_data = head;
  kept.cb.send = [](void* request, ucs_status_t, void* data) {
    delete static_cast<message_head*>(data);
    ucp_request_free(request);
  };
  const auto request = ucp_am_send_nbx(library_.endpoint(end.peer()), message_id, head,
                                       sizeof *head, nullptr, 0, &kept);
  if (request != nullptr && !UCS_PTR_IS_ERR(request)) return;
  delete head;
  forget_request(request, "a credit", end.peer());
}

void message_board::send(int peer, const message_head* head, const std::byte* from,
                         std::size_t bytes) {
  ucp_request_param_t how{};
  how.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
  how.flags = send_flags_;
  if (send_flags_ == 0) {
    how.op_attr_mask |= UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
    how.user_data = this;
    how.cb.send = [](void* request, ucs_status_t, void* self) {
      --static_cast<message_board*>(self)->sends_;
      ucp_request_free(request);
    };
    const auto request =
        ucp_am_send_nbx(library_.endpoint(peer), message_id, head, sizeof *head, from, bytes, &how);
    if (UCS_PTR_IS_ERR(request)) forget_request(request, "a message", peer);
    sends_ += request != nullptr ? 1 : 0;
    return;
  }
  forget_request(
      ucp_am_send_nbx(library_.endpoint(peer), message_id, head, sizeof *head, from, bytes, &how),
      "a message", peer);
}

void message_board::fail_receiving() const {
  fail(errc::transport, "a message from rank {} could not be received: {}", failed_peer_,
       ucs_status_string(failure_));
}

ucs_status_t message_board::came(void* board, const void* head, std::size_t head_bytes, void* data,
                                 std::size_t bytes, const ucp_am_recv_param_t* how) {
  message_head read;
  assert(head_bytes == sizeof read);
  static_cast<void>(head_bytes);
  std::memcpy(&read, head, sizeof read);
  return static_cast<message_board*>(board)->take(
      read, data, bytes, (how->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0);
}

ucs_status_t message_board::take(const message_head& head, void* data, std::size_t bytes,
                                 bool is_rendezvous) {
  if (head.credited != 0)
    if (const auto found = senders_.find(head.credited); found != senders_.end())
      found->second->credit(head.consumed);
  const auto found = receivers_.find(head.receiver);
  if (found == receivers_.end()) return UCS_OK;
  auto& end = *found->second;
  const std::uint32_t slot = head.slot;
  auto& arrival = (*end.arrivals_)[slot];
  if (!arrival.began) arrival = {head.total_bytes, head.total_bytes, true};
  std::byte* const to = end.slot_memory(slot) + head.offset;
  if (!is_rendezvous) {
    if (bytes > 0) std::memcpy(to, data, bytes);
    arrival.missing_bytes -= bytes;
    return UCS_OK;
  }
  auto* const under_way =
      new rendezvous{this, end.arrivals_, &arrival.missing_bytes, bytes, end.peer()};
  ucp_request_param_t then{};
  then.op_attr_mask =
      UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
  then.user_data = under_way;
  then.cb.recv_am = [](void* request, ucs_status_t status, std::size_t, void* what) {
    const auto* const done = static_cast<rendezvous*>(what);
    --done->board->receives_;
    if (status == UCS_OK) {
      *done->missing_bytes -= done->bytes;
    } else {
      done->board->failure_ = status;
      done->board->failed_peer_ = done->peer;
    }
    delete done;
    ucp_request_free(request);
  };
  const auto request = ucp_am_recv_data_nbx(library_.worker(), data, to, bytes, &then);
  if (!UCS_PTR_IS_ERR(request)) {
    ++receives_;  // no completion before the next progress
    return UCS_INPROGRESS;
  }
  delete under_way;
  failure_ = UCS_PTR_STATUS(request);
  failed_peer_ = end.peer();
  return failure_;
}

message_sender::message_sender(channel_end end, one_sided::slot_memory memory, message_board& board,
                               library& lib)
    : message_channel_sender(end),
      board_(board),
      library_(lib),
      memory_(memory),
      parts_(end.slot_bytes == 0 ? 1 : (end.slot_bytes - 1) / board.part_bytes() + 1),
      heads_(static_cast<std::size_t>(memory.slots) * parts_),
      slots_(static_cast<std::uint32_t>(memory.slots)),
      number_(board.add(*this)),
      unwinding_(std::uncaught_exceptions()) {}

// Where an exception passes nobody has waited for the last messages to leave.
message_sender::~message_sender() {
  board_.remove(number_, nullptr);
  if (std::uncaught_exceptions() > unwinding_) board_.keep(std::move(heads_));
}

// A slot here is free when the one there is: what was taken has left this memory long ago.
std::byte* message_sender::reserve() {
  if (produced_ - consumed_ == slots_) {
    library_.progress();
    if (produced_ - consumed_ == slots_) return nullptr;
  }
  return memory_.begin + slot_ * memory_.stride_bytes;
}

void message_sender::commit(std::size_t bytes) {
  assert(bytes <= slot_bytes() && produced_ - consumed_ < slots_);
  const std::byte* const from = memory_.begin + slot_ * memory_.stride_bytes;
  message_head* head = &heads_[slot_ * parts_];
  std::size_t offset = 0;
  do {
    const std::size_t part = std::min(bytes - offset, board_.part_bytes());
    *head = {bytes, offset, receiver_, slot_, 0, 0};
    if (offset == 0) board_.load(*head, peer());
    board_.send(peer(), head++, from + offset, part);
    offset += part;
  } while (offset < bytes);
  ++produced_;
  slot_ = slot_ + 1 == slots_ ? 0 : slot_ + 1;
}

message_receiver::message_receiver(channel_end end, one_sided::slot_memory memory,
                                   message_board& board, library& lib)
    : message_channel_receiver(end),
      board_(board),
      library_(lib),
      memory_(memory),
      arrivals_(std::make_shared<std::vector<arrival>>(static_cast<std::size_t>(memory.slots))),
      slots_(static_cast<std::uint32_t>(memory.slots)),
      number_(board.add(*this)) {}

std::optional<std::span<const std::byte>> message_receiver::front() {
  const auto& found = (*arrivals_)[slot_];
  if (!found.is_whole()) {
    library_.progress();
    if (!found.is_whole()) return std::nullopt;
  }
  return std::span<const std::byte>(slot_memory(slot_), found.length_bytes);
}

void message_receiver::release() {
  auto& found = (*arrivals_)[slot_];
  assert(found.is_whole());
  found = {};
  slot_ = slot_ + 1 == slots_ ? 0 : slot_ + 1;
  ++consumed_;
  board_.owe(*this);
}

}  // namespace longshore::ucx
