// The carriers of one-sided communication. Each rank puts its messages into its neighbours' memory.
// The carriers signal in different ways that memory may be written, and that it has been written.
//
// If incoming messages are contiguous and adjacent, they arrive in their memory. Otherwise they
// arrive in a window of buffers.
//
// Cost: one MPI_Put per message. In addition, rma-fence has two collective fences over all ranks,
// rma-pscw a post and a completion per neighbour, and rma-flush two empty messages and a flush per
// neighbour. start() may block until neighbours have started.
#include <longshore/exchange/detail/mpi/mpi_mover.hpp>

#include <longshore/core/bytes.hpp>

#include <algorithm>
#include <set>

namespace longshore::mpi {
namespace {

using detail::carrier;

// Base of these movers: the window and the puts. Some MPI libraries cannot make windows over the
// caller's memory in all cases: Open MPI 4.1 fails for one rank, and if ranks give different
// amounts of memory. Messages then arrive in memory that the MPI library allocates, with the same
// size on all ranks.
class rma_mover : public mpi_mover {
 public:
  rma_mover(const mover_context& context, const exchange_round& round, std::span<const int> tags);
  ~rma_mover() override {
    if (has_ended()) return;
    const auto deadline = limit_time();
    if (window_ != MPI_WIN_NULL) MPI_Win_free(&window_);
  }

 protected:
  [[nodiscard]] MPI_Win window() const noexcept { return window_; }
  // Packs outgoing message i, and puts it into the window of its receiver.
  void put(std::size_t i) {
    const auto calls = sending();
    const auto& out = outgoing_[i];
    pack(out);
    check(MPI_Put(out.data, out.bytes, MPI_BYTE, out.rank, target_offsets_[i], out.bytes, MPI_BYTE,
                  window_),
          "MPI_Put");
  }
  void put_all() {
    for (std::size_t i = 0; i < outgoing_.size(); ++i) put(i);
  }
  // The ranks at the other ends of messages, in ascending order and without repetition. This rank
  // is one of them if it sends messages to itself.
  template <class Message>
  [[nodiscard]] static std::vector<int> peers_of(const std::vector<Message>& messages) {
    std::set<int> ranks;
    for (const auto& message : messages) ranks.insert(message.rank);
    return {ranks.begin(), ranks.end()};
  }

 private:
  [[nodiscard]] std::byte* make_window(const exchange_round& round);
  [[nodiscard]] std::span<std::byte> memory_of_incoming(const exchange_round& round) const;

  MPI_Win window_ = MPI_WIN_NULL;
  std::vector<MPI_Aint> target_offsets_;  // of each outgoing message, in its receiver's window
};

rma_mover::rma_mover(const mover_context& context, const exchange_round& round,
                     std::span<const int> tags)
    : mpi_mover(context, round, tags, buffering::strided_outgoing),
      target_offsets_(outgoing_.size(), 0) {
  const std::byte* const base = make_window(round);
  const auto deadline = limit_time();
  MPI_Win_set_errhandler(window_, MPI_ERRORS_RETURN);
  // Each receiver tells the senders where in its window their messages belong.
  std::vector<MPI_Aint> offsets(incoming_.size());
  std::vector<MPI_Request> requests;
  requests.reserve(outgoing_.size() + incoming_.size() + 1);
  for (std::size_t i = 0; i < outgoing_.size(); ++i)
    check(MPI_Irecv(&target_offsets_[i], 1, MPI_AINT, outgoing_[i].rank, outgoing_[i].tag, comm(),
                    &requests.emplace_back()),
          "MPI_Irecv");
  for (std::size_t i = 0; i < incoming_.size(); ++i) {
    offsets[i] = incoming_[i].data - base;
    check(MPI_Isend(&offsets[i], 1, MPI_AINT, incoming_[i].rank, incoming_[i].tag, comm(),
                    &requests.emplace_back()),
          "MPI_Isend");
  }
  check(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE),
        "MPI_Waitall");
}

// Returns the memory of all incoming messages if each is contiguous and no gaps are between them.
// Otherwise the span is empty.
std::span<std::byte> rma_mover::memory_of_incoming(const exchange_round& round) const {
  std::byte *first = nullptr, *last = nullptr;
  std::size_t bytes = 0;
  for (const auto& in : incoming_) {
    std::byte* const begin = context_.posts_in_place
                                 ? detail::contiguous_memory(context_, round.incoming[in.number])
                                 : nullptr;
    if (begin == nullptr) return {};
    const auto size = static_cast<std::size_t>(in.bytes);
    bytes += size;
    if (first == nullptr || begin < first) first = begin;
    if (last == nullptr || begin + size > last) last = begin + size;
  }
  const auto span = static_cast<std::size_t>(last - first);
  return span == bytes ? std::span(first, span) : std::span<std::byte>{};
}

// The window contains the memory of the incoming messages if this is possible on all ranks.
// Otherwise the MPI library allocates the memory of the window.
std::byte* rma_mover::make_window(const exchange_round& round) {
  const auto memory = memory_of_incoming(round);
  if (team_.allreduce_value<int>(incoming_bytes() == 0 || !memory.empty(), reduction::min) != 0) {
    int code = MPI_SUCCESS;
    {
      const auto deadline = limit_time();
      code = MPI_Win_create(memory.data(), static_cast<MPI_Aint>(memory.size()), 1, MPI_INFO_NULL,
                            comm(), &window_);
    }
    if (team_.allreduce_value<int>(code == MPI_SUCCESS, reduction::min) != 0) {
      receive_in_place(round);
      return memory.data();
    }
    window_ = MPI_WIN_NULL;
  }
  const std::size_t bytes =
      team_.allreduce_value(incoming_bytes() + cache_line_bytes, reduction::max);
  std::byte* base = nullptr;
  const auto deadline = limit_time();
  check(MPI_Win_allocate(static_cast<MPI_Aint>(bytes), 1, MPI_INFO_NULL, comm(), &base, &window_),
        "MPI_Win_allocate");
  receive_into(base);
  return base;
}

// MPI_Win_fence, puts, MPI_Win_fence. A test blocks like a wait.
class rma_fence_mover final : public rma_mover {
 public:
  using rma_mover::rma_mover;

 private:
  void start_calls() override {
    const auto deadline = limit_time();
    check(MPI_Win_fence(MPI_MODE_NOPRECEDE, window()), "MPI_Win_fence");
    put_all();
  }
  [[nodiscard]] bool test_calls() override {
    const auto deadline = limit_time();
    wait_calls();
    return true;
  }
  void wait_calls() override {
    check(MPI_Win_fence(MPI_MODE_NOSUCCEED, window()), "MPI_Win_fence");
  }
};

MPI_Group group_of(MPI_Comm comm, const std::vector<int>& ranks) {
  MPI_Group all_ranks = MPI_GROUP_NULL, group = MPI_GROUP_NULL;
  check(MPI_Comm_group(comm, &all_ranks), "MPI_Comm_group");
  check(MPI_Group_incl(all_ranks, static_cast<int>(ranks.size()), ranks.data(), &group),
        "MPI_Group_incl");
  MPI_Group_free(&all_ranks);
  return group;
}

// A group of no ranks is the predefined MPI_GROUP_EMPTY, which must not be freed.
void free_group(MPI_Group& group) {
  if (group != MPI_GROUP_NULL && group != MPI_GROUP_EMPTY) MPI_Group_free(&group);
}

// MPI_Win_post and MPI_Win_start, puts, MPI_Win_complete and MPI_Win_wait.
class rma_pscw_mover final : public rma_mover {
 public:
  rma_pscw_mover(const mover_context& context, const exchange_round& round,
                 std::span<const int> tags)
      : rma_mover(context, round, tags),
        sources_(group_of(comm(), peers_of(incoming_))),
        destinations_(group_of(comm(), peers_of(outgoing_))) {}
  ~rma_pscw_mover() override {
    if (has_ended()) return;
    free_group(sources_);
    free_group(destinations_);
  }

 private:
  void start_calls() override {
    const auto deadline = limit_time();
    check(MPI_Win_post(sources_, 0, window()), "MPI_Win_post");
    check(MPI_Win_start(destinations_, 0, window()), "MPI_Win_start");
    put_all();
    check(MPI_Win_complete(window()), "MPI_Win_complete");
  }
  [[nodiscard]] bool test_calls() override {
    int is_complete = 0;
    check(MPI_Win_test(window(), &is_complete), "MPI_Win_test");
    return is_complete != 0;
  }
  void wait_calls() override { check(MPI_Win_wait(window()), "MPI_Win_wait"); }

  MPI_Group sources_ = MPI_GROUP_NULL, destinations_ = MPI_GROUP_NULL;
};

// MPI_Win_lock_all once. Then each exchange has an empty message "memory is writable", puts,
// MPI_Win_flush, and an empty message "memory is written" per neighbour. The two kinds of empty
// messages have different tags, because a rank may send either kind first.
class rma_flush_mover final : public rma_mover {
 public:
  rma_flush_mover(const mover_context& context, const exchange_round& round,
                  std::span<const int> tags)
      : rma_mover(context, round, tags),
        sources_(peers_of(incoming_)),
        destinations_(peers_of(outgoing_)),
        writable_tag_(tags[0]),
        written_tag_(tags[1]) {
    check(MPI_Win_lock_all(MPI_MODE_NOCHECK, window()), "MPI_Win_lock_all");
  }
  ~rma_flush_mover() override {
    if (!has_ended()) MPI_Win_unlock_all(window());
  }

 private:
  void start_calls() override;
  [[nodiscard]] bool test_calls() override {
    if (!test_all(requests_)) return false;
    check(MPI_Win_sync(window()), "MPI_Win_sync");
    return true;
  }
  void wait_calls() override {
    check(MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE),
          "MPI_Waitall");
    check(MPI_Win_sync(window()), "MPI_Win_sync");
  }

  std::vector<int> sources_, destinations_;
  int writable_tag_, written_tag_;
  std::vector<MPI_Request> requests_;  // of the empty messages
};

void rma_flush_mover::start_calls() {
  const auto deadline = limit_time();
  requests_.clear();
  for (const int source : sources_)
    check(MPI_Irecv(nullptr, 0, MPI_BYTE, source, written_tag_, comm(), &requests_.emplace_back()),
          "MPI_Irecv");
  for (const int source : sources_)
    check(MPI_Isend(nullptr, 0, MPI_BYTE, source, writable_tag_, comm(), &requests_.emplace_back()),
          "MPI_Isend");
  for (const int destination : destinations_) {
    check(MPI_Recv(nullptr, 0, MPI_BYTE, destination, writable_tag_, comm(), MPI_STATUS_IGNORE),
          "MPI_Recv");
    for (std::size_t i = 0; i < outgoing_.size(); ++i)
      if (outgoing_[i].rank == destination) put(i);
    check(MPI_Win_flush(destination, window()), "MPI_Win_flush");
    check(MPI_Isend(nullptr, 0, MPI_BYTE, destination, written_tag_, comm(),
                    &requests_.emplace_back()),
          "MPI_Isend");
  }
}

}  // namespace

made_mover make_rma_mover(carrier by, const mover_context& context, const exchange_round& round,
                          std::span<const int> tags) {
  switch (by) {
    case carrier::mpi_rma_pscw: return std::make_unique<rma_pscw_mover>(context, round, tags);
    case carrier::mpi_rma_flush: return std::make_unique<rma_flush_mover>(context, round, tags);
    default: return std::make_unique<rma_fence_mover>(context, round, tags);
  }
}

}  // namespace longshore::mpi
