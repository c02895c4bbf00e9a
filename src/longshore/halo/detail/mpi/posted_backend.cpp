// The backend of modes channel and direct for messages between nodes over MPI. Persistent requests
// transfer messages without the slots of a channel, and contiguous cells without packing. A receive
// of a message that needs unpacking is posted early, at the end of the exchange before.
//
// Small messages to the same neighbour, in any direction, are joined to one message. Each message
// is unpacked on arrival, while other messages are still in flight. Long messages may travel in
// pieces that MPI sends without asking the receiver (choose_piece_bytes).
//
// Cost: at most one message per direction, or one per piece. Memory per rank: the messages that
// need packing. Messages to a rank that sends none back are sent synchronously, so that the receiver
// is at most one exchange behind.
#include <longshore/core/bytes.hpp>
#include <longshore/halo/detail/copy/packed_message.hpp>
#include <longshore/halo/detail/mpi/backends.hpp>
#include <longshore/halo/detail/mpi/round_setup.hpp>
#include <longshore/machine/pages.hpp>

#include <algorithm>
#include <cassert>
#include <iterator>

namespace longshore::mpi {
namespace {

// Messages of at least this size are not joined. A saved copy, or an earlier start of the receiver,
// gains more than a saved message.
constexpr std::size_t unjoined_from_bytes = 16384;

class posted_backend final : public detail::polled_backend {
 public:
  explicit posted_backend(const round_setup& setup);
  ~posted_backend() override;
  // Call once, before the first exchange. Messages longer than `piece_bytes` travel in pieces of
  // this size. REQUIRES: all ranks pass the same size.
  void make_requests(std::size_t piece_bytes);

  void start() override;
  void progress() override;
  [[nodiscard]] std::size_t pending_receives() const override { return pending_receives_; }
  [[nodiscard]] std::size_t pending_sends() const override { return pending_sends_; }
  [[nodiscard]] int awaited_peer() const override;
  [[nodiscard]] const std::byte* received(std::size_t pair) const override {
    return received_[pair];
  }
  [[nodiscard]] traffic moved() const override { return moved_; }
  [[nodiscard]] halo_transfers transfers() const override {
    return {.posted = moved_.payload_bytes};
  }

 private:
  // An MPI message, which joins one or several messages of the round.
  struct joined_message {
    int peer, tag;
    detail::packed_message cells;
    std::byte* contiguous;      // the cells if they need no packing, else null
    std::byte* data = nullptr;  // `contiguous`, or memory of buffers_
  };
  static void join(std::vector<joined_message>& messages, const detail::halo_message& message,
                   int tag);
  void make_buffers();
  void start_requests(std::size_t first, std::size_t end);
  [[nodiscard]] std::size_t receive_count() const noexcept { return first_receives_.back(); }

  std::shared_ptr<const communicator> comm_;
  tasks* workers_;
  std::vector<joined_message> incoming_, outgoing_;
  pages buffers_;
  // A request per piece of incoming_, then of outgoing_; the index of its message in that list.
  std::vector<MPI_Request> requests_;
  std::vector<std::size_t> message_of_;
  // The first request of each message. One more element is the end of the last message's requests.
  std::vector<std::size_t> first_receives_, first_sends_;
  std::vector<std::size_t> missing_pieces_;  // indexed by incoming message
  std::vector<int> completed_;               // the result of MPI_Testsome
  std::vector<bool> is_in_flight_;           // indexed by request
  std::size_t pending_receives_ = 0;         // messages
  std::size_t pending_sends_ = 0;            // pieces
  std::size_t in_flight_ = 0;                // pieces of both
  // Whether the receives that need unpacking are already posted for the next exchange.
  bool receives_are_posted_ = false;
  std::vector<const std::byte*> received_;  // indexed by message pair
  traffic moved_;
};

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

}  // namespace

std::vector<std::unique_ptr<detail::polled_backend>> make_posted_backends(
    const rank_grid& grid, const std::vector<detail::halo_round>& rounds,
    const detail::backend_options& options, std::optional<std::size_t> piece_bytes) {
  const auto setups = make_round_setups(grid, rounds, options.workers);
  std::vector<std::unique_ptr<posted_backend>> backends;
  for (const auto& setup : setups) backends.push_back(std::make_unique<posted_backend>(setup));
  if (!piece_bytes) piece_bytes = choose_piece_bytes(setups);  // sender and receiver agree
  for (const auto& backend : backends) backend->make_requests(*piece_bytes);
  return {std::make_move_iterator(backends.begin()), std::make_move_iterator(backends.end())};
}

}  // namespace longshore::mpi
