#include <longshore/halo/detail/mpi/posted_backend.hpp>

#include <longshore/core/bytes.hpp>
#include <longshore/core/error.hpp>
#include <longshore/transport/mpi/team.hpp>

#include <algorithm>
#include <cassert>

namespace longshore::mpi {
namespace {

// Messages of at least this size are not joined: a saved copy, or an earlier start of the receiver,
// gains more than a saved message.
constexpr std::size_t least_single_bytes = 16384;

}  // namespace

posted_backend::posted_backend(const rank_grid& grid, const detail::halo_round& round,
                               const round_communicator& tags, tasks* workers)
    : comm_(tags.comm),
      dog_(dynamic_cast<team&>(grid.ranks()).watchdog()),
      workers_(workers),
      received_(round.size(), nullptr) {
  for (std::size_t pair = 0; pair < round.size(); ++pair) {
    const auto& [direction, out, in] = round[pair];
    const int tag = tags.first_tag + direction.index();
    if (out.exists()) {
      join(outgoing_, out, tag);
      moved_.payload_bytes += out.size_bytes();
      moved_.wire_bytes += out.size_bytes();
      if (!grid.ranks().nodes().is_local(out.peer)) moved_.offnode_bytes += out.size_bytes();
    }
    if (in.exists()) {
      join(incoming_, in, tag);
      received_[pair] = in.contiguous();
    }
  }
  moved_.messages = outgoing_.size();
  check_sizes(grid);
  make_buffers();
  make_requests();
}

// Both ends see the messages between them in the same order with the same sizes, and so join the
// same ones. A message may be contiguous at one end only.
void posted_backend::join(std::vector<joined_message>& all, const detail::halo_message& message,
                          int tag) {
  const bool is_small = message.size_bytes() < least_single_bytes;
  const auto open = std::find_if(all.begin(), all.end(), [&](const joined_message& e) {
    return is_small && e.peer == message.peer && e.cells.size_bytes() < least_single_bytes;
  });
  if (open == all.end()) {
    all.push_back({message.peer, tag, detail::packed_message(message), message.contiguous()});
    return;
  }
  open->cells.append(message);
  open->contiguous = nullptr;
}

// Each end sends the other the size of every message. MPI reports a message that is too long as a
// truncation error, and accepts one that is too short.
void posted_backend::check_sizes(const rank_grid& grid) {
  const watchdog::section limit(dog_, "a halo plan");
  std::vector<std::uint64_t> sent, expected(incoming_.size());
  std::vector<MPI_Request> requests;
  for (std::size_t i = 0; i < incoming_.size(); ++i)
    check(MPI_Irecv(&expected[i], 1, MPI_UINT64_T, incoming_[i].peer, incoming_[i].tag,
                    comm_->get(), &requests.emplace_back()),
          "MPI_Irecv");
  for (const auto& out : outgoing_) sent.push_back(out.cells.size_bytes());
  for (std::size_t i = 0; i < outgoing_.size(); ++i)
    check(MPI_Isend(&sent[i], 1, MPI_UINT64_T, outgoing_[i].peer, outgoing_[i].tag, comm_->get(),
                    &requests.emplace_back()),
          "MPI_Isend");
  check(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE),
        "MPI_Waitall");
  for (std::size_t i = 0; i < incoming_.size(); ++i) {
    if (expected[i] == incoming_[i].cells.size_bytes()) continue;
    fail(errc::usage,
         "rank {} sends {} bytes of halo to rank {}, which expects {}: blocks that are neighbours "
         "along one dimension need equal extents along the others, and the same fields and widths",
         incoming_[i].peer, expected[i], grid.ranks().rank(), incoming_[i].cells.size_bytes());
  }
}

void posted_backend::make_buffers() {
  std::size_t bytes = 0;
  for (auto* const ends : {&incoming_, &outgoing_})
    for (const auto& end : *ends)
      if (end.contiguous == nullptr) bytes += round_up(end.cells.size_bytes(), cache_line_bytes);
  buffers_ = pages(bytes);
  std::byte* next = buffers_.data();
  for (auto* const ends : {&incoming_, &outgoing_})
    for (auto& end : *ends) {
      end.data = end.contiguous != nullptr ? end.contiguous : next;
      if (end.contiguous == nullptr) next += round_up(end.cells.size_bytes(), cache_line_bytes);
    }
}

void posted_backend::make_requests() {
  requests_.assign(incoming_.size() + outgoing_.size(), MPI_REQUEST_NULL);
  done_.resize(requests_.size());
  is_in_flight_.assign(requests_.size(), false);
  auto* request = requests_.data();
  for (const auto& in : incoming_)
    check(MPI_Recv_init(in.data, mpi::count(in.cells.size_bytes(), "a halo message"), MPI_BYTE,
                        in.peer, in.tag, comm_->get(), request++),
          "MPI_Recv_init");
  for (const auto& out : outgoing_) {
    const bool is_answered =
        std::any_of(incoming_.begin(), incoming_.end(),
                    [&](const joined_message& in) { return in.peer == out.peer; });
    const auto init = is_answered ? &MPI_Send_init : &MPI_Ssend_init;
    check(init(out.data, mpi::count(out.cells.size_bytes(), "a halo message"), MPI_BYTE, out.peer,
               out.tag, comm_->get(), request++),
          "MPI_Send_init");
  }
}

posted_backend::~posted_backend() {
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    if (requests_[i] == MPI_REQUEST_NULL) continue;
    if (posted_ && i < incoming_.size() && incoming_[i].contiguous == nullptr) {
      MPI_Cancel(&requests_[i]);
      MPI_Wait(&requests_[i], MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&requests_[i]);
  }
}

void posted_backend::start() {
  assert(in_flight_ == 0);
  for (std::size_t i = 0; i < incoming_.size(); ++i)
    if (!posted_ || incoming_[i].contiguous != nullptr)
      check(MPI_Start(&requests_[i]), "MPI_Start");
  for (std::size_t i = 0; i < outgoing_.size(); ++i) {
    if (outgoing_[i].contiguous == nullptr) outgoing_[i].cells.pack(outgoing_[i].data, workers_);
    check(MPI_Start(&requests_[incoming_.size() + i]), "MPI_Start");
  }
  posted_ = false;
  missing_ = incoming_.size();
  in_flight_ = requests_.size();
  is_in_flight_.assign(requests_.size(), true);
}

void posted_backend::progress() {
  if (in_flight_ == 0) return;
  int count = 0;
  check(MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count, done_.data(),
                     MPI_STATUSES_IGNORE),
        "MPI_Testsome");
  for (int i = 0; i < count; ++i) {
    const auto index = static_cast<std::size_t>(done_[i]);
    --in_flight_;
    is_in_flight_[index] = false;
    if (index >= incoming_.size()) continue;
    --missing_;
    const auto& in = incoming_[index];
    if (in.contiguous == nullptr) in.cells.unpack(in.data, workers_);
  }
  if (in_flight_ > 0) return;
  for (std::size_t i = 0; i < incoming_.size(); ++i)
    if (incoming_[i].contiguous == nullptr) check(MPI_Start(&requests_[i]), "MPI_Start");
  posted_ = true;
}

// Receives come before sends, because other rounds may depend on them.
int posted_backend::awaited_peer() const {
  const auto first = static_cast<std::size_t>(
      std::find(is_in_flight_.begin(), is_in_flight_.end(), true) - is_in_flight_.begin());
  if (first == requests_.size()) return -1;
  return first < incoming_.size() ? incoming_[first].peer
                                  : outgoing_[first - incoming_.size()].peer;
}

}  // namespace longshore::mpi
