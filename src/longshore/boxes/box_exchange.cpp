// Makes the plans of box_exchange and box_copy.
#include <longshore/boxes/box_copy.hpp>
#include <longshore/boxes/box_exchange.hpp>

#include <longshore/boxes/detail/box_plan.hpp>
#include <longshore/core/error.hpp>
#include <longshore/exchange/detail/plan_parts.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace longshore {
namespace {

constexpr detail::exchange_words words{"a plan of boxes", "a box exchange", "while it is in flight",
                                       "start an operation first"};

}  // namespace

box_exchange::box_exchange(const box_layout& layout, const box_options& options,
                           std::vector<box_field_memory> fields)
    : field_exchange(words), layout_(layout), options_(options), fields_(std::move(fields)) {
  common_arguments same;
  same.add("mode", name_of(options.mode));
  detail::add_arguments(same, fields_);
  detail::plan_arguments arguments(words.plan, same);
  arguments.attempt([&] { detail::check_box_fields(layout.data(), fields_); });
  updates_ = {layout.ranks(), words.plan,
              detail::make_box_plan({.copies = layout.data(),
                                     .copy_fields = fields_,
                                     .owners = layout.data(),
                                     .owner_fields = fields_,
                                     .takes_shared = false},
                                    options.mode, false, true, std::move(arguments))};
}

box_exchange::~box_exchange() = default;
box_exchange::box_exchange(box_exchange&& other) noexcept = default;
box_exchange& box_exchange::operator=(box_exchange&& other) noexcept = default;

std::unique_ptr<field_exchange> box_exchange::make_part(const exchange_part& part) {
  std::vector<box_field_memory> fields;
  for (const auto f : detail::agree_on_part(layout_.ranks(), words.plan, part, fields_.size())) {
    auto& field = fields.emplace_back(fields_[f]);
    field.widths = detail::narrower(field.widths, part);
  }
  return std::make_unique<box_exchange>(layout_, options_, std::move(fields));
}

// The first plan is kept only if a field shares layers. Without shared layers, the program `update`
// of the second plan is that of the first.
void box_exchange::make_accumulates() {
  accumulates_ = {layout_.ranks(), words.plan,
                  detail::make_box_plan({.copies = layout_.data(),
                                         .copy_fields = fields_,
                                         .owners = layout_.data(),
                                         .owner_fields = fields_},
                                        options_.mode, true, true, {})};
  const bool shares = std::any_of(fields_.begin(), fields_.end(), [](const auto& field) {
    return field.shared != std::array<int, 3>{};
  });
  if (!shares) updates_ = {};
}

void box_exchange::start_update(const exchange_part& part, std::optional<device_stream> stream) {
  start(detail::field_operation::update, {}, part, stream);
}
void box_exchange::update(const exchange_part& part) {
  start_update(part);
  wait();
}
std::size_t box_exchange::neighbours() const { return update_plan().neighbours(); }

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
  plan_->start(std::array{detail::program_update}, {}, stream);
}
detail::exchange_plan& box_copy::made_plan() const {
  plan_.check_made("a copy of boxes");
  return *plan_;
}
bool box_copy::test() { return made_plan().test(); }
void box_copy::wait(std::optional<device_stream> stream) { made_plan().wait(stream); }
traffic box_copy::moved() const { return made_plan().moved(detail::program_update); }
std::size_t box_copy::memory_bytes() const { return made_plan().memory_bytes(); }

}  // namespace longshore
