// The raw calls of the library that a team stands on, with memory of their own.
#pragma once

#include <longshore/transport/raw_calls.hpp>
#include <longshore/transport/team.hpp>

#include <cstddef>
#include <memory>

namespace longshore::one_sided {

/// Collective; destroying it is too. Room for messages of `bytes` bytes. Null when the team's
/// transport is none of these.
[[nodiscard]] std::unique_ptr<raw_calls> make_raw_calls(longshore::team& team, std::size_t bytes);

}  // namespace longshore::one_sided
