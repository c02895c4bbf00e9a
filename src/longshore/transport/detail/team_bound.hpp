// Objects that need their team when they are destroyed, such as plans. A program may destroy the
// team first, by mistake. Then such an object is leaked, and the program is told.
#pragma once

#include <longshore/transport/team.hpp>

#include <memory>
#include <utility>

namespace longshore::detail {

/// Tells whether a team still exists.
class team_watch {
 public:
  team_watch() = default;
  explicit team_watch(const team& ranks) : lifetime_(ranks.lifetime()) {}
  /// For destructors. Returns true if the team is gone; then objects that need the team must be
  /// leaked. The first such call of the process prints an error that names `kind`, and the process
  /// ends with status 3.
  [[nodiscard]] bool reports_end(const char* kind) const noexcept;
  /// Throws errc::usage if the team is gone. Cost: one load.
  void check(const char* kind) const {
    if (lifetime_.expired()) [[unlikely]]
      throw_for_ended_team(kind);
  }

 private:
  [[noreturn]] static void throw_for_ended_team(const char* kind);
  std::weak_ptr<const void> lifetime_;
};

[[noreturn]] void throw_for_empty(const char* what);

/// A std::unique_ptr whose object is leaked if its team is gone. `kind` names the object in the
/// message, and lives as long as the program.
template <class T>
class team_bound {
 public:
  team_bound() = default;
  team_bound(const team& ranks, const char* kind, std::unique_ptr<T> object)
      : team_(ranks), kind_(kind), object_(std::move(object)) {}
  ~team_bound() {
    if (object_ && team_.reports_end(kind_)) static_cast<void>(object_.release());
  }
  team_bound(team_bound&&) noexcept = default;
  team_bound& operator=(team_bound&& other) noexcept {
    team_bound old(std::move(other));
    std::swap(team_, old.team_);
    std::swap(kind_, old.kind_);
    std::swap(object_, old.object_);
    return *this;  // `old` destroys the previous object
  }
  /// Throws errc::usage if the team is gone.
  void check_team() const { team_.check(kind_); }
  /// Throws errc::usage if there is no object. `what` names it, such as "a halo plan".
  void check_made(const char* what) const {
    if (!object_) [[unlikely]]
      throw_for_empty(what);
  }
  explicit operator bool() const noexcept { return static_cast<bool>(object_); }
  [[nodiscard]] T& operator*() const noexcept { return *object_; }
  [[nodiscard]] T* operator->() const noexcept { return object_.get(); }

 private:
  team_watch team_;
  const char* kind_ = "";
  std::unique_ptr<T> object_;
};

}  // namespace longshore::detail
