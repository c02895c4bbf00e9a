// Makes a plan: checks the fields, lets the algorithm plan the rounds, and makes an exchange_plan of
// them.
#include <longshore/halo/halo_exchange.hpp>

#include <longshore/core/error.hpp>
#include <longshore/exchange/detail/plan_parts.hpp>
#include <longshore/halo/detail/accumulate_plan.hpp>
#include <longshore/halo/detail/algorithms/plan_rounds.hpp>
#include <longshore/halo/detail/grid_handshake.hpp>
#include <longshore/halo/detail/neighbour_fields.hpp>
#include <longshore/halo/detail/round_program.hpp>
#include <longshore/transport/shareable_memory.hpp>

#include <fmt/core.h>

#include <string>

namespace longshore {
namespace {

constexpr detail::exchange_words words{"a halo plan", "a halo exchange", "twice",
                                       "call start() first"};

// Checks a field along one dimension. A side without a neighbour needs no halo.
void check_dimension(const rank_grid& grid, const detail::exchanged_field& field, std::size_t index,
                     int d) {
  const int shared = field.memory.shared[d];
  const auto cells = field.memory.extents[d];
  if (shared < 0)
    fail(errc::usage, "the {} field shares {} layers along {}: use 0 or more", detail::nth(index),
         shared, axis_names[d]);
  const auto check_side = [&](int width, int max_width, int side) {
    if (grid.neighbour(directions_along(d)[side]) < 0) return;
    if (width < 0 || width > max_width)
      fail(errc::usage,
           "a halo of {} cells on the {} side along {}: the {} field has memory for 0 to {}", width,
           side == 0 ? "low" : "high", axis_names[d], detail::nth(index), max_width);
    if (static_cast<std::size_t>(width + shared) > cells)
      fail(errc::usage, "a halo of {} cells along {}{} is wider than the {} cells of the {} field",
           width, axis_names[d],
           shared > 0 ? fmt::format(", beyond {} shared layers,", shared) : std::string(), cells,
           detail::nth(index));
  };
  check_side(field.widths.low[d], field.memory.widths.low[d], 0);
  check_side(field.widths.high[d], field.memory.widths.high[d], 1);
}

detail::exchanged_field checked_field(const rank_grid& grid,
                                      const std::optional<halo_widths>& widths,
                                      const field_memory& field, std::size_t index) {
  detail::exchanged_field exchanged{field, widths.value_or(field.widths), index};
  if (field.type == nullptr)
    fail(errc::usage, "the {} field of a halo exchange has no type", detail::nth(index));
  for (int d = 0; d < 3; ++d) {
    if (d < grid.dimensions()) {
      check_dimension(grid, exchanged, index, d);
      continue;
    }
    exchanged.widths.low[d] = exchanged.widths.high[d] = 0;
    if (field.extents[d] != 1 || field.shared[d] != 0)
      fail(errc::usage,
           "the {} field has {} cells along {} and shares {} layers, but the grid has {} "
           "dimensions: give 1 cell and 0 layers there",
           detail::nth(index), field.extents[d], axis_names[d], field.shared[d], grid.dimensions());
  }
  return exchanged;
}

std::vector<detail::exchanged_field> exchanged_fields(const rank_grid& grid,
                                                      const std::optional<halo_widths>& widths,
                                                      std::span<const field_memory> fields) {
  std::vector<detail::exchanged_field> exchanged;
  for (const auto& field : fields)
    exchanged.push_back(checked_field(grid, widths, field, exchanged.size()));
  return exchanged;
}

std::string shared_text(const field_memory& field) {
  const auto& [x, y, z] = field.shared;
  return x == 0 && y == 0 && z == 0 ? "" : fmt::format(" that shares {},{},{} layers", x, y, z);
}

common_arguments arguments_of(const rank_grid& grid, const halo_options& options,
                              const std::vector<field_memory>& fields) {
  auto same = detail::grid_arguments(grid);
  same.add("algorithm", name_of(options.algorithm))
      .add("mode", name_of(options.mode))
      .add("reach", name_of(options.reach))
      .add("fields:", fields.size());
  for (const auto& field : fields)
    same.add("a field of",
             fmt::format("{} ({} bytes){}", field.type != nullptr ? field.type->name() : "no type",
                         field.element_bytes, shared_text(field)));
  return same;
}

}  // namespace

halo_exchange::halo_exchange(const rank_grid& grid, const halo_options& options,
                             const std::vector<field_memory>& fields)
    : field_exchange(words), grid_(grid), options_(options), fields_(fields) {
  std::vector<detail::exchanged_field> exchanged;
  detail::learned_fields known;
  const auto learn = [&](std::span<std::int64_t> numbers) {
    known = detail::learn_fields_of_neighbours(grid.ranks(), *detail::messenger_of(grid), exchanged,
                                               numbers);
  };
  // Ranks may have different blocks. All ranks refuse a width that is too large for one rank. The
  // same exchange tells the fields of the neighbours. If messages between neighbours use channels,
  // ranks agree first: through a channel, a rank with another grid would not answer.
  const bool has_channels = detail::messenger::has_channels(grid.ranks());
  agree_on_call(
      grid.ranks(), "a halo plan", arguments_of(grid, options, fields),
      [&] {
        if (fields.empty()) fail(errc::usage, "a halo exchange needs at least one field");
        exchanged = exchanged_fields(grid, options.width, fields);
      },
      has_channels ? detail::largest_taker() : learn);
  if (has_channels) learn({});
  algorithm_ = options.algorithm == halo_algorithm::automatic
                   ? detail::choose_algorithm(grid, options, fields)
                   : options.algorithm;
  // Algorithms of one field after another, and calls of MPI, take each field on its own.
  const bool has_groups = !is_mpi_mode(options.mode) && algorithm_ != halo_algorithm::sequenced &&
                          algorithm_ != halo_algorithm::staged_sequenced;
  const auto groups =
      has_groups ? detail::first_of_groups(grid.ranks(), exchanged, known) : exchanged;
  const auto rounds = detail::plan_rounds(algorithm_, {grid, groups, known.of_rank}, options.reach,
                                          !is_mpi_mode(options.mode));
  for (const auto& round : rounds)
    rounds_between_ranks_ += detail::stays_within_ranks(grid, round) ? 0 : 1;
  detail::plan_arguments messages("a halo plan", {});
  messages.attempt([&] {
    if (const auto reason =
            why_not(options.mode, grid.ranks().transport_name(), grid.shape(), grid.wraps()))
      fail(errc::unsupported, "{}", *reason);
    detail::check_widths(grid, exchanged, known.of_rank, false);
    detail::check_messages(grid.ranks(), rounds);
  });
  auto setup = detail::setup_of_rounds(grid, options.mode, rounds, fields, groups);
  setup.workers = options.workers;
  updates_ = {
      grid.ranks(), words.plan,
      std::make_unique<detail::exchange_plan>(grid.ranks(), std::move(setup), std::move(messages))};
}

halo_exchange::halo_exchange() : field_exchange(words) {}
halo_exchange::~halo_exchange() = default;
halo_exchange::halo_exchange(halo_exchange&& other) noexcept = default;
halo_exchange& halo_exchange::operator=(halo_exchange&& other) noexcept = default;

std::unique_ptr<field_exchange> halo_exchange::make_part(const exchange_part& part) {
  std::vector<field_memory> fields;
  for (const auto f : detail::agree_on_part(grid_->ranks(), words.plan, part, fields_.size())) {
    auto& field = fields.emplace_back(fields_[f]);
    field.widths = detail::narrower(options_.width.value_or(field.widths), part);
  }
  auto options = options_;
  options.algorithm = algorithm_;
  options.width = {};
  return std::make_unique<halo_exchange>(*grid_, options, fields);
}

void halo_exchange::make_accumulates() {
  accumulates_ = {
      grid_->ranks(), words.plan,
      detail::make_accumulate_plan(*grid_, exchanged_fields(*grid_, options_.width, fields_),
                                   filled_by(algorithm_, options_.reach), options_.mode)};
}

void halo_exchange::start(const exchange_part& part, std::optional<device_stream> stream) {
  field_exchange::start(detail::field_operation::update, {}, part, stream);
}
void halo_exchange::start(device_stream stream) { start({}, stream); }
void halo_exchange::exchange(const exchange_part& part) {
  start(part);
  wait();
}

}  // namespace longshore
