// Direct calls of the library under a team, for benchmarks.
#pragma once

#include <longshore/transport/detail/raw_calls.hpp>
#include <longshore/transport/team.hpp>

#include <cstddef>
#include <memory>

namespace longshore::one_sided {

/// Making and destroying the object are collective. The object has memory for messages of `bytes`
/// bytes. Null if the team does not use a one-sided library.
[[nodiscard]] std::unique_ptr<detail::raw_calls> make_raw_calls(longshore::team& team,
                                                                std::size_t bytes);

}  // namespace longshore::one_sided
