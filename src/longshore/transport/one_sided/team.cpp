#include <longshore/machine/affinity.hpp>
#include <longshore/transport/detail/cpu_share.hpp>
#include <longshore/transport/one_sided/barrier.hpp>
#include <longshore/transport/one_sided/channels.hpp>
#include <longshore/transport/one_sided/control_block.hpp>
#include <longshore/transport/one_sided/segment.hpp>
#include <longshore/transport/one_sided/team.hpp>
#include <longshore/transport/waiter.hpp>

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <numeric>
#include <string_view>
#include <utility>

namespace longshore::one_sided {

// The facts that the constructor of the base class needs.
struct team::layout {
  layout(library& lib, const run_options& options);

  std::unique_ptr<region> control;
  node_map nodes;
  std::vector<int> cpus;
  int ranks_on_host = 0;
  int host_leader = 0;  // the lowest rank whose memory this rank can access
  bool enough_cores = true;
  bool check_calls = false;  // the same on all ranks: true if any rank wants it
};

namespace {

constexpr int runtime_failure_status = 3;

std::size_t staging_bytes_of(int ranks) {
  constexpr std::size_t least_bytes = std::size_t{64} << 10;
  return detail::staging_bytes_for(static_cast<std::size_t>(ranks), least_bytes);
}

// The offset of the slots of posted calls in the control region: behind both staging buffers.
std::size_t call_slots_at(int ranks) {
  return round_up(sizeof(control_block), interference_bytes) + 2 * staging_bytes_of(ranks);
}

control_block& block_in(region& control, int rank) {
  return *reinterpret_cast<control_block*>(control.direct(rank));
}

}  // namespace

std::uint64_t host_hash() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  std::uint64_t hash = 1469598103934665603u;  // FNV-1a
  for (const char c : std::string_view(name.data()))
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return hash;
}

team::layout::layout(library& lib, const run_options& options) {
  const std::size_t control_bytes =
      call_slots_at(lib.size()) + static_cast<std::size_t>(lib.size()) * sizeof(detail::call_slot);
  control = lib.allocate(control_bytes);
  if (!control)
    fail(errc::out_of_memory, "no memory for a control region of {} bytes: {}", control_bytes,
         lib.capacity_text());
  const int rank = lib.rank(), size = lib.size();
  const std::vector<int> allowed = allowed_cpus();
  block_in(*control, rank).allowed_cpus = detail::mask_of(allowed);

  const auto hosts = lib.allgather(host_hash());  // after this all have their control region
  // Ranks of a machine that can access each other's memory are one host; its number is its lowest
  // rank. direct() is called only until it succeeds, because each call costs a connection.
  int first = rank;
  for (int peer = 0; peer < rank && first == rank; ++peer)
    if (hosts[static_cast<std::size_t>(peer)] == hosts[static_cast<std::size_t>(rank)] &&
        control->direct(peer) != nullptr)
      first = peer;
  host_leader = first;
  const auto firsts = lib.allgather(static_cast<std::uint64_t>(first));
  const std::vector<int> host_of(firsts.begin(), firsts.end());
  nodes = node_map(host_of, rank, options.ranks_per_node);

  const auto checks = lib.allgather(options.check_calls ? 1 : 0);
  check_calls =
      std::any_of(checks.begin(), checks.end(), [](std::uint64_t wanted) { return wanted != 0; });

  detail::cpu_mask mask{};
  int local_index = 0;
  for (int peer = 0; peer < size; ++peer) {
    if (hosts[static_cast<std::size_t>(peer)] != hosts[static_cast<std::size_t>(rank)]) continue;
    local_index += peer < rank ? 1 : 0;
    ++ranks_on_host;
    if (control->direct(peer) == nullptr) continue;
    const auto& theirs = block_in(*control, peer).allowed_cpus;
    for (std::size_t i = 0; i < mask.size(); ++i)
      mask[i] = static_cast<unsigned char>(mask[i] | theirs[i]);
  }
  detail::host_share mine = detail::share_of_host(allowed, detail::cpus_in(mask), local_index,
                                                  ranks_on_host, options.pin && options.compact);
  cpus = std::move(mine.cpus);
  enough_cores = mine.enough_cores;
}

std::unique_ptr<team> team::make(library& lib, const run_options& options) {
  return std::unique_ptr<team>(new team(lib, layout(lib, options), options));
}

team::team(library& lib, layout found, const run_options& options)
    : longshore::team(lib.rank(), lib.size(), std::move(found.nodes),
                      {options.timeout_seconds, found.enough_cores}, std::move(found.cpus)),
      library_(lib),
      control_(std::move(found.control)),
      ranks_on_host_(found.ranks_on_host),
      host_leader_(found.host_leader),
      staging_bytes_(staging_bytes_of(lib.size())),
      check_calls_(found.check_calls),
      node_starts_(static_cast<std::size_t>(nodes().node_count()) + 1, 0),
      unwinding_(std::uncaught_exceptions()) {
  for (int peer = 0; peer < size(); ++peer)
    ++node_starts_[static_cast<std::size_t>(nodes().node_of(peer)) + 1];
  std::partial_sum(node_starts_.begin(), node_starts_.end(), node_starts_.begin());
  auto* const slots =
      reinterpret_cast<detail::call_slot*>(control_->direct(my_leader()) + call_slots_at(size()));
  barrier_.emplace(&control_of(my_leader()).barrier, slots, nodes().my_rank_count(),
                   nodes().local_index(rank()));
}

team::~team() {
  if (std::uncaught_exceptions() > unwinding_) {  // the other ranks may never come
    blocks_.reset();
    deferred_frees_.abandon();
    static_cast<void>(control_.release());
    return;
  }
  try {
    blocks_.reset();
    free_deferred();
    checked_barrier({.kind = detail::collective::end_of_team});
    library_.quiet();  // the barrier's signals are put from memory that is freed now
  } catch (const error&) {
    abort_run(failure_text(std::current_exception()));
  }
}

control_block& team::control_of(int rank) const { return block_in(*control_, rank); }
control_block& team::mine() const { return *reinterpret_cast<control_block*>(control_->local()); }

void team::progress() {
  deferred_credits_.send_all();
  library_.progress();
}

void team::checked_barrier(const detail::collective_call& call) {
  checked_barrier(
      call, [](int, int) {}, [] {}, [] {});
}

std::size_t team::next_staging_offset() const noexcept {
  return round_up(sizeof(control_block), interference_bytes) +
         ((barrier_count_ + 1) & 1) * staging_bytes_;
}

detail::call_mismatch team::mismatch_with(int from, bool from_agrees) {
  detail::call_mismatch theirs;
  if (from_agrees) {
    detail::posted_call posted;
    control_->get(from, call_slots_at(size()) + barrier_->offset_in_slot(), &posted, sizeof posted);
    theirs = {true, barrier_->posted(), posted};
  } else {
    control_->get(from,
                  offsetof(control_block, barrier) + offsetof(detail::node_barrier_state, mismatch),
                  &theirs, sizeof theirs);
    theirs.found = true;
  }
  return theirs;
}

region_handle team::make_region(std::size_t bytes) {
  free_deferred();
  constexpr std::size_t most = std::size_t{1} << 62;
  const auto number = [most](std::size_t n) {
    return static_cast<std::int64_t>(std::min(n, most));
  };
  std::array<std::int64_t, 2> all{-number(bytes), number(library_.available_bytes(ranks_on_host_))};
  allreduce(all, reduction::min);
  bytes = static_cast<std::size_t>(-all[0]);
  if (-all[0] > all[1])
    fail(errc::out_of_memory,
         "a rank requests {} bytes of shared memory, and a host has {} for each of its ranks: {}",
         bytes, all[1], library_.capacity_text());
  region_handle made(*this, library_.allocate(bytes));
  if (allreduce_value<int>(made ? 1 : 0, reduction::min) == 1) return made;
  if (made)
    release(made.take(), false);
  else
    barrier_to_free();  // matches release() on the other ranks
  fail(errc::out_of_memory, "a rank requests {} bytes of shared memory: {}", bytes,
       library_.capacity_text());
}

void team::release(std::unique_ptr<region> memory, bool unwinding) {
  deferred_frees_.free_or_defer(*this, std::move(memory), unwinding,
                                [this](region&) { barrier_to_free(); });
}

// When it returns, no operation of any rank is in flight.
void team::barrier_to_free() {
  deferred_credits_.send_all();
  library_.quiet();
  for (waiter wait(*this, "messages to leave"); library_.is_sending(); wait.pause())
    library_.progress();
  checked_barrier({.kind = detail::collective::free});
  for (waiter wait(*this, "messages in flight"); library_.is_receiving(); wait.pause())
    library_.progress();
}

void team::free_deferred() {
  for (auto& memory : deferred_frees_.take()) release(std::move(memory), false);
}

std::unique_ptr<longshore::segment> team::allocate(std::size_t bytes) {
  free_deferred();
  checked_barrier({.kind = detail::collective::allocate});
  const auto smallest = allreduce_value(bytes, reduction::min),
             largest = allreduce_value(bytes, reduction::max);
  if (smallest != largest)
    fail(errc::usage,
         "a segment must have the same size on all ranks: rank {} requests {} bytes, the ranks "
         "request {} to {}",
         rank(), bytes, smallest, largest);
  return std::make_unique<segment>(*this, make_region(std::max<std::size_t>(bytes, 1)), bytes);
}

std::unique_ptr<channel_set> team::open_channels(std::span<const channel_end> to,
                                                 std::span<const channel_end> from, int slots) {
  if (slots < 1) fail(errc::usage, "a channel needs at least 1 slot, not {}", slots);
  free_deferred();
  checked_barrier({.kind = detail::collective::open_channels});
  return std::make_unique<channels>(*this, to, from, slots);
}

void team::abort_run(const std::string& why) {
  if (control_of(host_leader_).failure_reported.exchange(1) == 0)
    fmt::print(stderr, "longshore: rank {} of {}: {}\n", rank(), size(), why);
  std::fflush(nullptr);
  library_.abort(runtime_failure_status);
  std::_Exit(runtime_failure_status);
}

namespace {

[[noreturn]] void end(library& lib, team* mine, const std::string& why) {
  if (mine != nullptr) mine->abort_run(why);
  fmt::print(stderr, "longshore: rank {} of {}: {}\n", lib.rank(), lib.size(), why);
  std::fflush(nullptr);
  lib.abort(runtime_failure_status);
  std::_Exit(runtime_failure_status);
}

}  // namespace

void run(library& lib, const run_options& options,
         const std::function<void(longshore::team&)>& body) {
  std::unique_ptr<team> mine;
  try {
    mine = team::make(lib, options);
    if (options.ranks > 0 && options.ranks != mine->size())
      fail(errc::usage,
           "{} ranks requested, but the launcher started {}: give the number to the launcher",
           options.ranks, mine->size());
    const pinned binding(options.pin && mine->waiting().spin ? mine->cpus().front() : -1);
    body(*mine);
    mine->checked_barrier({.kind = detail::collective::end_of_run});
  } catch (...) {
    end(lib, mine.get(), failure_text(std::current_exception()));
  }
}

}  // namespace longshore::one_sided
