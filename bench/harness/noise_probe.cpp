#include "harness/noise_probe.hpp"

#include <longshore/core/error.hpp>
#include <longshore/transport/waiter.hpp>

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>

namespace longshore::bench {
namespace {

// Some cache lines: bandwidth between cores counts as well as latency
constexpr std::size_t message_bytes = 4096;
constexpr int slots = 2;
constexpr double probe_seconds = 0.0002;  // of the 5 ms of a repetition
constexpr int most_exchanges = 32, tries = 4;

}  // namespace

noise_probe::noise_probe(team& ranks)
    : team_(ranks),
      next_((ranks.rank() + 1) % ranks.size()),
      before_((ranks.rank() + ranks.size() - 1) % ranks.size()),
      message_(message_bytes, std::byte{1}) {
  const channel_end to{next_, message_bytes}, from{before_, message_bytes};
  channels_ = team_.open_channels({&to, 1}, {&from, 1}, slots);
  static_cast<void>(seconds_of(tries));  // the first exchanges open connections
  const double each = team_.allreduce_value(seconds_of(tries), reduction::max);
  exchanges_ = each * most_exchanges <= probe_seconds
                   ? most_exchanges
                   : std::max(1, static_cast<int>(probe_seconds / each));
}

double noise_probe::measure() { return seconds_of(exchanges_); }

double noise_probe::seconds_of(int exchanges) {
  team_.barrier();
  const double start = team_.now();
  for (int i = 0; i < exchanges; ++i) exchange();
  return (team_.now() - start) / exchanges;
}

// One message to the next rank, one from the previous rank.
void noise_probe::exchange() {
  std::byte* slot = nullptr;
  for (waiter wait(team_, "a free slot of the noise probe", next_);
       (slot = channels_->sender(0).reserve()) == nullptr; wait.pause()) {
  }
  std::memcpy(slot, message_.data(), message_bytes);
  channels_->sender(0).commit(message_bytes);
  std::optional<std::span<const std::byte>> arrived;
  for (waiter wait(team_, "the noise probe", before_); !(arrived = channels_->receiver(0).front());
       wait.pause()) {
  }
  if (arrived->size() != message_bytes)
    fail(errc::transport, "a message of {} bytes arrived as {}", message_bytes, arrived->size());
  std::memcpy(message_.data(), arrived->data(), message_bytes);
  channels_->receiver(0).release();
}

}  // namespace longshore::bench
