// What a team is to Python: who may use it, and the things that its ranks make and free together.
//
// Freeing is collective, but when Python drops an object is its own affair, and differs between
// ranks. So a dropped thing is only marked; what all ranks have dropped they free together, when
// the next thing is made or the team ends.
#pragma once

#include <longshore/transport/team.hpp>

#include <atomic>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace longshore::python {

/// Made and freed by all ranks together.
class shared_thing {
 public:
  shared_thing() = default;
  virtual ~shared_thing() = default;
  shared_thing(const shared_thing&) = delete;
  shared_thing& operator=(const shared_thing&) = delete;

  /// Collective. Ends what is under way, before this is freed.
  virtual void finish() {}
  /// Without the others, which may still be at what is under way: whatever they might touch is
  /// never freed.
  virtual void abandon() { outlive_team(); }
  /// Collective. The team ends, and Python still has this on some rank: frees all but memory that
  /// arrays of Python may lie in.
  virtual void outlive_team() = 0;

  std::atomic<bool> dropped{false};  ///< by Python on this rank, by whichever of its threads
};

class membership {
 public:
  /// Of a team that lives longer (inside run), or that ends with end().
  explicit membership(std::shared_ptr<team> ranks);
  /// Without end() before it: a team of processes is left as it is, since the others may not be
  /// there to end it with.
  ~membership();
  membership(const membership&) = delete;
  membership& operator=(const membership&) = delete;

  /// Throws errc::usage when the team has ended, belongs to another thread, or to the process that
  /// this one was forked from.
  [[nodiscard]] team& ranks() const {
    if (!is_usable()) refuse();
    return *team_;
  }
  [[nodiscard]] bool is_usable() const noexcept {
    return team_ != nullptr && owner_ == std::this_thread::get_id() && !is_of_parent();
  }
  /// Whether this process was forked after the team was made, and the other ranks, or MPI, are not
  /// its own.
  [[nodiscard]] bool is_of_parent() const noexcept {
    return generation_ != generation() && !is_alone_;
  }
  [[nodiscard]] bool ended() const noexcept { return team_ == nullptr; }
  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] int size() const noexcept { return size_; }

  /// Collective; not with Python's lock.
  template <class Thing, class... Arguments>
  [[nodiscard]] std::shared_ptr<Thing> make(Arguments&&... arguments) {
    free_dropped();
    auto thing = std::make_shared<Thing>(std::forward<Arguments>(arguments)...);
    things_.push_back(thing);
    return thing;
  }
  void keep(std::shared_ptr<shared_thing> thing) { things_.push_back(std::move(thing)); }
  void free_dropped();

  /// Collective; not with Python's lock. Frees what there is, then the team.
  void end();
  /// A rank has failed: what there is goes as far as it can without the others.
  void abandon() noexcept;

  /// How often this process and those before it were forked from another one, since the package was
  /// loaded.
  [[nodiscard]] static int generation() noexcept;
  /// Once, before the first fork that is to be noticed.
  static void count_generations();

 private:
  [[noreturn]] void refuse() const;

  std::shared_ptr<team> team_;
  std::thread::id owner_ = std::this_thread::get_id();
  int generation_ = generation();
  int rank_, size_;
  bool is_alone_;                                      ///< one rank, without a library underneath
  std::vector<std::shared_ptr<shared_thing>> things_;  // in the order in which all ranks made them
};

/// How an object of Python has a shared thing: it marks it when it goes.
template <class Thing>
class held {
 public:
  held(std::shared_ptr<membership> members, std::shared_ptr<Thing> thing)
      : members_(std::move(members)), thing_(std::move(thing)) {}
  ~held() {
    if (thing_) thing_->dropped = true;
  }
  held(const held&) = delete;
  held& operator=(const held&) = delete;
  held(held&&) noexcept = default;

  [[nodiscard]] membership& members() const noexcept { return *members_; }
  [[nodiscard]] const std::shared_ptr<membership>& shared_members() const noexcept {
    return members_;
  }
  Thing* operator->() const noexcept { return thing_.get(); }
  [[nodiscard]] const std::shared_ptr<Thing>& thing() const noexcept { return thing_; }

 private:
  std::shared_ptr<membership> members_;
  std::shared_ptr<Thing> thing_;
};

}  // namespace longshore::python
