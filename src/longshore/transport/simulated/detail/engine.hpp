// The discrete-event engine of the simulated machine. Ranks are user-level contexts of one thread.
// A rank runs until it waits, or until an event of another rank lies before its clock. Events are
// ordered by time, and events of the same time by their number, so runs are repeatable bit for bit.
#pragma once

#include <longshore/core/bytes.hpp>
#include <longshore/core/error.hpp>
#include <longshore/machine/pages.hpp>
#include <longshore/transport/simulated/detail/event_queue.hpp>

#include <boost/context/fiber.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace longshore::simulated {

/// Handles the events of a higher level (network.hpp).
class event_handler {
 public:
  virtual ~event_handler() = default;
  virtual void handle(int kind, std::uint32_t id) = 0;
  /// Fetches the memory that handle() will read, because the event happens soon. `is_next`: no
  /// earlier event is known, and this call may read what an earlier call has fetched.
  virtual void fetch(int kind, std::uint32_t id, bool is_next) noexcept = 0;
};

class engine {
 public:
  /// Throws errc::out_of_memory if the stacks of all ranks would not fit into memory.
  engine(int ranks, std::size_t stack_bytes);
  ~engine();
  engine(const engine&) = delete;
  engine& operator=(const engine&) = delete;

  /// Runs body(rank) on all ranks. Returns when all have ended, and rethrows the first failure. If
  /// all ranks wait and no event is left, the run fails with every rank's wait.
  void run(event_handler& handler, const std::function<void(int)>& body);

  /// Time of the current event.
  [[nodiscard]] double time() const noexcept { return time_; }
  /// Events that were scheduled since the start.
  [[nodiscard]] std::uint64_t event_count() const noexcept { return next_number_; }
  /// Schedules the handler's event `kind` (from 0) with `id` at `time`.
  void schedule(double time, int kind, std::uint32_t id);
  /// Schedules wake(rank) at `time`.
  void schedule_wake(double time, int rank);
  /// Events only: a waiting rank looks again whether its wait has ended.
  void wake(int rank);

  // Calls of the running rank.

  /// Seconds on the clock of a rank.
  [[nodiscard]] double clock(int rank) const noexcept {
    return ranks_[rank].clock + ranks_[rank].debt;
  }
  void advance(int rank, double seconds) noexcept { ranks_[rank].clock += seconds; }
  void advance_to(int rank, double seconds) noexcept {
    if (ranks_[rank].clock < seconds) ranks_[rank].clock = seconds;
  }
  /// Adds work that a rank has to do before it goes on, such as receiving a message.
  void add_debt(int rank, double seconds) noexcept { ranks_[rank].debt += seconds; }
  /// Lets all events before the clock of the rank happen.
  void synchronise(int rank);
  /// Like synchronise(), for `times` polls. Each poll costs time after many without an event.
  void poll(int rank, std::size_t times);
  /// Returns clock(rank). If a rank only reads the clock, the readings advance the clock.
  [[nodiscard]] double read_clock(int rank);
  /// Waits for an event of this rank, and returns true. If there was an event since the last
  /// block(), returns false at once. Throws errc::peer_failed if another rank has failed.
  bool block(int rank, const char* operation, int peer);
  void wait_ended() noexcept { ++ended_waits_; }
  /// Ends the running rank without unwinding its stack.
  [[noreturn]] void abandon(int rank);
  [[nodiscard]] bool has_failed() const noexcept { return failure_ != nullptr; }
  /// The failure of a rank ends the run.
  void fail_run(int rank, std::exception_ptr failure);
  /// Throws errc::peer_failed if another rank has failed.
  void throw_if_run_failed(int rank) const;

 private:
  static constexpr int resume_event = -2, wake_event = -1;
  // A fiber that is never destroyed, because destruction would unwind an abandoned stack.
  struct fiber_handle {
    fiber_handle() noexcept : fiber() {}
    ~fiber_handle() {}
    fiber_handle(const fiber_handle&) = delete;
    fiber_handle& operator=(const fiber_handle&) = delete;
    union {
      boost::context::fiber fiber;
    };
  };
  // What belongs to a context: its stack, and the exceptions that it handles.
  struct context {
    fiber_handle handle;
    void* caught_exceptions = nullptr;
    unsigned uncaught_exceptions = 0;
  };
  // The stack of a context. For the main context, only AddressSanitizer uses it.
  struct context_stack {
    const void* bottom = nullptr;
    std::size_t bytes = 0;
    void* fake = nullptr;
  };
  enum class state : std::uint8_t { running, waiting, ended };
  // One cache line: thousands of ranks do not fit the cache.
  struct alignas(cache_line_bytes) rank_state {
    context own;
    state now = state::running;
    bool is_scheduled = false;  // a resume_event is in the queue
    bool is_notified = false;   // an event came since the last block()
    bool has_news = false;      // an event came since the last poll()
    std::uint32_t clock_reads = 0;
    double clock = 0, debt = 0;
    std::uint64_t polls = 0;
    const char* operation = "";
    int peer = -1;
  };

  void push(double time, int kind, int id);
  void resume_later(int rank);
  void dispatch(int self);
  void switch_to(int from, int to);
  [[nodiscard]] context& context_of(int rank) noexcept {
    return rank < 0 ? main_ : ranks_[rank].own;
  }
  void resumed(int self);
  [[nodiscard]] context_stack& stack_of(int rank) noexcept {
    return rank < 0 ? main_stack_ : stacks_of_ranks_[rank];
  }
  void start(int rank);
  void fetch_next() noexcept;
  void look_again();
  void on_idle();
  [[nodiscard]] std::string waits_text() const;

  event_queue queue_;
  std::uint64_t next_number_ = 0;
  double time_ = 0;
  std::vector<rank_state> ranks_;
  std::vector<context_stack> stacks_of_ranks_;
  context main_;
  context_stack main_stack_;
  int previous_ = -1;  // the context that switched to the running one
  pages stacks_;
  std::size_t stack_bytes_, stack_stride_;
  std::uint64_t polls_before_cost_;
  event_handler* handler_ = nullptr;
  const std::function<void(int)>* body_ = nullptr;
  int ended_ = 0, failed_rank_ = -1;
  std::exception_ptr failure_;
  std::uint64_t ended_waits_ = 0, actions_ = 0, looks_ = 0;
  std::uint64_t waits_at_look_ = 0, actions_at_look_ = 0;
  int looks_in_vain_ = 0;
  double idle_since_ = 0;
};

}  // namespace longshore::simulated
