#include <longshore/machine/affinity.hpp>
#include <longshore/transport/detail/cpu_share.hpp>
#include <longshore/transport/one_sided/channels.hpp>
#include <longshore/transport/one_sided/control_block.hpp>
#include <longshore/transport/one_sided/meeting.hpp>
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

// What must be known before the base can be made.
struct team::layout {
  layout(library& lib, const run_options& options);

  std::unique_ptr<region> control;
  node_map nodes;
  std::vector<int> cpus;
  int ranks_on_host = 0, host_first = 0;
  bool enough_cores = true;
  bool check_calls = false;  // the same on all ranks: one that asks for it decides
};

namespace {

constexpr int runtime_failure_status = 3;

std::size_t row_bytes_of(int ranks) {
  constexpr std::size_t least_bytes = std::size_t{64} << 10;
  return detail::row_bytes_for(static_cast<std::size_t>(ranks), least_bytes);
}

// Where the slots of posted calls lie in the control region: behind both rows.
std::size_t slots_at(int ranks) {
  return round_up(sizeof(control_block), interference_bytes) + 2 * row_bytes_of(ranks);
}

control_block& block_in(region& control, int rank) {
  return *reinterpret_cast<control_block*>(control.reach(rank));
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
      slots_at(lib.size()) + static_cast<std::size_t>(lib.size()) * sizeof(detail::call_slot);
  control = lib.allocate(control_bytes);
  if (!control)
    fail(errc::out_of_memory, "no room for {} bytes of control memory: {}", control_bytes,
         lib.room());
  const int rank = lib.rank(), size = lib.size();
  const std::vector<int> allowed = allowed_cpus();
  block_in(*control, rank).allowed_cpus = detail::mask_of(allowed);

  const auto hosts = lib.gather(host_hash());  // now all have their control region
  // Ranks of a machine that reach each other's memory are one host here: their lowest one gives it
  // a number. The others are not asked: each would cost a connection.
  int first = rank;
  for (int peer = 0; peer < rank && first == rank; ++peer)
    if (hosts[static_cast<std::size_t>(peer)] == hosts[static_cast<std::size_t>(rank)] &&
        control->reach(peer) != nullptr)
      first = peer;
  host_first = first;
  const auto firsts = lib.gather(static_cast<std::uint64_t>(first));
  const std::vector<int> host_of(firsts.begin(), firsts.end());
  nodes = node_map(host_of, rank, options.ranks_per_node);

  const auto checks = lib.gather(options.check_calls ? 1 : 0);
  check_calls =
      std::any_of(checks.begin(), checks.end(), [](std::uint64_t asked) { return asked != 0; });

  detail::cpu_mask mask{};
  int local_index = 0;
  for (int peer = 0; peer < size; ++peer) {
    if (hosts[static_cast<std::size_t>(peer)] != hosts[static_cast<std::size_t>(rank)]) continue;
    local_index += peer < rank ? 1 : 0;
    ++ranks_on_host;
    if (control->reach(peer) == nullptr) continue;
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
      host_first_(found.host_first),
      row_bytes_(row_bytes_of(lib.size())),
      check_calls_(found.check_calls),
      node_starts_(static_cast<std::size_t>(nodes().node_count()) + 1, 0),
      unwinding_(std::uncaught_exceptions()) {
  for (int peer = 0; peer < size(); ++peer)
    ++node_starts_[static_cast<std::size_t>(nodes().node_of(peer)) + 1];
  std::partial_sum(node_starts_.begin(), node_starts_.end(), node_starts_.begin());
  auto* const slots =
      reinterpret_cast<detail::call_slot*>(control_->reach(my_leader()) + slots_at(size()));
  barrier_.emplace(&control_of(my_leader()).barrier, slots, nodes().my_rank_count(),
                   nodes().local_index(rank()));
}

team::~team() {
  if (std::uncaught_exceptions() > unwinding_) {  // the others may never come
    streams_.reset();
    kept_.abandon();
    static_cast<void>(control_.release());
    return;
  }
  try {
    streams_.reset();
    close_kept();
    meet({.what = detail::collective::end_of_team});
    library_.quiet();  // the signals of that meeting are put from memory that goes now
  } catch (const error&) {
    end_run(failure_text(std::current_exception()));
  }
}

control_block& team::control_of(int rank) const { return block_in(*control_, rank); }
control_block& team::mine() const { return *reinterpret_cast<control_block*>(control_->local()); }

void team::attend() {
  untold_.tell();
  library_.progress();
}

void team::meet(const detail::collective_call& call) {
  meet(
      call, [](int, int) {}, [] {}, [] {});
}

std::size_t team::next_row() const noexcept {
  return round_up(sizeof(control_block), interference_bytes) + ((meetings_ + 1) & 1) * row_bytes_;
}

detail::disagreement team::disagreement_with(int from, bool from_agrees) {
  detail::disagreement theirs;
  if (from_agrees) {
    detail::posted_call posted;
    control_->get(from, slots_at(size()) + barrier_->offset_in_slot(), &posted, sizeof posted);
    theirs = {true, barrier_->posted(), posted};
  } else {
    control_->get(from,
                  offsetof(control_block, barrier) + offsetof(detail::node_barrier_state, found),
                  &theirs, sizeof theirs);
    theirs.found = true;
  }
  return theirs;
}

lent_region team::make_region(std::size_t bytes) {
  close_kept();
  constexpr std::size_t most = std::size_t{1} << 62;
  const auto number = [most](std::size_t n) {
    return static_cast<std::int64_t>(std::min(n, most));
  };
  std::array<std::int64_t, 2> all{-number(bytes), number(library_.available_bytes(ranks_on_host_))};
  allreduce(all, reduction::min);
  bytes = static_cast<std::size_t>(-all[0]);
  if (-all[0] > all[1])
    fail(errc::out_of_memory,
         "a rank asks for {} bytes of memory that others reach, and a host has {} for each of its "
         "ranks: {}",
         bytes, all[1], library_.room());
  lent_region made(*this, library_.allocate(bytes));
  if (allreduce_value<int>(made ? 1 : 0, reduction::min) == 1) return made;
  if (made)
    give_back(made.take(), false);
  else
    meet_to_free();  // as those do that give theirs back
  fail(errc::out_of_memory, "a rank asks for {} bytes of memory that others reach: {}", bytes,
       library_.room());
}

void team::give_back(std::unique_ptr<region> memory, bool unwinding) {
  kept_.give_back(*this, std::move(memory), unwinding, [this](region&) { meet_to_free(); });
}

// Nothing is under way any more, from anybody, when it returns.
void team::meet_to_free() {
  untold_.tell();
  library_.quiet();
  for (waiter wait(*this, "messages to leave"); library_.is_sending(); wait.pause())
    library_.progress();
  meet({.what = detail::collective::free});
  for (waiter wait(*this, "messages on their way"); library_.is_receiving(); wait.pause())
    library_.progress();
}

void team::close_kept() {
  for (auto& memory : kept_.take()) give_back(std::move(memory), false);
}

std::unique_ptr<longshore::segment> team::allocate(std::size_t bytes) {
  close_kept();
  meet({.what = detail::collective::allocate});
  const auto smallest = allreduce_value(bytes, reduction::min),
             largest = allreduce_value(bytes, reduction::max);
  if (smallest != largest)
    fail(errc::usage,
         "a segment must have the same size on all ranks: rank {} asks for {} bytes, others for {} "
         "to {}",
         rank(), bytes, smallest, largest);
  return std::make_unique<segment>(*this, make_region(std::max<std::size_t>(bytes, 1)), bytes);
}

std::unique_ptr<channel_set> team::open_channels(std::span<const channel_end> to,
                                                 std::span<const channel_end> from, int slots) {
  if (slots < 1) fail(errc::usage, "a channel needs at least 1 slot, not {}", slots);
  close_kept();
  meet({.what = detail::collective::open_channels});
  return std::make_unique<channels>(*this, to, from, slots);
}

void team::end_run(const std::string& why) {
  if (control_of(host_first_).failure_reported.exchange(1) == 0)
    fmt::print(stderr, "longshore: rank {} of {}: {}\n", rank(), size(), why);
  std::fflush(nullptr);
  library_.end_all(runtime_failure_status);
  std::_Exit(runtime_failure_status);
}

namespace {

[[noreturn]] void end(library& lib, team* mine, const std::string& why) {
  if (mine != nullptr) mine->end_run(why);
  fmt::print(stderr, "longshore: rank {} of {}: {}\n", lib.rank(), lib.size(), why);
  std::fflush(nullptr);
  lib.end_all(runtime_failure_status);
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
           "{} ranks asked for, but the launcher started {}: give the number to the launcher",
           options.ranks, mine->size());
    const pinned binding(options.pin && mine->waiting().spin ? mine->cpus().front() : -1);
    body(*mine);
    mine->meet({.what = detail::collective::end_of_run});
  } catch (...) {
    end(lib, mine.get(), failure_text(std::current_exception()));
  }
}

}  // namespace longshore::one_sided
