#include <longshore/halo/detail/mpi/posted_carrier.hpp>

#include <longshore/core/bytes.hpp>
#include <longshore/core/error.hpp>
#include <longshore/transport/mpi/team.hpp>

#include <algorithm>
#include <cassert>

namespace longshore::mpi {
namespace {

// From here on a message goes by itself: a copy saved, or a neighbour that can begin earlier, is
// worth more than a message saved.
constexpr std::size_t least_single_bytes = 16384;

}  // namespace

posted_carrier::posted_carrier(const rank_grid& grid, const detail::halo_round& round,
                               const lane& where, tasks* workers)
    : comm_(where.comm),
      dog_(dynamic_cast<team&>(grid.ranks()).watchdog()),
      workers_(workers),
      received_(round.size(), nullptr) {
  for (std::size_t leg = 0; leg < round.size(); ++leg) {
    const auto& [direction, out, in] = round[leg];
    const int tag = where.first_tag + direction.index();
    if (out.exists()) {
      put(outgoing_, out, tag);
      moved_.payload_bytes += out.size_bytes();
      moved_.wire_bytes += out.size_bytes();
      if (!grid.ranks().nodes().is_local(out.peer)) moved_.offnode_bytes += out.size_bytes();
    }
    if (in.exists()) {
      put(incoming_, in, tag);
      received_[leg] = in.dense();
    }
  }
  moved_.messages = outgoing_.size();
  check_sizes(grid);
  make_buffers();
  make_requests();
}

// Both ends see the messages between them in the same order with the same sizes, and so put them
// together alike. Whether a message is dense is each end's own business.
void posted_carrier::put(std::vector<envelope>& all, const detail::halo_message& message, int tag) {
  const bool is_small = message.size_bytes() < least_single_bytes;
  const auto open = std::find_if(all.begin(), all.end(), [&](const envelope& e) {
    return is_small && e.peer == message.peer && e.cells.size_bytes() < least_single_bytes;
  });
  if (open == all.end()) {
    all.push_back({message.peer, tag, detail::packed_message(message), message.dense()});
    return;
  }
  open->cells.append(message);
  open->dense = nullptr;
}

// Each end tells the other the size of every message: MPI would cut one that is too long short by
// an error, and take one that is too short for whole.
void posted_carrier::check_sizes(const rank_grid& grid) {
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
         "along one dimension need equal "
         "extents along the others, and the same fields and widths",
         incoming_[i].peer, expected[i], grid.ranks().rank(), incoming_[i].cells.size_bytes());
  }
}

void posted_carrier::make_buffers() {
  std::size_t bytes = 0;
  for (auto* const ends : {&incoming_, &outgoing_})
    for (const auto& end : *ends)
      if (end.dense == nullptr) bytes += round_up(end.cells.size_bytes(), cache_line_bytes);
  buffers_ = pages(bytes);
  std::byte* next = buffers_.data();
  for (auto* const ends : {&incoming_, &outgoing_})
    for (auto& end : *ends) {
      end.data = end.dense != nullptr ? end.dense : next;
      if (end.dense == nullptr) next += round_up(end.cells.size_bytes(), cache_line_bytes);
    }
}

void posted_carrier::make_requests() {
  requests_.assign(incoming_.size() + outgoing_.size(), MPI_REQUEST_NULL);
  done_.resize(requests_.size());
  is_under_way_.assign(requests_.size(), false);
  auto* request = requests_.data();
  for (const auto& in : incoming_)
    check(MPI_Recv_init(in.data, mpi::count(in.cells.size_bytes(), "a halo message"), MPI_BYTE,
                        in.peer, in.tag, comm_->get(), request++),
          "MPI_Recv_init");
  for (const auto& out : outgoing_) {
    const bool comes_back = std::any_of(incoming_.begin(), incoming_.end(),
                                        [&](const envelope& in) { return in.peer == out.peer; });
    const auto init = comes_back ? &MPI_Send_init : &MPI_Ssend_init;
    check(init(out.data, mpi::count(out.cells.size_bytes(), "a halo message"), MPI_BYTE, out.peer,
               out.tag, comm_->get(), request++),
          "MPI_Send_init");
  }
}

posted_carrier::~posted_carrier() {
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    if (requests_[i] == MPI_REQUEST_NULL) continue;
    if (posted_ && i < incoming_.size() && incoming_[i].dense == nullptr) {
      MPI_Cancel(&requests_[i]);
      MPI_Wait(&requests_[i], MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&requests_[i]);
  }
}

void posted_carrier::start() {
  assert(under_way_ == 0);
  for (std::size_t i = 0; i < incoming_.size(); ++i)
    if (!posted_ || incoming_[i].dense != nullptr) check(MPI_Start(&requests_[i]), "MPI_Start");
  for (std::size_t i = 0; i < outgoing_.size(); ++i) {
    if (outgoing_[i].dense == nullptr) outgoing_[i].cells.pack(outgoing_[i].data, workers_);
    check(MPI_Start(&requests_[incoming_.size() + i]), "MPI_Start");
  }
  posted_ = false;
  missing_ = incoming_.size();
  under_way_ = requests_.size();
  is_under_way_.assign(requests_.size(), true);
}

void posted_carrier::progress() {
  if (under_way_ == 0) return;
  int count = 0;
  check(MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count, done_.data(),
                     MPI_STATUSES_IGNORE),
        "MPI_Testsome");
  for (int i = 0; i < count; ++i) {
    const auto index = static_cast<std::size_t>(done_[i]);
    --under_way_;
    is_under_way_[index] = false;
    if (index >= incoming_.size()) continue;
    --missing_;
    const auto& in = incoming_[index];
    if (in.dense == nullptr) in.cells.unpack(in.data, workers_);
  }
  if (under_way_ > 0) return;
  for (std::size_t i = 0; i < incoming_.size(); ++i)
    if (incoming_[i].dense == nullptr) check(MPI_Start(&requests_[i]), "MPI_Start");
  posted_ = true;
}

// What comes before what leaves: others may depend on it.
int posted_carrier::awaited_peer() const {
  const auto first = static_cast<std::size_t>(
      std::find(is_under_way_.begin(), is_under_way_.end(), true) - is_under_way_.begin());
  if (first == requests_.size()) return -1;
  return first < incoming_.size() ? incoming_[first].peer
                                  : outgoing_[first - incoming_.size()].peer;
}

}  // namespace longshore::mpi
