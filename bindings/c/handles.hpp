// What handles are: objects that hang on their team, so that what a program leaves behind ends with
// it, newest first.
#pragma once

#include "guard.hpp"

#include <longshore/machine/tasks.hpp>
#include <longshore/transport/team.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

struct longshore_team;

namespace longshore::bindings {

/// Anything that a program makes and frees.
class owned {
 public:
  /// `kind`: as messages name it. `stands_on`: what must outlive it.
  owned(longshore_team& team, const char* kind, std::vector<const owned*> stands_on = {})
      : team_(team), kind_(kind), stands_on_(std::move(stands_on)) {
    for (const owned* below : stands_on_) ++below->users_;
  }
  virtual ~owned() {
    for (const owned* below : stands_on_) --below->users_;
  }
  owned(const owned&) = delete;
  owned& operator=(const owned&) = delete;

  /// Ends what the program began and did not wait for, before anything of its team is freed.
  virtual void complete() {}

  [[nodiscard]] longshore_team& team() const noexcept { return team_; }
  [[nodiscard]] const char* kind() const noexcept { return kind_; }
  [[nodiscard]] int users() const noexcept { return users_; }

 private:
  longshore_team& team_;
  const char* kind_;
  std::vector<const owned*> stands_on_;
  mutable int users_ = 0;
};

/// Tasks by the words of an options struct.
[[nodiscard]] tasks tasks_named(const team& ranks, const char* layer, int count);
/// Bytes of an element of the given type; `element_bytes` is that of LONGSHORE_BYTES. Throws
/// errc::usage for what is no type.
[[nodiscard]] std::size_t bytes_of_type(int type, std::size_t element_bytes, const char* what);
/// "int32", ...
[[nodiscard]] const char* name_of_type(int type) noexcept;

}  // namespace longshore::bindings

struct longshore_team {
  explicit longshore_team(longshore::team& of) : ranks(of) {}
  /// For a team that is this handle's own.
  explicit longshore_team(std::unique_ptr<longshore::team> of) : own(std::move(of)), ranks(*own) {}
  ~longshore_team() {
    while (!things.empty()) things.pop_back();
  }
  longshore_team(const longshore_team&) = delete;
  longshore_team& operator=(const longshore_team&) = delete;

  /// Keeps what was made, and gives its handle.
  template <class Thing>
  Thing* keep(std::unique_ptr<Thing> thing) {
    Thing* const handle = thing.get();
    things.push_back(std::move(thing));
    return handle;
  }
  /// At the end of a run that went well: what is in flight lands while all that it needs is there.
  void complete() const {
    for (const auto& thing : things) thing->complete();
  }
  /// Ends it. Throws errc::usage where something stands on it.
  static void free(longshore::bindings::owned* thing);

  /// Throws errc::usage in another thread than the one that the team was made in: waits and buffers
  /// are of one thread.
  void check_thread() const {
    if (std::this_thread::get_id() != thread)
      longshore::fail(longshore::errc::usage,
                      "rank {}: a team, or what was made with it, is used by another thread than "
                      "the one that the team was made in",
                      ranks.rank());
  }

  std::unique_ptr<longshore::team> own;
  longshore::team& ranks;
  const std::thread::id thread = std::this_thread::get_id();
  std::vector<std::unique_ptr<longshore::bindings::owned>> things;
};

namespace longshore::bindings {

/// What a handle stands for, as a call may use it. Throws errc::usage for NULL, and in a wrong
/// thread.
inline longshore_team& usable(longshore_team* team) {
  needed(team, "the team").check_thread();
  return *team;
}
template <class Thing>
Thing& usable(Thing* thing, const char* what) {
  needed(thing, what).team().check_thread();
  return *thing;
}

}  // namespace longshore::bindings
