// The calls of the library underneath, for benchmarks that hold a transport against them.
#pragma once

#include <longshore/transport/raw_calls.hpp>
#include <longshore/transport/team.hpp>

#include <cstddef>
#include <memory>
#include <string_view>

namespace longshore {

/// Whether raw_calls_of has any for a transport.
[[nodiscard]] bool has_raw_calls(std::string_view transport) noexcept;

/// Collective; destroying it is too. With room for a message of `bytes` bytes. Throws
/// errc::unsupported where there are none.
[[nodiscard]] std::unique_ptr<raw_calls> raw_calls_of(team& team, std::size_t bytes);

}  // namespace longshore
