// Runs the programs of a plan.
#include <longshore/exchange/detail/exchange_plan.hpp>

#include <longshore/core/error.hpp>
#include <longshore/exchange/detail/device/device_pieces.hpp>
#include <longshore/exchange/detail/movers/link_mover.hpp>
#include <longshore/transport/waiter.hpp>

#include <algorithm>

namespace longshore::detail {

void exchange_plan::check_stream(std::optional<device_stream> stream) const {
  if (!stream) return;
  if (!device_)
    fail(errc::usage,
         "a {} exchange on rank {} got a stream of a device, but its fields do not lie in device "
         "memory: start it and wait for it without a stream",
         name_, ranks_.rank());
  if (const int device = device_->driver.device_of(*stream); device != device_->device)
    fail(errc::usage,
         "the fields of a {} plan on rank {} lie in memory of device {}, and the stream belongs to "
         "device {}: pass a stream of device {}",
         name_, ranks_.rank(), device_->device, device, device_->device);
}

void exchange_plan::set_combiners(std::span<const combine_op> operations) {
  ops_.clear();
  combiners_.clear();
  if (operations.size() != 1 && operations.size() != types_.size())
    fail(errc::usage, "{} operations for a {} plan of {} fields: give one, or one per field",
         operations.size(), name_, types_.size());
  for (std::size_t f = 0; f < types_.size(); ++f) {
    const auto& op = ops_.emplace_back(operations[operations.size() == 1 ? 0 : f]);
    const auto on_device = device_ ? operation_on_device(*types_[f], op) : std::nullopt;
    combiners_.push_back(
        {op.loop_for(*types_[f]), op.state().get(), on_device.value_or(device_operation{})});
    if (combiners_.back().loop == nullptr)
      fail(errc::usage,
           "the type of the {} field of a {} plan does not have the operation: give a function of "
           "the field's type by combine_op::of",
           nth(f), name_);
    if (device_ && !on_device)
      fail(errc::unsupported,
           "the {} field of a {} plan lies in device memory: there, integers, float and double are "
           "combined by add, min, max and bit_or only",
           nth(f), name_);
  }
}

void exchange_plan::start(std::span<const std::size_t> programs,
                          std::span<const combine_op> operations,
                          std::optional<device_stream> stream) {
  if (in_flight_)
    fail(errc::usage, "a {} exchange was started while it is in flight: call wait() in between",
         name_);
  context_.clock = clock_.start_exchange();
  const timed_phase starting(context_.clock, exchange_phase::send);
  check_stream(stream);
  freed_check_.check();
  if (direct_peers_) direct_peers_->check_mapped();
  if (!std::equal(programs.begin(), programs.end(), running_.begin(), running_.end())) {
    running_.assign(programs.begin(), programs.end());
    current_.clear();
    combines_ = false;
    for (const auto program : programs)
      for (const auto& round : programs_[program].rounds) {
        current_.push_back(&round);
        combines_ = combines_ || round.combines;
      }
  }
  if (combines_) set_combiners(operations);
  if (device_) {
    device_->stream = stream.value_or(device_->own_stream.get());
    // The exchange before may have been on another stream, and used the same buffers.
    device_->driver.wait(device_->device, device_->stream, *device_->done);
    device_->is_enqueued = false;
  }
  in_flight_ = true;
  current_round_ = 0;
  start_round();
  if (!waits_by_calls_) current_[0]->by->progress();
}

// Continues the rounds that have begun, and returns whether all rounds are done. A round whose
// messages have arrived may still have to send.
bool exchange_plan::progress() {
  while (true) {
    bool are_done = true;
    for (std::size_t r = 0; r <= current_round_; ++r) {
      auto& round = *current_[r]->by;
      if (!round.is_done()) round.progress();
      are_done = are_done && round.is_done();
    }
    if (current_round_ + 1 == current_.size()) {
      if (are_done) finish();
      return are_done;
    }
    const auto& latest = *current_[current_round_]->by;
    if (!latest.has_arrived() || !latest.has_sent()) return false;
    start_next_round();
  }
}

// All messages were stored, sent and read, or this work is queued on a device.
void exchange_plan::finish() {
  in_flight_ = device_.has_value();
  if (!device_) return;
  device_->driver.record(device_->device, device_->stream, *device_->done);
  device_->is_enqueued = true;
}

void exchange_plan::start_round() {
  const auto& round = *current_[current_round_];
  round.by->start(round.combines ? std::span<const combiner>(combiners_)
                                 : std::span<const combiner>());
}

void exchange_plan::start_next_round() {
  const timed_phase starting(context_.clock, exchange_phase::send);
  ++current_round_;
  start_round();
}

int exchange_plan::awaited_peer() const {
  for (std::size_t r = 0; r <= current_round_; ++r)
    if (!current_[r]->by->is_done()) return current_[r]->by->awaited_peer();
  return -1;
}

bool exchange_plan::test() {
  if (!in_flight_) return true;
  const timed_phase timed(context_.clock, exchange_phase::wait);
  if (!device_) return progress();
  if (!device_->is_enqueued && !progress()) return false;
  in_flight_ = !device_->driver.is_done(*device_->done);
  return !in_flight_;
}

void exchange_plan::wait(std::optional<device_stream> stream) {
  if (!in_flight_)
    fail(errc::usage, "wait() on a {} exchange that was not started: start an operation first",
         name_);
  check_stream(stream);
  const timed_phase timed(context_.clock, exchange_phase::wait);
  if (!device_) return run_to_end();
  if (!device_->is_enqueued) run_to_end();
  if (stream) {
    if (*stream != device_->stream) device_->driver.wait(device_->device, *stream, *device_->done);
  } else {
    const timed_phase unpacking(context_.clock, exchange_phase::unpack);
    for (waiter waiting(ranks_, "work on a device"); !device_->driver.is_done(*device_->done);
         waiting.pause()) {
    }
  }
  in_flight_ = false;
}

// Returns when all messages have arrived. Work on a device may then still be queued.
void exchange_plan::run_to_end() {
  if (waits_by_calls_) {
    current_[current_round_]->by->complete();
    while (current_round_ + 1 < current_.size()) {
      start_next_round();
      current_[current_round_]->by->complete();
    }
    finish();
    return;
  }
  // The deadline starts anew after each completed message.
  while (!progress()) {
    const std::size_t before = pending();
    for (waiter waiting(ranks_, awaited_.c_str(), awaited_peer());; waiting.pause()) {
      if (progress()) return;
      if (pending() != before) break;
    }
  }
}

std::size_t exchange_plan::pending() const {
  std::size_t pending = current_.size() - current_round_;
  for (std::size_t r = 0; r <= current_round_; ++r) pending += current_[r]->by->pending();
  return pending;
}

const std::byte* exchange_plan::kept(std::size_t i) const {
  return link_movers_.empty() ? nullptr : link_movers_.front()->kept(i);
}

}  // namespace longshore::detail
