// Barriers and collectives over MPI, and the making of teams. Collectives use nonblocking MPI
// calls, so that waits have a deadline. On one node, short collectives use shared memory instead of
// MPI.
#include <longshore/core/clock.hpp>
#include <longshore/core/environment.hpp>
#include <longshore/core/failing_exit.hpp>
#include <longshore/transport/detail/channel_slots.hpp>
#include <longshore/transport/detail/dissemination.hpp>
#include <longshore/transport/detail/for_each_piece.hpp>
#include <longshore/transport/mpi/detail/channels.hpp>
#include <longshore/transport/mpi/detail/layout.hpp>
#include <longshore/transport/mpi/detail/segment.hpp>
#include <longshore/transport/mpi/detail/team.hpp>
#include <longshore/transport/waiter.hpp>

#include <dlfcn.h>
#include <fmt/core.h>
#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>

namespace longshore::mpi {
namespace {

constexpr std::size_t tag_block_count = 511;
// The root of a reduction gathers the values of all ranks in pieces of this length.
constexpr std::size_t max_gathered_bytes = std::size_t{16} << 20;
// No message on the communicator of barriers has this tag. It is the largest tag that MPI
// guarantees.
constexpr int unused_tag = 32767;

MPI_Op op_of(reduction operation) {
  switch (operation) {
    case reduction::sum: return MPI_SUM;
    case reduction::min: return MPI_MIN;
    case reduction::max: return MPI_MAX;
  }
  return MPI_OP_NULL;
}

// The outgoing or incoming counts of an alltoallv, and their displacements, as ints for MPI.
struct block_list {
  block_list(std::span<const std::size_t> sizes) : counts(sizes.size()), starts(sizes.size()) {
    std::size_t start = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      counts[i] = count(sizes[i], "MPI_Alltoallv");
      starts[i] = count(start, "MPI_Alltoallv");
      start += sizes[i];
    }
  }
  std::vector<int> counts, starts;
};

}  // namespace

MPI_Comm communicator_of(const longshore::team& team) noexcept {
  const auto* over_mpi = dynamic_cast<const mpi::team*>(&team);
  return over_mpi == nullptr ? MPI_COMM_NULL : over_mpi->comm();
}

namespace {

// Waits for the request of a collective call that makes a team.
void wait_within(MPI_Comm ranks, MPI_Request request, double timeout_seconds) {
  const double began = monotonic_seconds();
  for (int done = 0;;) {
    check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done != 0) return;
    if (timeout_seconds > 0 && monotonic_seconds() - began > timeout_seconds) {
      int rank = 0;
      MPI_Comm_rank(ranks, &rank);
      fail(errc::timeout,
           "rank {} waited {} s for the other ranks to make a team (timeout_seconds, "
           "LONGSHORE_TIMEOUT)",
           rank, timeout_seconds);
    }
    sched_yield();
  }
}

// The duplicate of a communicator, within a deadline; the remaining calls that make a team block.
// The barrier comes first: a rank that has given up has not begun the duplicate. So a late rank
// gives up as well, instead of waiting in a blocking call for ever.
communicator duplicate_within(MPI_Comm ranks, double timeout_seconds) {
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Ibarrier(ranks, &request), "MPI_Ibarrier");
  wait_within(ranks, request, timeout_seconds);
  // On the heap, because MPI may store the communicator after a timeout. Then it is leaked.
  auto copy = std::make_unique<MPI_Comm>(MPI_COMM_NULL);
  check(MPI_Comm_idup(ranks, copy.get(), &request), "MPI_Comm_idup");
  try {
    wait_within(ranks, request, timeout_seconds);
  } catch (...) {
    static_cast<void>(copy.release());
    throw;
  }
  MPI_Comm_set_errhandler(*copy, MPI_ERRORS_RETURN);
  return communicator(*copy);
}

}  // namespace

std::unique_ptr<team> team::make(MPI_Comm ranks, const run_options& given) {
  const run_options options = with_environment(given);
  communicator duplicate = duplicate_within(ranks, *options.timeout_seconds);
  layout facts(duplicate, options);
  return std::unique_ptr<team>(
      new team(std::move(duplicate), std::move(facts), *options.timeout_seconds));
}

team::team(communicator ranks, layout facts, double timeout_seconds)
    : longshore::team(ranks.rank(), ranks.size(), std::move(facts.nodes),
                      {timeout_seconds, facts.enough_cores}, std::move(facts.cpus)),
      ranks_(std::move(ranks)),
      channel_comm_(communicator::duplicate(ranks_.get())),
      host_(std::move(facts.host)),
      node_(communicator::split(ranks_.get(), nodes().my_node())),
      host_memory_(std::move(facts.host_memory)),
      staging_bytes_(host_layout(host_.size()).staging_bytes),
      check_calls_(facts.check_calls),
      watchdog_(rank(), timeout_seconds),
      host_eager_bytes_(facts.host_eager_bytes),
      tag_blocks_(tag_block_count, false),
      ranks_on_host_(facts.ranks_on_host),
      unwinding_(std::uncaught_exceptions()) {
  const host_layout offsets(host_.size());
  std::byte* const memory = host_memory_->part(0);
  host_state_ = reinterpret_cast<host_state*>(memory);
  // The ranks of a node are consecutive on their host, so their entries follow the leader's.
  int leader_index = host_.rank();
  check(MPI_Bcast(&leader_index, 1, MPI_INT, 0, node_.get()), "MPI_Bcast");
  auto* const barriers =
      reinterpret_cast<detail::node_barrier_state*>(memory + offsets.barriers_offset);
  auto* const slots = reinterpret_cast<detail::call_slot*>(memory + offsets.call_slots_offset);
  barrier_.emplace(&barriers[leader_index], &slots[leader_index], nodes().ranks_on_my_node(),
                   nodes().local_index(rank()));
  staging_ = memory + offsets.staging_offset + leader_index * 2 * staging_bytes_;
}

team::~team() {
  // During an exception the other ranks may never get here.
  if (has_ended() || std::uncaught_exceptions() > unwinding_) {
    deferred_frees_.abandon();
    return;
  }
  try {
    free_deferred();
    checked_barrier({collective::end_of_team});
  } catch (const error&) {
    abort_run(failure_text(std::current_exception()));
  }
}

std::string team::library_version() const {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(text, &length);
  const std::string_view whole(text);
  return std::string(whole.substr(0, whole.find_first_of(",\n\r\0")));
}

// Open MPI and MPICH have functions that tell it, as extensions. Other libraries may have other ones.
bool team::library_takes_device_memory(std::string_view driver) const {
  if (const auto given = environment_integer("LONGSHORE_MPI_DEVICE_MEMORY", 0, 1))
    return *given != 0;
  const bool is_hip = driver == "hip";
  const char* const of_open_mpi = is_hip ? "MPIX_Query_rocm_support" : "MPIX_Query_cuda_support";
  if (auto* const query = ::dlsym(RTLD_DEFAULT, of_open_mpi))
    return reinterpret_cast<int (*)()>(query)() == 1;
  const int kind = is_hip ? 2 : 0;  // MPIX_GPU_SUPPORT_HIP, MPIX_GPU_SUPPORT_CUDA
  int takes = 0;
  if (auto* const query = ::dlsym(RTLD_DEFAULT, "MPIX_GPU_query_support"))
    if (reinterpret_cast<int (*)(int, int*)>(query)(kind, &takes) != MPI_SUCCESS) takes = 0;
  return takes != 0;
}

void team::progress() {
  check_not_ended(*this, "a wait");
  // MPI makes progress only in MPI calls, and a peer may wait for progress while this rank polls
  // memory. This also holds on one node: for collectives, and for messages of the program itself.
  // No message has the tag, because a probe that finds a message returns without making progress.
  int flag = 0;
  check(MPI_Iprobe(MPI_ANY_SOURCE, unused_tag, ranks_.get(), &flag, MPI_STATUS_IGNORE),
        "MPI_Iprobe");
}

void team::complete(MPI_Request& request, const char* operation) {
  waiter wait(*this, operation);
  for (int done = 0;; wait.pause()) {
    check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), operation);
    if (done != 0) return;
  }
}

template <class SendWith, class NodeArrived, class AllArrived>
void team::checked_barrier(const collective_call& call, const SendWith& /*send_with*/,
                           const NodeArrived& when_node_arrived,
                           const AllArrived& when_all_arrived) {
  ++barrier_count_;
  barrier_->wait(*this, call, [&](call_mismatch& mismatch) {
    if (!mismatch.found) when_node_arrived();
    if (nodes().node_count() > 1) barrier_between_nodes(call, mismatch);
    if (!mismatch.found) when_all_arrived();
  });
}

void team::checked_barrier(const collective_call& call) {
  check_not_ended(*this, name_of(call.kind));
  checked_barrier(
      call, [](int, int) {}, [] {}, [] {});
}

// The barrier does not use MPI_Barrier, which has no deadline. MPI_Ibarrier is wrong in a simulator
// under which this transport must run.
template <class Message, class Update>
void team::disseminate_messages(const collective_call& call, std::array<Message, 2>& pair,
                                const Update& update) {
  Message &outgoing = pair[0], &incoming = pair[1];  // clang 14 captures no structured bindings
  detail::disseminate(nodes(), [&](int round, int to, int from) {
    MPI_Request sent = MPI_REQUEST_NULL, received = MPI_REQUEST_NULL;
    check(MPI_Irecv(&incoming, sizeof incoming, MPI_BYTE, from, round, ranks_.get(), &received),
          "MPI_Irecv");
    check(MPI_Isend(&outgoing, sizeof outgoing, MPI_BYTE, to, round, ranks_.get(), &sent),
          "MPI_Isend");
    complete(received, name_of(call.kind));
    complete(sent, name_of(call.kind));
    update(outgoing, incoming);
  });
}

// First dissemination: a node sends the fingerprint of its call, or 0 after it has received a
// different fingerprint or 0. So after the last round each node knows whether all calls are equal.
// If calls differ, a second dissemination finds two ranks with different calls.
void team::barrier_between_nodes(const collective_call& call, call_mismatch& mismatch) {
  if (!messages_) messages_ = std::make_unique<node_messages>();
  try {
    const std::uint64_t agreed = call.fingerprint() + 1;  // not 0, which stands for a mismatch
    auto& fingerprints = messages_->fingerprints;
    fingerprints[0] = mismatch.found ? 0 : agreed;
    disseminate_messages(call, fingerprints, [&](std::uint64_t& outgoing, std::uint64_t incoming) {
      if (outgoing != incoming) outgoing = 0;
    });
    if (fingerprints[0] == agreed) return;
    auto& calls = messages_->calls;
    calls[0] = {barrier_->posted(), mismatch};
    disseminate_messages(call, calls, [](call_message& outgoing, const call_message& incoming) {
      if (!outgoing.mismatch.found) outgoing.mismatch = incoming.mismatch;
      outgoing.mismatch.compare(outgoing.posted, incoming.posted);
    });
    mismatch = calls[0].mismatch;
  } catch (...) {
    static_cast<void>(messages_.release());  // leaked, because requests may still use the messages
    throw;
  }
}

void team::broadcast(std::span<std::byte> data, int root) {
  check_not_ended(*this, name_of(collective::broadcast));
  detail::check_root(collective::broadcast, root, size());
  if (fits_staging(data.size())) {
    detail::shared_memory_collectives(*this).broadcast(data, root);
    return;
  }
  barrier_if_checked({collective::broadcast, {}, root, data.size()});
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Ibcast(data.data(), count(data.size(), "MPI_Ibcast"), MPI_BYTE, root, ranks_.get(),
                   &request),
        "MPI_Ibcast");
  complete(request, "a broadcast");
}

void team::allgather(std::span<const std::byte> data, std::span<std::byte> gathered) {
  check_not_ended(*this, name_of(collective::allgather));
  if (fits_staging(gathered.size())) {
    detail::shared_memory_collectives(*this).allgather(data, gathered);
    return;
  }
  barrier_if_checked({collective::allgather, {}, 0, data.size()});
  MPI_Request request = MPI_REQUEST_NULL;
  const int bytes = count(data.size(), "MPI_Iallgather");
  check(MPI_Iallgather(data.data(), bytes, MPI_BYTE, gathered.data(), bytes, MPI_BYTE, ranks_.get(),
                       &request),
        "MPI_Iallgather");
  complete(request, "an allgather");
}

void team::alltoall(std::span<const std::byte> outgoing, std::span<std::byte> incoming) {
  check_not_ended(*this, name_of(collective::alltoall));
  if (fits_staging(outgoing.size())) {
    detail::shared_memory_collectives(*this).alltoall(outgoing, incoming);
    return;
  }
  const std::size_t block = outgoing.size() / size();
  const collective_call call{collective::alltoall, {}, 0, block};
  barrier_if_checked(call);
  if (goes_by_node(outgoing.size())) {
    alltoall_by_node(call, outgoing, incoming);
    return;
  }
  MPI_Request request = MPI_REQUEST_NULL;
  const int bytes = count(block, "MPI_Ialltoall");
  check(MPI_Ialltoall(outgoing.data(), bytes, MPI_BYTE, incoming.data(), bytes, MPI_BYTE,
                      ranks_.get(), &request),
        "MPI_Ialltoall");
  complete(request, "an alltoall");
}

// Compares the counts of senders and receivers. With different counts MPI would wait, or leave the
// rest of a block unchanged.
void team::check_blocks(std::span<const std::size_t> outgoing_counts,
                        std::span<const std::size_t> incoming_counts) {
  std::vector<std::size_t> sent(incoming_counts.size());
  alltoall(std::as_bytes(outgoing_counts), std::as_writable_bytes(std::span(sent)));
  struct count_mismatch {
    std::int64_t rank, peer = -1;  // the peer is -1 if all counts of the rank match
    std::size_t expected = 0, sent = 0;
  } own{rank()};
  const auto [wrong, expected] = std::mismatch(sent.begin(), sent.end(), incoming_counts.begin());
  if (wrong != sent.end()) own = {rank(), wrong - sent.begin(), *expected, *wrong};
  for (const auto& mismatch : allgather_value(own))
    if (mismatch.peer >= 0)
      detail::fail_count_mismatch(static_cast<int>(mismatch.rank), static_cast<int>(mismatch.peer),
                                  mismatch.expected, mismatch.sent);
}

void team::alltoallv(const std::byte* outgoing, std::span<const std::size_t> outgoing_counts,
                     std::byte* incoming, std::span<const std::size_t> incoming_counts,
                     std::size_t element_bytes) {
  check_not_ended(*this, name_of(collective::alltoallv));
  barrier_if_checked({collective::alltoallv, {}, 0, element_bytes});
  if (check_calls_) check_blocks(outgoing_counts, incoming_counts);
  const block_list out(outgoing_counts), in(incoming_counts);
  MPI_Datatype element = MPI_DATATYPE_NULL;
  check(MPI_Type_contiguous(count(element_bytes, "MPI_Type_contiguous"), MPI_BYTE, &element),
        "MPI_Type_contiguous");
  check(MPI_Type_commit(&element), "MPI_Type_commit");
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Ialltoallv(outgoing, out.counts.data(), out.starts.data(), element, incoming,
                       in.counts.data(), in.starts.data(), element, ranks_.get(), &request),
        "MPI_Ialltoallv");
  complete(request, "an alltoallv");
  MPI_Type_free(&element);
}

template <class T>
void team::allreduce_values(std::span<T> values, reduction operation, detail::collective kind,
                            MPI_Datatype type) {
  check_not_ended(*this, name_of(kind));
  if (fits_staging(2 * values.size_bytes())) {  // the block of the node, and the result
    detail::shared_memory_collectives(*this).allreduce(values, operation, kind);
    return;
  }
  barrier_if_checked({kind, operation, 0, values.size()});
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Iallreduce(MPI_IN_PLACE, values.data(), count(values.size(), "MPI_Iallreduce"), type,
                       op_of(operation), ranks_.get(), &request),
        "MPI_Iallreduce");
  complete(request, "an allreduce");
}

void team::allreduce(std::span<std::int64_t> values, reduction operation) {
  allreduce(values, operation, collective::allreduce_integers);
}

void team::allreduce(std::span<std::int64_t> values, reduction operation, collective kind) {
  allreduce_values(values, operation, kind, MPI_INT64_T);
}

void team::allreduce(std::span<double> values, reduction operation) {
  allreduce_values(values, operation, collective::allreduce_numbers, MPI_DOUBLE);
}

// MPI_Reduce is free to combine in any order. So the root gathers the values, and combines them in
// the order of ranks.
template <class T>
void team::reduce_values(std::span<T> values, const collective_call& call, MPI_Datatype type) {
  check_not_ended(*this, name_of(call.kind));
  detail::check_root(call.kind, call.root, size());
  const auto ranks = static_cast<std::size_t>(size());
  if (fits_staging(ranks * values.size_bytes())) {
    detail::shared_memory_collectives(*this).reduce(values, call.operation, call.root, call.kind);
    return;
  }
  barrier_if_checked(call);
  const bool is_root = rank() == call.root;
  const std::size_t longest =
      std::min(values.size(), std::max<std::size_t>(max_gathered_bytes / sizeof(T) / ranks, 1));
  auto gathered = std::make_unique<std::vector<T>>(is_root ? longest * ranks : 0);
  try {
    detail::for_each_piece(values.size(), std::max<std::size_t>(longest, 1),
                           [&](std::size_t first, std::size_t n) {
                             T* const piece = values.data() + first;
                             MPI_Request request = MPI_REQUEST_NULL;
                             const int items = count(n, "MPI_Igather");
                             check(MPI_Igather(piece, items, type, gathered->data(), items, type,
                                               call.root, ranks_.get(), &request),
                                   "MPI_Igather");
                             complete(request, "a reduction");
                             if (!is_root) return;
                             std::copy_n(gathered->data(), n, piece);
                             for (std::size_t r = 1; r < ranks; ++r) {
                               const T* const of_rank = gathered->data() + r * n;
                               for (std::size_t i = 0; i < n; ++i)
                                 piece[i] = combined(piece[i], of_rank[i], call.operation);
                             }
                           });
  } catch (...) {
    static_cast<void>(gathered.release());  // leaked, because a request may still use it
    throw;
  }
}

void team::reduce(std::span<std::int64_t> values, reduction operation, int root) {
  reduce_values(values, {collective::reduce_integers, operation, root, values.size()}, MPI_INT64_T);
}

void team::reduce(std::span<double> values, reduction operation, int root) {
  reduce_values(values, {collective::reduce_numbers, operation, root, values.size()}, MPI_DOUBLE);
}

std::unique_ptr<longshore::segment> team::allocate(std::size_t bytes) {
  free_deferred();
  checked_barrier({collective::allocate});
  const std::size_t largest = agree_on_memory(segment_memory::sharing_ranks(*this), bytes, 0),
                    smallest = allreduce_value(bytes, reduction::min);
  if (smallest != largest) detail::fail_size_mismatch(rank(), bytes, smallest, largest);
  return std::make_unique<segment>(*this, bytes);
}

std::unique_ptr<channel_set> team::open_channels(std::span<const channel_end> to,
                                                 std::span<const channel_end> from, int slots) {
  const auto senders = detail::with_slots(to, slots), receivers = detail::with_slots(from, slots);
  free_deferred();
  if (nodes().node_count() > 1) checked_barrier({collective::open_channels});
  return std::make_unique<channels>(*this, senders, receivers);
}

int team::take_tag_block() {
  static_assert(tag_block_count * tags_per_block <= unused_tag, "MPI guarantees tags up to 32767");
  for (std::size_t block = 0; block < tag_blocks_.size(); ++block) {
    if (tag_blocks_[block]) continue;
    tag_blocks_[block] = true;
    return static_cast<int>(block);
  }
  fail(errc::unsupported, "{} channel sets are open, which is the most: close some first",
       tag_blocks_.size());
}

int team::take_message_tag() {
  constexpr int first_tag = 64;  // the barrier's tags are the numbers of its rounds
  const int tags = unused_tag - first_tag;
  if (held_tags_.size() >= static_cast<std::size_t>(tags))
    fail(errc::unsupported, "{} plans hold a tag of MPI, which is the most: destroy some first",
         tags);
  while (true) {
    const int tag = first_tag + message_tags_taken_;
    message_tags_taken_ = (message_tags_taken_ + 1) % tags;
    if (held_tags_.count(tag) == 0) return tag;
  }
}

int team::hold_message_tag() {
  const int tag = take_message_tag();
  held_tags_.insert(tag);
  return tag;
}

void team::report_failure(std::string_view failure) const {
  if (host_state_->failure_reported.exchange(1) == 0)
    fmt::print(stderr, "longshore: rank {} of {}: {}\n", rank(), size(), failure);
}

void team::abort_run(const std::string& failure) {
  report_failure(failure);
  std::fflush(nullptr);
  MPI_Abort(ranks_.get(), runtime_failure_status);
  std::_Exit(runtime_failure_status);
}

}  // namespace longshore::mpi
