// The C++ objects to which the handles of longshore.h point. The team owns all other objects. At
// its end it frees the remaining objects, the newest first, so that an object is freed before the
// objects that it uses.
#pragma once

#include "guard.hpp"
#include "longshore.h"

#include <longshore/machine/tasks.hpp>
#include <longshore/transport/agree_on_errors.hpp>
#include <longshore/transport/team.hpp>
#include <longshore/transport/traffic.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

struct longshore_team;

namespace longshore::bindings {

/// The base class of every object that a program creates and frees.
class resource {
 public:
  /// `kind` names the object in messages. `dependencies` must outlive the object.
  resource(longshore_team& team, const char* kind, std::vector<const resource*> dependencies = {})
      : team_(team), kind_(kind), dependencies_(std::move(dependencies)) {
    for (const resource* dependency : dependencies_) ++dependency->dependents_;
  }
  virtual ~resource() {
    for (const resource* dependency : dependencies_) --dependency->dependents_;
  }
  resource(const resource&) = delete;
  resource& operator=(const resource&) = delete;

  /// Completes an operation that the program has started and not waited for. Called at the end of
  /// the team, before any object is freed.
  virtual void complete() {}

  [[nodiscard]] longshore_team& team() const noexcept { return team_; }
  [[nodiscard]] const char* kind() const noexcept { return kind_; }
  [[nodiscard]] int dependents() const noexcept { return dependents_; }

 protected:
  /// Replaces the objects that must outlive this object.
  void depend_on(std::vector<const resource*> dependencies) {
    for (const resource* dependency : dependencies) ++dependency->dependents_;
    for (const resource* dependency : dependencies_) --dependency->dependents_;
    dependencies_ = std::move(dependencies);
  }

 private:
  longshore_team& team_;
  const char* kind_;
  std::vector<const resource*> dependencies_;
  mutable int dependents_ = 0;
};

/// The tasks that options name by `layer` and `count`. If `count` is 0, the number of tasks is the
/// rank's share of the cores.
[[nodiscard]] tasks tasks_named(const team& ranks, const char* layer, int count);
/// The size of an element of the type; `element_bytes` for LONGSHORE_BYTES. Throws errc::usage for
/// a number that is no type. `what` names the use of the type in the message.
[[nodiscard]] std::size_t bytes_of_type(int type, std::size_t element_bytes, const char* what);
/// "int32", ...
[[nodiscard]] const char* name_of_type(int type) noexcept;
[[nodiscard]] inline longshore_traffic traffic_of(const traffic& moved) noexcept {
  return {.messages = static_cast<std::int64_t>(moved.messages),
          .payload_bytes = static_cast<std::int64_t>(moved.payload_bytes),
          .wire_bytes = static_cast<std::int64_t>(moved.wire_bytes),
          .offnode_bytes = static_cast<std::int64_t>(moved.offnode_bytes)};
}

}  // namespace longshore::bindings

struct longshore_team {
  explicit longshore_team(longshore::team& team) : ranks(team) {}
  /// Takes ownership of the team.
  explicit longshore_team(std::shared_ptr<longshore::team> team)
      : own(std::move(team)), ranks(*own) {}
  ~longshore_team() {
    while (!resources.empty()) resources.pop_back();
  }
  longshore_team(const longshore_team&) = delete;
  longshore_team& operator=(const longshore_team&) = delete;

  /// Takes ownership of the object and returns its handle.
  template <class Resource>
  Resource* keep(std::unique_ptr<Resource> object) {
    Resource* const handle = object.get();
    resources.push_back(std::move(object));
    return handle;
  }
  /// Completes all operations in flight. Called at the end of a successful run.
  void complete() const {
    for (const auto& object : resources) object->complete();
  }
  /// Destroys the object. Throws errc::usage if other objects depend on it.
  static void free(longshore::bindings::resource* object);

  /// Throws errc::usage unless the calling thread made the team. Waits and buffers belong to that
  /// thread.
  void check_thread() const {
    if (std::this_thread::get_id() != thread)
      longshore::fail(longshore::errc::usage,
                      "rank {}: a team, or an object made with it, is used in another thread than "
                      "the one in which the team was made",
                      ranks.rank());
  }

  // Null if the program or longshore_run owns the team. Declared before `ranks`, because a
  // constructor initialises `ranks` from `own`.
  std::shared_ptr<longshore::team> own;
  longshore::team& ranks;
  const std::thread::id thread = std::this_thread::get_id();
  std::vector<std::unique_ptr<longshore::bindings::resource>> resources;
};

namespace longshore::bindings {

/// The object behind a handle. Throws errc::usage for NULL, and in another thread than the team's.
inline longshore_team& checked(longshore_team* team) {
  if (team == nullptr) report_ignored_join();
  required_object(team, "the team").check_thread();
  return *team;
}
template <class Resource>
Resource& checked(Resource* object, const char* what) {
  required_object(object, what).team().check_thread();
  return *object;
}
/// Collective: one allreduce of 8 bytes. Returns read(), which reads the arguments of a collective
/// call. If read() throws on any rank, all ranks throw.
template <class Read>
auto read_on_all_ranks(longshore_team& team, std::string_view operation, const Read& read) {
  std::optional<decltype(read())> result;
  agree_on_errors(team.ranks, operation, [&] { result.emplace(read()); });
  return std::move(*result);
}

/// The body of a function that frees an object.
inline int free_object(resource* object) {
  return guarded([&] { longshore_team::free(object); });
}

/// The object behind a handle, for functions that cannot return a code. With NULL, prints an error
/// and ends all ranks.
template <class Resource>
Resource& existing(Resource* object, const char* what) {
  if (object == nullptr) longshore_end(guarded([&] { required_object(object, what); }));
  return *object;
}

}  // namespace longshore::bindings
