// The shape of a message, which sender and receiver compare when they make a plan.
#pragma once

#include <longshore/halo/detail/halo_round.hpp>

#include <array>
#include <cstdint>

namespace longshore::detail {

/// Has no padding, so that its bytes can be sent.
struct message_shape {
  std::uint64_t bytes = 0;
  std::uint64_t parts = 0;
  std::array<std::uint64_t, 3> cells{};  ///< of the first part, along x, y, z

  bool operator==(const message_shape&) const = default;
};

/// All numbers are 0 if there is no message.
[[nodiscard]] message_shape shape_of(const halo_message& message);

/// Throws errc::usage for a message on whose shape its two ranks disagree.
[[noreturn]] void refuse_shape(int sender, const message_shape& sent, int receiver,
                               const message_shape& expected);

}  // namespace longshore::detail
