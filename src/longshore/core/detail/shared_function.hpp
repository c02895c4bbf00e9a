// A function object of any type, for public headers. std::function would cost each source that
// includes Longshore a tenth of a second, because <functional> has much else.
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace longshore::detail {

template <class Signature>
class shared_function;

/// Like std::function, but copies share the function object, which may be of a type that cannot be
/// copied. A call costs an indirect call. REQUIRES of a call: the object holds a function.
template <class Result, class... Arguments>
class shared_function<Result(Arguments...)> {
 public:
  shared_function() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): null stands for no function
  shared_function(std::nullptr_t) noexcept {}
  template <class Function>
  requires(!std::same_as<Function, shared_function> &&
           std::is_invocable_r_v<Result, Function&, Arguments...>)
      // NOLINTNEXTLINE(google-explicit-constructor): a lambda is passed as it is
      shared_function(Function function)
      : function_(std::make_shared<Function>(std::move(function))),
        call_([](void* object, Arguments... arguments) -> Result {
          return static_cast<Result>(
              (*static_cast<Function*>(object))(std::forward<Arguments>(arguments)...));
        }) {}

  explicit operator bool() const noexcept { return call_ != nullptr; }
  Result operator()(Arguments... arguments) const {
    return call_(function_.get(), std::forward<Arguments>(arguments)...);
  }

 private:
  std::shared_ptr<void> function_;
  Result (*call_)(void* object, Arguments... arguments) = nullptr;
};

}  // namespace longshore::detail
