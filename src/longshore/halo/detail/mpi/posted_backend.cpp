// Transfers messages by persistent MPI requests: joins small messages, unpacks each message on
// arrival, and posts the buffered receives of the next exchange as soon as an exchange is complete.
#include <longshore/halo/detail/mpi/posted_backend.hpp>

#include <longshore/core/bytes.hpp>
#include <longshore/core/error.hpp>
#include <longshore/transport/mpi/detail/team.hpp>

#include <algorithm>
#include <cassert>

namespace longshore::mpi {
namespace {

// Messages of at least this size are not joined. A saved copy, or an earlier start of the receiver,
// gains more than a saved message.
constexpr std::size_t unjoined_from_bytes = 16384;

}  // namespace

posted_backend::posted_backend(const round_setup& setup)
    : comm_(setup.comm), workers_(setup.workers), received_(setup.round.size(), nullptr) {
  for (std::size_t pair = 0; pair < setup.round.size(); ++pair) {
    const auto& [direction, out, in] = setup.round[pair];
    const int tag = setup.first_tag + direction.index();
    if (out.exists()) {
      join(outgoing_, out, tag);
      detail::count_message(moved_, setup.grid.ranks(), out);
    }
    if (in.exists()) {
      join(incoming_, in, tag);
      received_[pair] = in.contiguous();
    }
  }
  moved_.messages = outgoing_.size();
  make_buffers();
}

// Both ends see the messages between them in the same order and with the same sizes. So both ends
// join the same messages. A message may be contiguous at one end only.
void posted_backend::join(std::vector<joined_message>& messages,
                          const detail::halo_message& message, int tag) {
  const bool is_small = message.size_bytes() < unjoined_from_bytes;
  const auto earlier = std::find_if(messages.begin(), messages.end(), [&](const auto& m) {
    return is_small && m.peer == message.peer && m.cells.size_bytes() < unjoined_from_bytes;
  });
  if (earlier == messages.end()) {
    messages.push_back({message.peer, tag, detail::packed_message(message), message.contiguous()});
    return;
  }
  earlier->cells.append(message);
  earlier->contiguous = nullptr;
}

void posted_backend::make_buffers() {
  std::size_t bytes = 0;
  for (const auto* const messages : {&incoming_, &outgoing_})
    for (const auto& m : *messages)
      if (m.contiguous == nullptr) bytes += round_up(m.cells.size_bytes(), cache_line_bytes);
  buffers_ = pages(bytes);
  std::byte* next = buffers_.data();
  for (auto* const messages : {&incoming_, &outgoing_})
    for (auto& m : *messages) {
      m.data = m.contiguous != nullptr ? m.contiguous : next;
      if (m.contiguous == nullptr) next += round_up(m.cells.size_bytes(), cache_line_bytes);
    }
}

void posted_backend::make_requests(std::size_t piece_bytes) {
  const auto add = [&](const joined_message& m, std::size_t index, const auto& init,
                       const char* operation) {
    const std::size_t bytes = m.cells.size_bytes(), piece = std::min(bytes, piece_bytes);
    for (std::size_t begin = 0; begin < bytes; begin += piece) {
      check(init(m.data + begin, mpi::count(std::min(piece, bytes - begin), "a halo message"),
                 MPI_BYTE, m.peer, m.tag, comm_->get(), &requests_.emplace_back(MPI_REQUEST_NULL)),
            operation);
      message_of_.push_back(index);
    }
  };
  for (std::size_t i = 0; i < incoming_.size(); ++i) {
    first_receives_.push_back(requests_.size());
    add(incoming_[i], i, &MPI_Recv_init, "MPI_Recv_init");
  }
  first_receives_.push_back(requests_.size());
  for (std::size_t i = 0; i < outgoing_.size(); ++i) {
    first_sends_.push_back(requests_.size());
    const bool is_answered =
        std::any_of(incoming_.begin(), incoming_.end(),
                    [&](const joined_message& in) { return in.peer == outgoing_[i].peer; });
    add(outgoing_[i], i, is_answered ? &MPI_Send_init : &MPI_Ssend_init, "MPI_Send_init");
  }
  first_sends_.push_back(requests_.size());
  completed_.resize(requests_.size());
  is_in_flight_.assign(requests_.size(), false);
  missing_pieces_.resize(incoming_.size());
}

posted_backend::~posted_backend() {
  if (has_ended()) return;
  for (std::size_t k = 0; k < requests_.size(); ++k) {
    if (requests_[k] == MPI_REQUEST_NULL) continue;
    // A receive that was posted for the next exchange gets no message any more.
    if (receives_are_posted_ && k < receive_count() &&
        incoming_[message_of_[k]].contiguous == nullptr) {
      MPI_Cancel(&requests_[k]);
      MPI_Wait(&requests_[k], MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&requests_[k]);
  }
}

void posted_backend::start_requests(std::size_t first, std::size_t end) {
  check(MPI_Startall(static_cast<int>(end - first), requests_.data() + first), "MPI_Startall");
}

void posted_backend::start() {
  assert(in_flight_ == 0);
  // Contiguous messages arrive in the cells, which belong to the user between exchanges. So only
  // receives into buffers are posted early, by progress().
  for (std::size_t i = 0; i < incoming_.size(); ++i) {
    if (!receives_are_posted_ || incoming_[i].contiguous != nullptr)
      start_requests(first_receives_[i], first_receives_[i + 1]);
    missing_pieces_[i] = first_receives_[i + 1] - first_receives_[i];
  }
  for (std::size_t i = 0; i < outgoing_.size(); ++i) {
    if (outgoing_[i].contiguous == nullptr) outgoing_[i].cells.pack(outgoing_[i].data, workers_);
    start_requests(first_sends_[i], first_sends_[i + 1]);
  }
  receives_are_posted_ = false;
  pending_receives_ = incoming_.size();
  pending_sends_ = requests_.size() - receive_count();
  in_flight_ = requests_.size();
  is_in_flight_.assign(requests_.size(), true);
}

void posted_backend::progress() {
  if (in_flight_ == 0) return;
  int count = 0;
  check(MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count,
                     completed_.data(), MPI_STATUSES_IGNORE),
        "MPI_Testsome");
  for (int i = 0; i < count; ++i) {
    const auto index = static_cast<std::size_t>(completed_[i]);
    --in_flight_;
    is_in_flight_[index] = false;
    if (index >= receive_count()) {
      --pending_sends_;
      continue;
    }
    const std::size_t message = message_of_[index];
    if (--missing_pieces_[message] > 0) continue;
    --pending_receives_;
    const auto& in = incoming_[message];
    if (in.contiguous == nullptr) in.cells.unpack(in.data, workers_);
  }
  if (in_flight_ > 0) return;
  for (std::size_t i = 0; i < incoming_.size(); ++i)
    if (incoming_[i].contiguous == nullptr)
      start_requests(first_receives_[i], first_receives_[i + 1]);
  receives_are_posted_ = true;
}

// Prefers the peer of a pending receive, because the next round may depend on it.
int posted_backend::awaited_peer() const {
  const auto first = static_cast<std::size_t>(
      std::find(is_in_flight_.begin(), is_in_flight_.end(), true) - is_in_flight_.begin());
  if (first == requests_.size()) return -1;
  return (first < receive_count() ? incoming_ : outgoing_)[message_of_[first]].peer;
}

}  // namespace longshore::mpi
