// The owner of a team and of the objects that its ranks make and free together: tables, halos.
//
// Freeing an object is collective, but Python drops an object at different times on different
// ranks. A drop therefore only marks the object. When the ranks make the next object, or when the
// team ends, the ranks together free the objects that all ranks have dropped.
#pragma once

#include <longshore/transport/team.hpp>

#include <atomic>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace longshore::python {

/// An object that all ranks make and free together.
class collective_object {
 public:
  collective_object() = default;
  virtual ~collective_object() = default;
  collective_object(const collective_object&) = delete;
  collective_object& operator=(const collective_object&) = delete;

  /// Collective. Completes communication before the object is freed.
  virtual void finish() {}
  /// Local, after a failure. Memory that other ranks may still access is never freed.
  virtual void abandon() { outlive_team(); }
  /// Collective. Frees everything except for memory that arrays of Python may use. Called if the
  /// team ends before all ranks have dropped the object.
  virtual void outlive_team() = 0;

  std::atomic<bool> dropped{false};  ///< by Python on this rank, from any thread
};

class team_owner {
 public:
  /// A team of run() outlives the owner. All other teams end in end().
  explicit team_owner(std::shared_ptr<team> ranks);
  /// A team of processes is never freed if end() was not called, because freeing is collective and
  /// other ranks may be gone.
  ~team_owner();
  team_owner(const team_owner&) = delete;
  team_owner& operator=(const team_owner&) = delete;

  /// Throws errc::usage if the team has ended, or belongs to another thread or to the parent of
  /// this process.
  [[nodiscard]] team& ranks() const {
    if (!is_usable()) refuse();
    return *team_;
  }
  [[nodiscard]] bool is_usable() const noexcept {
    return team_ != nullptr && thread_ == std::this_thread::get_id() && !is_of_parent();
  }
  /// Whether this process was forked after the team was made. MPI then belongs to the parent.
  [[nodiscard]] bool is_of_parent() const noexcept {
    return generation_ != generation() && !is_alone_;
  }
  [[nodiscard]] bool ended() const noexcept { return team_ == nullptr; }
  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] int size() const noexcept { return size_; }

  /// All ranks keep the same objects in the same order.
  void keep(std::shared_ptr<collective_object> object) { objects_.push_back(std::move(object)); }
  /// Collective; without the GIL. Frees the objects that all ranks have dropped.
  void free_dropped();

  /// Collective; without the GIL. Frees all objects, then the team.
  void end();
  /// Local, after the failure of a rank. Frees as much as possible without the other ranks.
  void abandon() noexcept;

  /// The number of forks between the process that loaded the package and this process.
  [[nodiscard]] static int generation() noexcept;
  /// Begins to count forks. REQUIRES: called once.
  static void count_generations();

 private:
  [[noreturn]] void refuse() const;

  std::shared_ptr<team> team_;
  std::thread::id thread_ = std::this_thread::get_id();
  int generation_ = generation();
  int rank_, size_;
  bool is_alone_;  // one rank, without a communication library
  std::vector<std::shared_ptr<collective_object>> objects_;  // in the same order on all ranks
};

/// The reference of a Python object to its collective object. The destructor marks the collective
/// object as dropped.
template <class Object>
class collective_handle {
 public:
  collective_handle(std::shared_ptr<team_owner> owner, std::shared_ptr<Object> object)
      : owner_(std::move(owner)), object_(std::move(object)) {}
  ~collective_handle() {
    if (object_) object_->dropped = true;
  }
  collective_handle(const collective_handle&) = delete;
  collective_handle& operator=(const collective_handle&) = delete;
  collective_handle(collective_handle&&) noexcept = default;

  /// REQUIRES: the handle has no object yet.
  void hold(std::shared_ptr<Object> object) { object_ = std::move(object); }
  [[nodiscard]] team_owner& owner() const noexcept { return *owner_; }
  [[nodiscard]] const std::shared_ptr<team_owner>& shared_owner() const noexcept { return owner_; }
  Object* operator->() const noexcept { return object_.get(); }
  [[nodiscard]] const std::shared_ptr<Object>& object() const noexcept { return object_; }

 private:
  std::shared_ptr<team_owner> owner_;
  std::shared_ptr<Object> object_;
};

}  // namespace longshore::python
