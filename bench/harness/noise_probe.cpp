// The probe is a ring: each rank sends 4 KiB through a channel to the next rank, and receives as
// much from the previous rank.
#include "harness/noise_probe.hpp"

#include <longshore/core/error.hpp>
#include <longshore/transport/waiter.hpp>

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>

namespace longshore::bench {
namespace {

// Several cache lines, so that bandwidth between cores counts as well as latency
constexpr std::size_t message_bytes = 4096;
constexpr int slots = 2;
constexpr double probe_seconds = 0.0002;  // a repetition lasts about 5 ms
constexpr int max_exchanges = 32, trial_exchanges = 4;
// The slots of both channels of a rank, with as much memory again for what a transport adds.
static_assert(2 * (2 * slots * message_bytes) <= noise_probe::symmetric_bytes);

}  // namespace

noise_probe::noise_probe(team& ranks)
    : team_(ranks),
      next_rank_((ranks.rank() + 1) % ranks.size()),
      previous_rank_((ranks.rank() + ranks.size() - 1) % ranks.size()),
      message_(message_bytes, std::byte{1}) {
  const channel_end to{next_rank_, message_bytes}, from{previous_rank_, message_bytes};
  channels_ = team_.open_channels({&to, 1}, {&from, 1}, slots);
  static_cast<void>(seconds_of(trial_exchanges));  // the first exchanges open connections
  const double exchange_seconds =
      team_.allreduce_value(seconds_of(trial_exchanges), reduction::max);
  exchanges_ = exchange_seconds * max_exchanges <= probe_seconds
                   ? max_exchanges
                   : std::max(1, static_cast<int>(probe_seconds / exchange_seconds));
}

double noise_probe::measure() { return seconds_of(exchanges_); }

double noise_probe::seconds_of(int exchanges) {
  team_.barrier();
  const double start = team_.now();
  for (int i = 0; i < exchanges; ++i) exchange();
  return (team_.now() - start) / exchanges;
}

void noise_probe::exchange() {
  std::byte* slot = nullptr;
  for (waiter wait(team_, "a free slot of the noise probe", next_rank_);
       (slot = channels_->sender(0).reserve()) == nullptr; wait.pause()) {
  }
  std::memcpy(slot, message_.data(), message_bytes);
  channels_->sender(0).commit(message_bytes);
  std::optional<std::span<const std::byte>> arrived;
  for (waiter wait(team_, "the noise probe", previous_rank_);
       !(arrived = channels_->receiver(0).front()); wait.pause()) {
  }
  if (arrived->size() != message_bytes)
    fail(errc::transport, "a message of {} bytes arrived as {}", message_bytes, arrived->size());
  std::memcpy(message_.data(), arrived->data(), message_bytes);
  channels_->receiver(0).release();
}

}  // namespace longshore::bench
