// Makes the plans of box_exchange and box_copy.
#include <longshore/boxes/box_copy.hpp>
#include <longshore/boxes/box_exchange.hpp>

#include <longshore/boxes/detail/box_plan.hpp>
#include <longshore/core/error.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace longshore {
namespace {

using detail::program_accumulate, detail::program_update;

}  // namespace

box_exchange::box_exchange(const box_layout& layout, const box_options& options,
                           std::vector<box_field_memory> fields)
    : layout_(layout), options_(options), fields_(std::move(fields)) {
  common_arguments same;
  same.add("mode", name_of(options.mode));
  detail::add_arguments(same, fields_);
  detail::plan_arguments arguments("a plan of boxes", same);
  arguments.attempt([&] { detail::check_box_fields(layout.data(), fields_); });
  updates_ = {layout.ranks(), "a plan of boxes",
              detail::make_box_plan({.copies = layout.data(),
                                     .copy_fields = fields_,
                                     .owners = layout.data(),
                                     .owner_fields = fields_,
                                     .takes_shared = false},
                                    options.mode, false, true, std::move(arguments))};
}

box_exchange::~box_exchange() = default;
box_exchange::box_exchange(box_exchange&& other) noexcept
    : layout_(other.layout_),
      options_(other.options_),
      fields_(std::move(other.fields_)),
      updates_(std::move(other.updates_)),
      accumulates_(std::move(other.accumulates_)),
      parts_(std::move(other.parts_)),
      running_(std::exchange(other.running_, nullptr)) {}
box_exchange& box_exchange::operator=(box_exchange&& other) noexcept {
  layout_ = other.layout_;
  options_ = other.options_;
  fields_ = std::move(other.fields_);
  updates_ = std::move(other.updates_);
  accumulates_ = std::move(other.accumulates_);
  parts_ = std::move(other.parts_);
  running_ = std::exchange(other.running_, nullptr);
  return *this;
}

void box_exchange::start(box_operation operation, std::span<const combine_op> operations,
                         const exchange_part& part, std::optional<device_stream> stream) {
  (void)update_plan();
  (updates_ ? updates_ : accumulates_).check_team();
  if (running_ != nullptr)
    fail(errc::usage, "a box exchange was started while it is in flight: call wait() in between");
  running_ = &plan_of(part).run(operation, operations, stream);
}

void box_exchange::start_update(const exchange_part& part, std::optional<device_stream> stream) {
  start(box_operation::update, {}, part, stream);
}
void box_exchange::start_accumulate(const combine_op& operation, const exchange_part& part,
                                    std::optional<device_stream> stream) {
  start_accumulate({&operation, 1}, part, stream);
}
void box_exchange::start_accumulate(std::span<const combine_op> operations,
                                    const exchange_part& part,
                                    std::optional<device_stream> stream) {
  start(box_operation::accumulate, operations, part, stream);
}
void box_exchange::start_assemble(const combine_op& operation, const exchange_part& part,
                                  std::optional<device_stream> stream) {
  start_assemble({&operation, 1}, part, stream);
}
void box_exchange::start_assemble(std::span<const combine_op> operations, const exchange_part& part,
                                  std::optional<device_stream> stream) {
  start(box_operation::assemble, operations, part, stream);
}

void box_exchange::update(const exchange_part& part) {
  start_update(part);
  wait();
}
void box_exchange::accumulate(const combine_op& operation, const exchange_part& part) {
  accumulate({&operation, 1}, part);
}
void box_exchange::accumulate(std::span<const combine_op> operations, const exchange_part& part) {
  start_accumulate(operations, part);
  wait();
}
void box_exchange::assemble(const combine_op& operation, const exchange_part& part) {
  assemble({&operation, 1}, part);
}
void box_exchange::assemble(std::span<const combine_op> operations, const exchange_part& part) {
  start_assemble(operations, part);
  wait();
}

box_exchange& box_exchange::plan_of(const exchange_part& part) {
  return parts_.plan_of(*this, part, [&] {
    std::vector<box_field_memory> fields;
    for (const auto f :
         detail::agree_on_part(layout_.ranks(), "a plan of boxes", part, fields_.size())) {
      auto& field = fields.emplace_back(fields_[f]);
      field.widths = detail::narrower(field.widths, part);
    }
    return std::make_unique<box_exchange>(layout_, options_, std::move(fields));
  });
}

// Starts an operation, and returns the plan that runs it.
detail::exchange_plan& box_exchange::run(box_operation operation,
                                         std::span<const combine_op> operations,
                                         std::optional<device_stream> stream) {
  if (operation == box_operation::update) {
    update_plan().start(std::array{program_update}, {}, stream);
    return update_plan();
  }
  if (!accumulates_)
    accumulates_ = {layout_.ranks(), "a plan of boxes",
                    detail::make_box_plan({.copies = layout_.data(),
                                           .copy_fields = fields_,
                                           .owners = layout_.data(),
                                           .owner_fields = fields_},
                                          options_.mode, true, true, {})};
  // Without shared layers, its program `update` is that of the first plan.
  const bool shares = std::any_of(fields_.begin(), fields_.end(), [](const auto& field) {
    return field.shared != std::array<int, 3>{};
  });
  if (!shares) updates_ = {};
  constexpr std::array<std::size_t, 2> programs{program_accumulate, program_update};
  const bool is_assemble = operation == box_operation::assemble;
  accumulates_->start(std::span(programs).first(is_assemble ? 2 : 1), operations, stream);
  return *accumulates_;
}

bool box_exchange::test() {
  if (running_ == nullptr) return true;
  if (!running_->test()) return false;
  running_ = nullptr;
  return true;
}

void box_exchange::wait(std::optional<device_stream> stream) {
  if (running_ == nullptr)
    fail(errc::usage, "wait() on a box exchange that was not started: start an operation first");
  running_->wait(stream);
  running_ = nullptr;
}

detail::exchange_plan& box_exchange::update_plan() const {
  if (!updates_) accumulates_.check_made("a plan of boxes");
  return updates_ ? *updates_ : *accumulates_;
}

traffic box_exchange::moved(box_operation operation) const {
  if (operation == box_operation::update) return update_plan().moved(program_update);
  if (!accumulates_) return {};
  traffic total = accumulates_->moved(program_accumulate);
  if (operation == box_operation::assemble) total += accumulates_->moved(program_update);
  return total;
}

exchange_transfers box_exchange::transfers() const {
  return update_plan().transfers(program_update);
}

std::size_t box_exchange::neighbours() const { return update_plan().neighbours(); }
std::size_t box_exchange::memory_bytes() const {
  std::size_t bytes =
      (updates_ ? updates_->memory_bytes() : 0) + (accumulates_ ? accumulates_->memory_bytes() : 0);
  parts_.for_each([&](const box_exchange& part) { bytes += part.memory_bytes(); });
  return bytes;
}

box_copy::box_copy(const box_layout& from_layout, std::vector<box_field_memory> from,
                   const box_layout& to_layout, std::vector<box_field_memory> to,
                   const box_copy_options& options)
    : from_(from_layout), to_(to_layout) {
  common_arguments same;
  same.add("mode", name_of(options.mode)).add("fills halos:", options.fills_halos ? "yes" : "no");
  detail::add_arguments(same, from);
  detail::add_arguments(same, to);
  detail::plan_arguments arguments("a copy of boxes", same);
  arguments.attempt([&] {
    if (&from_layout.ranks() != &to_layout.ranks())
      fail(errc::usage, "a copy of boxes between layouts of two teams: use one team for both");
    detail::check_box_fields(from_layout.data(), from);
    detail::check_box_fields(to_layout.data(), to);
    if (options.fills_halos)
      for (std::size_t f = 0; f < to.size(); ++f)
        detail::check_widths_in_domain(from_layout.data(), f, to[f]);
    if (from.size() != to.size())
      fail(errc::usage, "a copy of {} fields to {} fields", from.size(), to.size());
    for (std::size_t f = 0; f < from.size(); ++f)
      if (from[f].type->name() != to[f].type->name() || from[f].shared != to[f].shared ||
          from[f].element_bytes != to[f].element_bytes)
        fail(errc::usage,
             "the {} field of a copy of boxes has another type, or shares other layers, at its "
             "target",
             detail::nth(f));
  });
  plan_ = {from_layout.ranks(), "a copy of boxes",
           detail::make_box_plan({.copies = to_layout.data(),
                                  .copy_fields = to,
                                  .owners = from_layout.data(),
                                  .owner_fields = from,
                                  .is_same = false,
                                  .takes_halo = options.fills_halos},
                                 options.mode, false, true, std::move(arguments))};
}

box_copy::~box_copy() = default;
box_copy::box_copy(box_copy&& other) noexcept = default;
box_copy& box_copy::operator=(box_copy&& other) noexcept = default;

void box_copy::start(std::optional<device_stream> stream) {
  made_plan();
  plan_.check_team();
  plan_->start(std::array{program_update}, {}, stream);
}
detail::exchange_plan& box_copy::made_plan() const {
  plan_.check_made("a copy of boxes");
  return *plan_;
}
bool box_copy::test() { return made_plan().test(); }
void box_copy::wait(std::optional<device_stream> stream) { made_plan().wait(stream); }
traffic box_copy::moved() const { return made_plan().moved(program_update); }
std::size_t box_copy::memory_bytes() const { return made_plan().memory_bytes(); }

}  // namespace longshore
