// Direct calls of the underlying library, for benchmarks that compare a transport with them.
#pragma once

#include <longshore/transport/detail/raw_calls.hpp>
#include <longshore/transport/team.hpp>

#include <cstddef>
#include <memory>
#include <string_view>

namespace longshore {

/// Whether raw_calls_of() supports `transport`.
[[nodiscard]] bool has_raw_calls(std::string_view transport) noexcept;

/// Making and destroying the object are collective. For messages of up to `bytes` bytes. Throws
/// errc::unsupported if the transport of `team` is not shmem or ucx.
[[nodiscard]] std::unique_ptr<detail::raw_calls> raw_calls_of(team& team, std::size_t bytes);

}  // namespace longshore
