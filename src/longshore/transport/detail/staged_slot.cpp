// Copies messages into slots by ordinary or streaming stores, and takes the time of some copies.
#include <longshore/transport/detail/staged_slot.hpp>

#include <longshore/core/clock.hpp>
#include <longshore/core/streaming_store.hpp>

#include <algorithm>
#include <cstring>

namespace longshore::detail {
namespace {

constexpr double far_line_seconds = 15e-9;
constexpr double clearly_less = 0.5;

std::size_t lines_of(std::size_t bytes) noexcept {
  return round_up(bytes, cache_line_bytes) / cache_line_bytes;
}

}  // namespace

staged_slot::staged_slot(const channel_end& end) : trials_(std::min(end.slots, 4)) {
  if (can_stream_lines && end.streams && end.slot_bytes >= long_bytes)
    lines_.resize(lines_of(end.slot_bytes));
}

bool staged_slot::copy_to(std::byte* slot, std::size_t bytes) noexcept {
  const bool is_long = bytes >= long_bytes, is_streamed = next_ == way::streamed && is_long;
  // The first copies find the lines of their slots as earlier messages have left them.
  const bool is_timed = is_long && message_ >= trials_ && message_ < 3 * trials_;
  const double began = is_timed ? monotonic_seconds() : 0;
  const std::size_t lines = lines_of(bytes);
  if (is_streamed) {
    for (std::size_t i = 0; i < lines; ++i) stream_line(slot + i * cache_line_bytes, &lines_[i]);
    fence_streaming_stores();
  } else {
    std::memcpy(slot, lines_.data(), bytes);
  }
  if (is_timed) {
    double& shortest = is_streamed ? streamed_line_seconds_ : copied_line_seconds_;
    shortest = std::min(shortest, (monotonic_seconds() - began) / static_cast<double>(lines));
  }
  advance();
  return is_streamed;
}

void staged_slot::advance() noexcept {
  if (++message_ == messages_per_choice) {
    message_ = 0;
    copied_line_seconds_ = streamed_line_seconds_ = unknown;
    next_ = way::copied;
  } else if (message_ == 2 * trials_) {
    next_ = way::streamed;
  } else if (message_ == 3 * trials_) {
    const bool is_known = copied_line_seconds_ < unknown;  // short messages are not timed
    const bool pays = is_known && copied_line_seconds_ > far_line_seconds &&
                      streamed_line_seconds_ < clearly_less * copied_line_seconds_;
    next_ = pays ? way::streamed : way::direct;
  }
}

}  // namespace longshore::detail
