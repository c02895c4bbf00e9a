// Starts the programs of a plan, or of the plan of a part.
#include <longshore/exchange/field_exchange.hpp>

#include <longshore/core/error.hpp>
#include <longshore/exchange/detail/copy_links.hpp>
#include <longshore/exchange/detail/exchange_plan.hpp>

#include <array>

namespace longshore {

using detail::field_operation, detail::program_accumulate, detail::program_update;

field_exchange::field_exchange(const detail::exchange_words& words) : words_(&words) {}
field_exchange::~field_exchange() = default;
field_exchange::field_exchange(field_exchange&& other) noexcept = default;
field_exchange& field_exchange::operator=(field_exchange&& other) noexcept = default;

detail::exchange_plan& field_exchange::update_plan() const {
  if (updates_) return *updates_;
  accumulates_.check_made(words_->plan);
  return *accumulates_;
}

void field_exchange::start(field_operation operation, std::span<const combine_op> operations,
                           const exchange_part& part, std::optional<device_stream> stream) {
  (void)update_plan();
  (updates_ ? updates_ : accumulates_).check_team();
  if (running_ != nullptr)
    fail(errc::usage, "{} was started {}: call wait() in between", words_->exchange, words_->twice);
  running_ = &plan_of(part).run(operation, operations, stream);
}

field_exchange& field_exchange::plan_of(const exchange_part& part) {
  if (part.fields.empty() && !part.width) return *this;
  for (const auto& made : parts_)
    if (made.part == part) return *made.plan;
  parts_.push_back({part, make_part(part)});
  return *parts_.back().plan;
}

// Starts an operation, and returns the plan that runs it.
detail::exchange_plan& field_exchange::run(field_operation operation,
                                           std::span<const combine_op> operations,
                                           std::optional<device_stream> stream) {
  if (operation == field_operation::update) {
    update_plan().start(std::array{program_update}, {}, stream);
    return update_plan();
  }
  if (!accumulates_) make_accumulates();
  constexpr std::array programs{program_accumulate, program_update};
  accumulates_->start(std::span(programs).first(operation == field_operation::assemble ? 2 : 1),
                      operations, stream);
  return *accumulates_;
}

void field_exchange::start_accumulate(const combine_ops& operations, const exchange_part& part,
                                      std::optional<device_stream> stream) {
  start(field_operation::accumulate, operations.all(), part, stream);
}
void field_exchange::start_assemble(const combine_ops& operations, const exchange_part& part,
                                    std::optional<device_stream> stream) {
  start(field_operation::assemble, operations.all(), part, stream);
}
void field_exchange::accumulate(const combine_ops& operations, const exchange_part& part) {
  start_accumulate(operations, part);
  wait();
}
void field_exchange::assemble(const combine_ops& operations, const exchange_part& part) {
  start_assemble(operations, part);
  wait();
}

bool field_exchange::test() {
  (void)update_plan();
  if (running_ != nullptr && !running_->test()) return false;
  running_ = nullptr;
  return true;
}

void field_exchange::wait(std::optional<device_stream> stream) {
  (void)update_plan();
  if (running_ == nullptr)
    fail(errc::usage, "wait() on {} that was not started: {}", words_->exchange,
         words_->not_started);
  running_->wait(stream);
  running_ = nullptr;
}

traffic field_exchange::moved(field_operation operation) const {
  auto& plan = update_plan();
  if (operation == field_operation::update) return plan.moved(program_update);
  if (!accumulates_) return {};
  traffic total = accumulates_->moved(program_accumulate);
  if (operation == field_operation::assemble) total += accumulates_->moved(program_update);
  return total;
}

exchange_transfers field_exchange::transfers() const {
  return update_plan().transfers(program_update);
}

std::size_t field_exchange::memory_of_plans() const {
  std::size_t bytes =
      (updates_ ? updates_->memory_bytes() : 0) + (accumulates_ ? accumulates_->memory_bytes() : 0);
  for (const auto& made : parts_) bytes += made.plan->memory_of_plans();
  return bytes;
}

}  // namespace longshore
