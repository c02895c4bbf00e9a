// Sends the messages of channels as active messages of UCX, in parts. Puts credits into headers of
// messages to the same rank. Sends credits alone when no such message follows.
#include <longshore/core/environment.hpp>
#include <longshore/core/error.hpp>
#include <longshore/transport/ucx/detail/library.hpp>
#include <longshore/transport/ucx/detail/message_channels.hpp>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <exception>
#include <utility>

namespace longshore::ucx {
namespace {

// The only kind of active message of a worker, so any number will do.
constexpr unsigned message_id = 7;
// Over TCP, messages of up to 64 KiB including headers are sent without a copy, and arrive in one
// piece.
constexpr std::size_t default_part_bytes = std::size_t{56} << 10;
// A credit is sent alone after this many empty polls without a message that carries it.
constexpr unsigned max_idle_polls = 64;
// With fewer slots than this, credits do not wait for each other.
constexpr std::uint32_t min_slots_of_groups = 8;

}  // namespace

struct active_messages::rendezvous {
  active_messages* messages;
  std::shared_ptr<void> arrivals;  // keeps *missing_bytes alive
  std::uint64_t* missing_bytes;
  std::uint64_t bytes;
  int peer;
};

active_messages::active_messages(library& lib)
    : library_(lib), part_bytes_(default_part_bytes), send_flags_(UCP_AM_SEND_FLAG_EAGER) {
  // A user who sets a threshold wants UCX to decide. Then each message is a single part, which UCX
  // may send by rendezvous.
  if (environment_text("UCX_RNDV_THRESH")) {
    part_bytes_ = std::size_t{1} << 62;
    send_flags_ = 0;
  }
  ucp_am_handler_param_t handler{};
  handler.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_FLAGS |
                       UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
  handler.id = message_id;
  handler.flags = UCP_AM_FLAG_WHOLE_MSG;
  handler.cb = &active_messages::on_message;
  handler.arg = this;
  if (const auto status = ucp_worker_set_am_recv_handler(lib.worker(), &handler); status != UCS_OK)
    fail(errc::transport, "ucp_worker_set_am_recv_handler: {}", ucs_status_string(status));
}

std::uint32_t active_messages::add(message_sender& end) {
  senders_.emplace(++last_number_, &end);
  return last_number_;
}

std::uint32_t active_messages::add(message_receiver& end) {
  receivers_.emplace(++last_number_, &end);
  return last_number_;
}

void active_messages::remove(const message_sender& end) { senders_.erase(end.number()); }

void active_messages::remove(const message_receiver& end) {
  receivers_.erase(end.number());
  std::erase(deferred_, &end);
  if (const auto last = last_sent_alone_.find(end.peer());
      last != last_sent_alone_.end() && last->second == &end)
    last_sent_alone_.erase(last);
}

// A credit that is sent alone costs as much as a small message. So the credit waits for a message
// if a message soon followed the last credit, and if the sender has a free slot. With many slots,
// the credits of a quarter of them wait for each other.
void active_messages::return_credit(message_receiver& end) {
  const std::uint32_t unsent = end.consumed_ - end.credit_sent_;
  const bool is_due = end.slots_ < min_slots_of_groups
                          ? !end.piggybacks_soon_ || unsent == end.slots_
                          : unsent >= end.slots_ / 4;
  if (is_due) {
    send_credit(end);
    return;
  }
  if (end.is_deferred_) return;
  end.is_deferred_ = true;
  deferred_.push_back(&end);
  idle_polls_ = 0;
}

void active_messages::piggyback_credit(message_header& header, int peer) {
  if (const auto last = last_sent_alone_.find(peer); last != last_sent_alone_.end()) {
    last->second->piggybacks_soon_ = true;  // this message could have carried that credit
    last_sent_alone_.erase(last);
  }
  const auto waiting = std::find_if(deferred_.begin(), deferred_.end(),
                                    [&](const auto* end) { return end->peer() == peer; });
  if (waiting == deferred_.end()) return;
  auto& end = **waiting;
  deferred_.erase(waiting);
  end.is_deferred_ = false;
  end.credit_sent_ = end.consumed_;
  header.credited = end.sender_;
  header.consumed = end.consumed_;
}

void active_messages::on_idle() {
  if (deferred_.empty() || ++idle_polls_ < max_idle_polls) return;
  for (auto* const end : std::vector(deferred_)) {
    end->piggybacks_soon_ = false;
    send_credit(*end);
  }
}

void active_messages::send_credit(message_receiver& end) {
  if (end.is_deferred_) std::erase(deferred_, &end);
  end.is_deferred_ = false;
  end.credit_sent_ = end.consumed_;
  last_sent_alone_[end.peer()] = &end;
  auto* const header = new message_header{};
  header->credited = end.sender_;
  header->consumed = end.consumed_;
  ucp_request_param_t params{};
  params.op_attr_mask =
      UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  params.flags = UCP_AM_SEND_FLAG_EAGER;
  params.user_data = header;
  params.cb.send = [](void* request, ucs_status_t, void* data) {
    delete static_cast<message_header*>(data);
    ucp_request_free(request);
  };
  const auto request = ucp_am_send_nbx(library_.endpoint(end.peer()), message_id, header,
                                       sizeof *header, nullptr, 0, &params);
  if (request != nullptr && !UCS_PTR_IS_ERR(request)) return;
  delete header;
  detach_request(request, "a credit", end.peer());
}

void active_messages::send(int peer, const message_header* header, const std::byte* from,
                           std::size_t bytes) {
  ucp_request_param_t params{};
  params.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
  params.flags = send_flags_;
  if (send_flags_ == 0) {  // UCX may use rendezvous, so count the messages until they have left
    params.op_attr_mask |= UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
    params.user_data = this;
    params.cb.send = [](void* request, ucs_status_t, void* self) {
      --static_cast<active_messages*>(self)->sends_;
      ucp_request_free(request);
    };
  }
  const auto request = ucp_am_send_nbx(library_.endpoint(peer), message_id, header, sizeof *header,
                                       from, bytes, &params);
  if (send_flags_ != 0 || UCS_PTR_IS_ERR(request))
    detach_request(request, "a message", peer);
  else if (request != nullptr)
    ++sends_;
}

void active_messages::fail_receiving() const {
  fail(errc::transport, "a message from rank {} could not be received: {}", failed_peer_,
       ucs_status_string(failure_));
}

ucs_status_t active_messages::on_message(void* self, const void* header,
                                         [[maybe_unused]] std::size_t header_bytes, void* data,
                                         std::size_t bytes, const ucp_am_recv_param_t* params) {
  message_header copy;
  assert(header_bytes == sizeof copy);
  std::memcpy(&copy, header, sizeof copy);
  return static_cast<active_messages*>(self)->deliver(
      copy, data, bytes, (params->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0);
}

ucs_status_t active_messages::deliver(const message_header& header, void* data, std::size_t bytes,
                                      bool is_rendezvous) {
  if (header.credited != 0)
    if (const auto sender = senders_.find(header.credited); sender != senders_.end())
      sender->second->take_credit(header.consumed);
  const auto receiver = receivers_.find(header.receiver);
  if (receiver == receivers_.end()) return UCS_OK;  // only a credit, or the end was destroyed
  auto& end = *receiver->second;
  auto& arrival = (*end.arrivals_)[header.slot];
  if (!arrival.began) arrival = {header.total_bytes, header.total_bytes, true};
  std::byte* const to = end.slot_memory(header.slot) + header.offset;
  if (is_rendezvous) return deliver_rendezvous(end, header.slot, to, data, bytes);
  if (bytes > 0) std::memcpy(to, data, bytes);
  arrival.missing_bytes -= bytes;
  return UCS_OK;
}

// Starts to fetch the data of a message. The callback counts the data as arrived.
ucs_status_t active_messages::deliver_rendezvous(message_receiver& end, std::uint32_t slot,
                                                 std::byte* to, void* data, std::size_t bytes) {
  auto* const in_flight =
      new rendezvous{this, end.arrivals_, &(*end.arrivals_)[slot].missing_bytes, bytes, end.peer()};
  ucp_request_param_t params{};
  params.op_attr_mask =
      UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
  params.user_data = in_flight;
  params.cb.recv_am = [](void* request, ucs_status_t status, std::size_t, void* user_data) {
    const auto* const complete = static_cast<rendezvous*>(user_data);
    --complete->messages->receives_;
    if (status == UCS_OK) {
      *complete->missing_bytes -= complete->bytes;
    } else {
      complete->messages->failure_ = status;
      complete->messages->failed_peer_ = complete->peer;
    }
    delete complete;
    ucp_request_free(request);
  };
  const auto request = ucp_am_recv_data_nbx(library_.worker(), data, to, bytes, &params);
  if (!UCS_PTR_IS_ERR(request)) {
    ++receives_;  // the receive completes in a later call of progress(), not before
    return UCS_INPROGRESS;
  }
  delete in_flight;
  failure_ = UCS_PTR_STATUS(request);
  failed_peer_ = end.peer();
  return failure_;
}

message_sender::message_sender(channel_end end, region_slots memory, active_messages& messages,
                               library& lib)
    : message_channel_sender(end),
      messages_(messages),
      library_(lib),
      memory_(memory),
      parts_(end.slot_bytes == 0 ? 1 : (end.slot_bytes - 1) / messages.part_bytes() + 1),
      headers_(memory.slots * parts_),
      slots_(static_cast<std::uint32_t>(memory.slots)),
      number_(messages.add(*this)),
      unwinding_(std::uncaught_exceptions()) {}

// During an exception, the last messages may not have left yet and still need their headers.
message_sender::~message_sender() {
  messages_.remove(*this);
  if (std::uncaught_exceptions() > unwinding_) messages_.keep(std::move(headers_));
}

// The sender's slot is free as soon as the receiver's slot is free, because a received message has
// left the sender's memory.
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
  message_header* header = &headers_[slot_ * parts_];
  std::size_t offset = 0;
  do {
    const std::size_t part = std::min(bytes - offset, messages_.part_bytes());
    *header = {bytes, offset, receiver_, slot_, 0, 0};
    if (offset == 0) messages_.piggyback_credit(*header, peer());
    messages_.send(peer(), header++, from + offset, part);
    offset += part;
  } while (offset < bytes);
  ++produced_;
  slot_ = slot_ + 1 == slots_ ? 0 : slot_ + 1;
}

message_receiver::message_receiver(channel_end end, region_slots memory, active_messages& messages,
                                   library& lib)
    : message_channel_receiver(end),
      messages_(messages),
      library_(lib),
      memory_(memory),
      arrivals_(std::make_shared<std::vector<arrival>>(memory.slots)),
      slots_(static_cast<std::uint32_t>(memory.slots)),
      number_(messages.add(*this)) {}

std::optional<std::span<const std::byte>> message_receiver::front() {
  const auto& current = (*arrivals_)[slot_];
  if (!current.is_complete()) {
    library_.progress();
    if (!current.is_complete()) return std::nullopt;
  }
  return std::span<const std::byte>(slot_memory(slot_), current.length_bytes);
}

void message_receiver::release() {
  auto& current = (*arrivals_)[slot_];
  assert(current.is_complete());
  current = {};
  slot_ = slot_ + 1 == slots_ ? 0 : slot_ + 1;
  ++consumed_;
  messages_.return_credit(*this);
}

}  // namespace longshore::ucx
