// Makes the team of a one-sided library, after finding out which ranks share a host and its memory.
// Allocates and frees regions with checks on all ranks. Runs a program to its end or first failure.
#include <longshore/core/failing_exit.hpp>
#include <longshore/core/random.hpp>
#include <longshore/machine/affinity.hpp>
#include <longshore/transport/detail/channel_slots.hpp>
#include <longshore/transport/detail/cpu_share.hpp>
#include <longshore/transport/one_sided/detail/barrier.hpp>
#include <longshore/transport/one_sided/detail/channels.hpp>
#include <longshore/transport/one_sided/detail/control_block.hpp>
#include <longshore/transport/one_sided/detail/segment.hpp>
#include <longshore/transport/one_sided/detail/team.hpp>
#include <longshore/transport/waiter.hpp>

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <numeric>
#include <utility>

namespace longshore::one_sided {

// Facts that the constructor of the base class needs.
struct team::layout {
  layout(library& lib, const run_options& options);

  std::unique_ptr<region> control;
  node_map nodes;
  std::vector<int> cpus;
  int ranks_on_host = 0;
  int host_leader = 0;  // the lowest rank whose memory this rank can access
  bool enough_cores = true;
  bool check_calls = false;  // whether any rank has the option; the same on all ranks
};

namespace {

std::size_t staging_bytes_of(int ranks) {
  constexpr std::size_t min_bytes = std::size_t{64} << 10;
  return detail::staging_bytes_for(ranks, min_bytes);
}

// The offset of the slots of posted calls in the control region: behind both staging buffers.
std::size_t call_slots_offset(int ranks) {
  return round_up(sizeof(control_block), interference_bytes) + 2 * staging_bytes_of(ranks);
}

control_block& block_in(region& control, int rank) {
  return *reinterpret_cast<control_block*>(control.direct(rank));
}

}  // namespace

std::uint64_t host_hash() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return hash_of(name.data());
}

team::layout::layout(library& lib, const run_options& options) {
  const std::size_t control_bytes =
      call_slots_offset(lib.size()) + lib.size() * sizeof(detail::call_slot);
  control = lib.allocate(control_bytes);
  if (!control)
    fail(errc::out_of_memory, "no memory for a control region of {} bytes: {}", control_bytes,
         lib.capacity_text());
  const int rank = lib.rank(), size = lib.size();
  const std::vector<int> allowed = allowed_cpus();
  block_in(*control, rank).allowed_cpus = detail::mask_of(allowed);

  const auto hosts = lib.allgather(host_hash());  // now all ranks have the control region
  // Ranks of a machine that can access each other's memory form one host. Its number is its lowest
  // rank. direct() is called only until it succeeds, because each call costs a connection.
  int first = rank;
  for (int peer = 0; peer < rank && first == rank; ++peer)
    if (hosts[peer] == hosts[rank] && control->direct(peer) != nullptr) first = peer;
  host_leader = first;
  const auto firsts = lib.allgather(static_cast<std::uint64_t>(first));
  const std::vector<int> host_of(firsts.begin(), firsts.end());
  nodes = lib.make_node_map(host_of, *options.ranks_per_node);

  const auto per_node = lib.allgather(static_cast<std::uint64_t>(*options.ranks_per_node));
  const auto [fewest, most] = std::minmax_element(per_node.begin(), per_node.end());
  detail::check_ranks_per_node(static_cast<int>(*fewest), static_cast<int>(*most));

  const auto checks = lib.allgather(*options.check_calls ? 1 : 0);
  check_calls =
      std::any_of(checks.begin(), checks.end(), [](std::uint64_t check) { return check != 0; });

  detail::cpu_mask mask{};
  int local_index = 0;
  for (int peer = 0; peer < size; ++peer) {
    if (hosts[peer] != hosts[rank]) continue;
    local_index += peer < rank ? 1 : 0;
    ++ranks_on_host;
    if (control->direct(peer) == nullptr) continue;
    const auto& peer_mask = block_in(*control, peer).allowed_cpus;
    for (std::size_t i = 0; i < mask.size(); ++i)
      mask[i] = static_cast<unsigned char>(mask[i] | peer_mask[i]);
  }
  detail::host_share share = detail::share_of_host(allowed, detail::cpus_in(mask), local_index,
                                                   ranks_on_host, options.pin && options.compact);
  cpus = std::move(share.cpus);
  enough_cores = share.enough_cores;
}

std::unique_ptr<team> team::make(library& lib, const run_options& given) {
  const run_options options = with_environment(given);
  return std::unique_ptr<team>(new team(lib, layout(lib, options), options));
}

team::team(library& lib, layout facts, const run_options& options)
    : longshore::team(lib.rank(), lib.size(), std::move(facts.nodes),
                      {*options.timeout_seconds, facts.enough_cores && lib.costs() == nullptr},
                      std::move(facts.cpus), lib.costs()),
      library_(lib),
      control_(std::move(facts.control)),
      ranks_on_host_(facts.ranks_on_host),
      host_leader_(facts.host_leader),
      staging_bytes_(staging_bytes_of(lib.size())),
      check_calls_(facts.check_calls),
      node_starts_(nodes().node_count() + 1, 0),
      unwinding_(std::uncaught_exceptions()) {
  for (int peer = 0; peer < size(); ++peer) ++node_starts_[nodes().node_of(peer) + 1];
  std::partial_sum(node_starts_.begin(), node_starts_.end(), node_starts_.begin());
  auto* const slots = reinterpret_cast<detail::call_slot*>(control_->direct(nodes().my_leader()) +
                                                           call_slots_offset(size()));
  barrier_.emplace(&control_of(nodes().my_leader()).barrier, slots, nodes().ranks_on_my_node(),
                   nodes().local_index(rank()));
}

team::~team() {
  if (std::uncaught_exceptions() > unwinding_) {  // the other ranks may never get here
    blocks_.reset();
    deferred_frees_.abandon();
    static_cast<void>(control_.release());
    return;
  }
  try {
    blocks_.reset();
    free_deferred();
    checked_barrier({collective::end_of_team});
    library_.quiet();  // the signals of the barrier are put from memory that is freed next
  } catch (const error&) {
    abort_run(failure_text(std::current_exception()));
  }
}

control_block& team::control_of(int rank) const { return block_in(*control_, rank); }
control_block& team::own_control() const {
  return *reinterpret_cast<control_block*>(control_->local());
}

void team::progress() {
  library_.credits().send_all();
  library_.progress();
}

void team::checked_barrier(const collective_call& call) {
  checked_barrier(
      call, [](int, int) {}, [] {}, [] {});
}

std::size_t team::next_staging_offset() const noexcept {
  return round_up(sizeof(control_block), interference_bytes) +
         ((barrier_count_ + 1) & 1) * staging_bytes_;
}

call_mismatch team::mismatch_with(int from, bool from_agrees) {
  call_mismatch mismatch;
  if (from_agrees) {
    detail::posted_call posted;
    control_->get(from, call_slots_offset(size()) + barrier_->offset_in_slot(), &posted,
                  sizeof posted);
    mismatch = {true, barrier_->posted(), posted};
  } else {
    control_->get(from,
                  offsetof(control_block, barrier) + offsetof(detail::node_barrier_state, mismatch),
                  &mismatch, sizeof mismatch);
    mismatch.found = true;
  }
  return mismatch;
}

region_owner team::make_region(std::size_t bytes, std::size_t later_bytes) {
  free_deferred();
  constexpr std::size_t largest_bytes = std::size_t{1} << 62;
  const auto as_integer = [largest_bytes](std::size_t n) {
    return static_cast<std::int64_t>(std::min(n, largest_bytes));
  };
  // The minimum of -n is minus the maximum of n. So one reduction gives the largest requests and
  // the smallest limit.
  std::array<std::int64_t, 3> values{-as_integer(bytes), -as_integer(bytes + later_bytes),
                                     as_integer(library_.available_bytes(ranks_on_host_))};
  allreduce(values, reduction::min);
  const auto [negative_bytes, negative_sum, available] = values;
  bytes = static_cast<std::size_t>(-negative_bytes);
  if (-negative_sum > available)
    fail(errc::out_of_memory,
         "a rank requests {} bytes of shared memory, and a host has {} for each of its ranks: {}",
         -negative_sum, available, library_.capacity_text());
  region_owner made(*this, library_.allocate(bytes));
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

// On return, no operation of any rank is in flight.
void team::barrier_to_free() {
  library_.credits().send_all();
  library_.quiet();
  for (waiter wait(*this, "messages to leave"); library_.is_sending(); wait.pause())
    library_.progress();
  checked_barrier({collective::free});
  for (waiter wait(*this, "messages in flight"); library_.is_receiving(); wait.pause())
    library_.progress();
}

void team::free_deferred() {
  for (auto& memory : deferred_frees_.take()) release(std::move(memory), false);
}

std::unique_ptr<longshore::segment> team::allocate(std::size_t bytes) {
  free_deferred();
  checked_barrier({collective::allocate});
  const auto smallest = allreduce_value(bytes, reduction::min),
             largest = allreduce_value(bytes, reduction::max);
  if (smallest != largest) detail::fail_size_mismatch(rank(), bytes, smallest, largest);
  return std::make_unique<segment>(*this, make_region(std::max<std::size_t>(bytes, 1)), bytes);
}

std::unique_ptr<channel_set> team::open_channels(std::span<const channel_end> to,
                                                 std::span<const channel_end> from, int slots) {
  const auto senders = detail::with_slots(to, slots), receivers = detail::with_slots(from, slots);
  free_deferred();
  checked_barrier({collective::open_channels});
  return std::make_unique<channels>(*this, senders, receivers);
}

void team::abort_run(const std::string& failure) {
  if (library_.is_one_process()) library_.abort(runtime_failure_status);
  if (control_of(host_leader_).failure_reported.exchange(1) == 0)
    fmt::print(stderr, "longshore: rank {} of {}: {}\n", rank(), size(), failure);
  std::fflush(nullptr);
  library_.abort(runtime_failure_status);
  std::_Exit(runtime_failure_status);
}

namespace {

[[noreturn]] void end_run(library& lib, team* team, const std::string& failure) {
  if (team != nullptr) team->abort_run(failure);
  fmt::print(stderr, "longshore: rank {} of {}: {}\n", lib.rank(), lib.size(), failure);
  std::fflush(nullptr);
  lib.abort(runtime_failure_status);
  std::_Exit(runtime_failure_status);
}

}  // namespace

void run(library& lib, const run_options& options,
         const std::function<void(longshore::team&)>& body) {
  std::unique_ptr<team> ranks;
  try {
    ranks = team::make(lib, options);
    if (options.ranks > 0 && options.ranks != ranks->size())
      fail(errc::usage,
           "{} ranks requested, but the launcher started {}: give the number to the launcher",
           options.ranks, ranks->size());
    const pinned binding(options.pin && ranks->waiting().spin ? ranks->cpus().front() : -1);
    body(*ranks);
    ranks->checked_barrier({collective::end_of_run});
  } catch (...) {
    end_run(lib, ranks.get(), failure_text(std::current_exception()));
  }
}

}  // namespace longshore::one_sided
