// Contexts, the event queue, and the detection of deadlocks.
#include <longshore/core/bytes.hpp>
#include <longshore/machine/memory_sizes.hpp>
#include <longshore/transport/simulated/detail/engine.hpp>

#include <fmt/core.h>

#include <sys/mman.h>

#include <cxxabi.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#if defined(__SANITIZE_ADDRESS__)
#define LONGSHORE_ADDRESS_SANITIZER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LONGSHORE_ADDRESS_SANITIZER
#endif
#endif
#ifdef LONGSHORE_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace longshore::simulated {
namespace {

// A rank that polls each other rank once should not pay for these polls.
constexpr std::uint64_t min_polls_before_cost = 256, polls_per_rank = 8;
constexpr std::uint32_t reads_before_advance = 64;
constexpr std::size_t fetched_stack_lines = 12;
constexpr std::uint64_t max_polls = 100'000'000;
constexpr double poll_seconds = 50e-9, clock_read_seconds = 25e-9;
// A rank may wait for a store that was not announced, or for its own clock. So if no event is left,
// all waiting ranks look again before the run counts as a deadlock: at once, and then after steps
// of time that double, 4 minutes in all.
constexpr double first_look_seconds = 1e-6;
constexpr int max_looks_in_vain = 28;
constexpr std::uint64_t max_looks = 1'000'000;  // looks that end waits but cause no event

// The exceptions of a thread, as the C++ ABI for Itanium lays them out
// (https://itanium-cxx-abi.github.io/cxx-abi/abi-eh.html, 2.2.2). Each context has its own
// exceptions.
struct thread_exceptions {
  void* caught;
  unsigned uncaught;
};

thread_exceptions& exceptions_of_thread() {
  return *reinterpret_cast<thread_exceptions*>(abi::__cxa_get_globals());
}

// The engine owns the stacks, not Boost.Context.
struct unowned_stack {
  void deallocate(boost::context::stack_context&) noexcept {}
};

}  // namespace

engine::engine(int ranks, std::size_t stack_bytes)
    : ranks_(static_cast<std::size_t>(ranks)),
      stacks_of_ranks_(static_cast<std::size_t>(ranks)),
      stack_bytes_(round_up(stack_bytes, page_bytes())),
      polls_before_cost_(
          std::max(min_polls_before_cost, polls_per_rank * static_cast<std::uint64_t>(ranks))) {
  stack_stride_ = stack_bytes_ + page_bytes();  // a guard page below each stack
  // A rank touches a part of its stack only.
  constexpr std::size_t touched_bytes = std::size_t{32} << 10;
  const std::size_t needed = std::min(touched_bytes, stack_bytes_) * ranks_.size();
  require_available_memory(needed);
  stacks_ = pages(stack_stride_ * ranks_.size());
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    std::byte* const guard = stacks_.data() + rank * stack_stride_;
    if (mprotect(guard, page_bytes(), PROT_NONE) != 0)
      fail(errc::out_of_memory, "no guard page for the stack of rank {} of {}", rank,
           ranks_.size());
    stacks_of_ranks_[rank].bottom = guard + page_bytes();
    stacks_of_ranks_[rank].bytes = stack_bytes_;
  }
}

engine::~engine() {
#ifdef LONGSHORE_ADDRESS_SANITIZER
  __asan_unpoison_memory_region(stacks_.data(), stacks_.size_bytes());
#endif
}

void engine::push(double time, int kind, int id) {
  queue_.push({time, next_number_++, kind, static_cast<std::uint32_t>(id)});
}

void engine::schedule(double time, int kind, std::uint32_t id) {
  ++actions_;
  queue_.push({time, next_number_++, kind, id});
}

void engine::schedule_wake(double time, int rank) {
  ++actions_;
  push(time, wake_event, rank);
}

void engine::resume_later(int rank) {
  auto& it = ranks_[rank];
  if (it.is_scheduled) return;
  it.is_scheduled = true;
  push(std::max(time_, it.clock), resume_event, rank);
}

void engine::wake(int rank) {
  ranks_[rank].is_notified = ranks_[rank].has_news = true;
  if (ranks_[rank].now == state::waiting) resume_later(rank);
}

// Saves the running context as context `from`, then runs context `to`. Returns when a context
// switches back.
void engine::switch_to(int from, int to) {
  context &own = context_of(from), &next = context_of(to);
  auto& exceptions = exceptions_of_thread();
  own.caught_exceptions = exceptions.caught;
  own.uncaught_exceptions = exceptions.uncaught;
  exceptions = {next.caught_exceptions, next.uncaught_exceptions};
  previous_ = from;
  boost::context::fiber target = std::move(next.handle.fiber);
#ifdef LONGSHORE_ADDRESS_SANITIZER
  __sanitizer_start_switch_fiber(&stack_of(from).fake, stack_of(to).bottom, stack_of(to).bytes);
#endif
  boost::context::fiber came_from = std::move(target).resume();
  resumed(from);
  context_of(previous_).handle.fiber = std::move(came_from);
}

void engine::resumed([[maybe_unused]] int self) {
#ifdef LONGSHORE_ADDRESS_SANITIZER
  const void* bottom = nullptr;
  std::size_t bytes = 0;
  __sanitizer_finish_switch_fiber(stack_of(self).fake, &bottom, &bytes);
  context_stack& from = stack_of(previous_);
  if (from.bottom == nullptr) {
    from.bottom = bottom;
    from.bytes = bytes;
  }
#endif
}

void engine::start(int rank) {
  using boost::context::fiber;
  auto* const bottom = static_cast<std::byte*>(const_cast<void*>(stacks_of_ranks_[rank].bottom));
  boost::context::stack_context stack;
  stack.size = stack_bytes_;
  stack.sp = bottom + stack_bytes_;
  const auto begin = [this, rank](fiber&& came_from) -> fiber {
    resumed(rank);
    context_of(previous_).handle.fiber = std::move(came_from);
    try {
      (*body_)(rank);
    } catch (...) {
      fail_run(rank, std::current_exception());
    }
    ranks_[rank].now = state::ended;
    ++ended_;
    auto& exceptions = exceptions_of_thread();
    exceptions = {main_.caught_exceptions, main_.uncaught_exceptions};
    previous_ = rank;
#ifdef LONGSHORE_ADDRESS_SANITIZER
    __sanitizer_start_switch_fiber(nullptr, main_stack_.bottom, main_stack_.bytes);
#endif
    return std::move(main_.handle.fiber);
  };
  ranks_[rank].own.handle.fiber =
      fiber(std::allocator_arg, boost::context::preallocated(stack.sp, stack.size, stack),
            unowned_stack{}, begin);
  resume_later(rank);
}

// With thousands of ranks, what an event reads is in memory far away. So this function fetches the
// memory of the next few events while the current event happens: first the state of their ranks and
// messages, then the stack of the next rank.
void engine::fetch_next() noexcept {
  // The next event, and the events that can be the second.
  const auto soon = queue_.front();
  for (std::size_t i = soon.size(); i > 0; --i) {
    const event& coming = soon[i - 1];
    const bool is_next = i == 1;
    if (coming.kind >= 0) {
      handler_->fetch(coming.kind, coming.id, is_next);
      continue;
    }
    const rank_state& it = ranks_[coming.id];
    __builtin_prefetch(&it);
    if (!is_next || coming.kind != resume_event) continue;
    const std::byte* top = nullptr;  // a fiber is a pointer to the top of its stack
    static_assert(sizeof it.own.handle == sizeof top);
    std::memcpy(&top, &it.own.handle, sizeof top);
    for (std::size_t line = 0; line < fetched_stack_lines; ++line)
      __builtin_prefetch(top + line * cache_line_bytes);
  }
}

// Runs events until the next one resumes `self`; in the main context (-1), until none is left.
void engine::dispatch(int self) {
  for (;;) {
    if (queue_.empty()) {
      if (self < 0) return;
      switch_to(self, -1);
      return;
    }
    const event next = queue_.top();
    queue_.pop();
    fetch_next();
    time_ = std::max(time_, next.time);
    if (next.kind == wake_event) {
      wake(static_cast<int>(next.id));
    } else if (next.kind == resume_event) {
      const auto rank = static_cast<int>(next.id);
      auto& it = ranks_[rank];
      it.is_scheduled = false;
      if (it.now == state::ended) continue;
      it.clock = std::max(it.clock, next.time);
      if (rank == self) return;
      switch_to(self, rank);
      if (self >= 0) return;
    } else if (!has_failed()) {  // after a failure the memory of messages may be gone
      handler_->handle(next.kind, next.id);
    }
  }
}

void engine::synchronise(int rank) {
  auto& it = ranks_[rank];
  it.clock_reads = 0;
  do {
    it.clock += std::exchange(it.debt, 0);
    if (queue_.empty() || queue_.top().time > it.clock) return;
    resume_later(rank);
    dispatch(rank);
  } while (it.debt > 0);
}

void engine::poll(int rank, std::size_t times) {
  auto& it = ranks_[rank];
  throw_if_run_failed(rank);
  synchronise(rank);
  if (std::exchange(it.has_news, false)) it.polls = 0;
  const std::uint64_t before = it.polls;
  it.polls += times;
  if (it.polls < polls_before_cost_) return;
  it.clock += static_cast<double>(times) * poll_seconds;
  if (queue_.empty()) {
    if (it.polls / polls_before_cost_ != before / polls_before_cost_) look_again();
    if (it.polls > max_polls)
      fail(errc::timeout,
           "rank {} polls for ever: no message is under way, and no other rank will send one",
           rank);
  }
  synchronise(rank);
}

double engine::read_clock(int rank) {
  auto& it = ranks_[rank];
  if (++it.clock_reads >= reads_before_advance) it.clock += clock_read_seconds;
  return clock(rank);
}

void engine::throw_if_run_failed(int rank) const {
  if (!failure_ || failed_rank_ == rank) return;
  if (failed_rank_ < 0) fail(errc::peer_failed, "the run has ended in a deadlock");
  fail(errc::peer_failed, "rank {} failed first", failed_rank_);
}

bool engine::block(int rank, const char* operation, int peer) {
  auto& it = ranks_[rank];
  throw_if_run_failed(rank);
  it.polls = it.clock_reads = 0;
  if (!it.is_notified) synchronise(rank);
  const bool waits = !it.is_notified;
  if (waits) {
    it.operation = operation;
    it.peer = peer;
    it.now = state::waiting;
    dispatch(rank);
    it.now = state::running;
  }
  it.is_notified = false;
  it.clock += std::exchange(it.debt, 0);
  throw_if_run_failed(rank);
  return waits;
}

void engine::abandon(int rank) {
  fail_run(rank, std::make_exception_ptr(error(errc::peer_failed, "a rank ended")));
  ranks_[rank].now = state::ended;
  ++ended_;
  for (;;) switch_to(rank, -1);
}

void engine::fail_run(int rank, std::exception_ptr failure) {
  if (failure_) return;
  failure_ = std::move(failure);
  failed_rank_ = rank;
  look_again();
}

void engine::look_again() {
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank)
    if (ranks_[rank].now == state::waiting) resume_later(static_cast<int>(rank));
}

// Called when no event is left. Ranks that still wait may wait for a store that was not announced,
// or for ever.
void engine::on_idle() {
  if (actions_ != actions_at_look_) looks_ = 0;
  if (ended_waits_ != waits_at_look_ || actions_ != actions_at_look_) {
    looks_in_vain_ = 0;
    idle_since_ = time_;
  } else {
    ++looks_in_vain_;
  }
  if (looks_in_vain_ <= max_looks_in_vain && ++looks_ <= max_looks) {
    if (looks_in_vain_ > 0) time_ += std::ldexp(first_look_seconds, looks_in_vain_ - 1);
    waits_at_look_ = ended_waits_;
    actions_at_look_ = actions_;
    look_again();
  } else if (!failure_) {
    fail_run(-1, std::make_exception_ptr(error(errc::timeout, waits_text())));
  } else {  // ranks that wait although the run has failed are left where they are
    for (auto& rank : ranks_) rank.now = state::ended;
    ended_ = static_cast<int>(ranks_.size());
  }
}

std::string engine::waits_text() const {
  std::map<std::pair<std::string, int>, std::vector<int>> waits;  // ranks by operation and peer
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank)
    if (ranks_[rank].now == state::waiting)
      waits[{ranks_[rank].operation, ranks_[rank].peer}].push_back(static_cast<int>(rank));
  std::string text = fmt::format(
      "a deadlock at {:.9f} s of simulated time: no message is under way, and", idle_since_);
  const char* separator = " ";
  for (const auto& [wait, ranks] : waits) {
    text += separator;
    separator = "; ";
    text += ranks.size() == 1 ? "rank" : "ranks";
    for (std::size_t i = 0; i < ranks.size();) {  // as ranges: 0-3, 7
      std::size_t last = i;
      while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
      text += fmt::format("{}{}", i == 0 ? " " : ", ", ranks[i]);
      if (last > i) text += fmt::format("-{}", ranks[last]);
      i = last + 1;
    }
    text += fmt::format(" wait{} for {} from {}", ranks.size() == 1 ? "s" : "", wait.first,
                        wait.second < 0 ? "other ranks" : fmt::format("rank {}", wait.second));
  }
  return text;
}

void engine::run(event_handler& handler, const std::function<void(int)>& body) {
  handler_ = &handler;
  body_ = &body;
  const auto count = static_cast<int>(ranks_.size());
  for (int rank = 0; rank < count; ++rank) start(rank);
  for (;;) {
    dispatch(-1);
    if (ended_ == count) break;
    on_idle();
  }
  if (failure_) std::rethrow_exception(failure_);
}

}  // namespace longshore::simulated
