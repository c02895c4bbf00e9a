// Makes a plan: checks the fields, lets the algorithm plan the rounds, and makes a backend for each
// round. An exchange runs the rounds one after another.
#include <longshore/halo/halo_exchange.hpp>

#include <longshore/core/error.hpp>
#include <longshore/halo/detail/algorithms/plan_rounds.hpp>
#include <longshore/halo/detail/backends/exchange_backend.hpp>
#include <longshore/transport/shareable_memory.hpp>

namespace longshore {
namespace {

detail::exchanged_field checked_field(const rank_grid& grid,
                                      const std::optional<halo_widths>& widths,
                                      const field_memory& field, std::size_t index) {
  detail::exchanged_field exchanged{field, widths.value_or(field.widths)};
  for (int d = 0; d < 3; ++d) {
    if (d >= grid.dimensions()) {
      exchanged.widths.low[d] = exchanged.widths.high[d] = 0;
      if (field.extents[d] != 1)
        fail(errc::usage,
             "field {} has {} cells along {}, but the grid has {} dimensions: give 1 cell there",
             index, field.extents[d], axis_names[d], grid.dimensions());
      continue;
    }
    const auto check_side = [&](int width, int max_width, const char* side) {
      if (width < 0 || width > max_width)
        fail(errc::usage,
             "a halo of {} cells on the {} side along {}: field {} has memory for 0 to {}", width,
             side, axis_names[d], index, max_width);
      if (static_cast<std::size_t>(width) > field.extents[d])
        fail(errc::usage, "a halo of {} cells along {} is wider than the {} cells of field {}",
             width, axis_names[d], field.extents[d], index);
    };
    check_side(exchanged.widths.low[d], field.widths.low[d], "low");
    check_side(exchanged.widths.high[d], field.widths.high[d], "high");
  }
  return exchanged;
}

common_arguments arguments_of(const rank_grid& grid, const halo_options& options,
                              const std::vector<field_memory>& fields) {
  auto same = detail::grid_arguments(grid);
  same.add("algorithm", name_of(options.algorithm))
      .add("mode", name_of(options.mode))
      .add("reach", name_of(options.reach))
      .add("fields:", fields.size());
  for (const auto& field : fields)
    same.add("a field of", fmt::format("{} ({} bytes)", field.type, field.element_bytes));
  return same;
}

}  // namespace

halo_exchange::halo_exchange(const rank_grid& grid, const halo_options& options,
                             const std::vector<field_memory>& fields)
    : reach_(options.reach) {
  std::vector<detail::exchanged_field> exchanged;
  // Ranks may have different blocks. All ranks refuse a width that is too large for one rank.
  agree_on_call(grid.ranks(), "a halo plan", arguments_of(grid, options, fields), [&] {
    if (fields.empty()) fail(errc::usage, "a halo exchange needs at least one field");
    for (const auto& field : fields)
      exchanged.push_back(checked_field(grid, options.width, field, exchanged.size()));
  });
  algorithm_ = options.algorithm == halo_algorithm::automatic
                   ? detail::choose_algorithm(grid, options, fields)
                   : options.algorithm;
  detail::backend_options backend{.workers = options.workers};
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const auto& field = fields[i];
    if (field.memory.bytes > 0) {
      backend.shareable.push_back(field.memory);
      memories_.add(i, field.lifetime);
    } else if (const auto found = detail::find_shareable(field.first)) {
      backend.shareable.push_back(found->handle);
      memories_.add(i, found->lifetime);
    }
  }
  auto rounds =
      detail::plan_rounds(algorithm_, grid, exchanged, options.reach, !is_mpi_mode(options.mode));
  for (const auto& round : rounds)
    rounds_between_ranks_ += detail::stays_within_ranks(grid, round) ? 0 : 1;
  rounds_ = {grid.ranks(), "a halo plan",
             std::make_unique<rounds_of_plan>(
                 detail::make_backends(options.mode, grid, std::move(rounds), backend))};
}

halo_exchange::~halo_exchange() = default;
halo_exchange::halo_exchange(halo_exchange&& other) noexcept = default;
halo_exchange& halo_exchange::operator=(halo_exchange&& other) noexcept = default;

void halo_exchange::start() {
  if (in_flight_) fail(errc::usage, "a halo exchange was started twice: call wait() in between");
  rounds_.check_team();
  memories_.check();
  in_flight_ = true;
  current_round_ = 0;
  (*rounds_)[0]->start();
}

bool halo_exchange::test() {
  if (!in_flight_) return true;
  auto& rounds = *rounds_;
  while (current_round_ + 1 < rounds.size()) {
    if (!rounds[current_round_]->arrived()) return false;
    rounds[++current_round_]->start();
  }
  for (const auto& round : rounds)
    if (!round->test()) return false;
  in_flight_ = false;
  return true;
}

void halo_exchange::wait() {
  if (!in_flight_)
    fail(errc::usage, "wait() on a halo exchange that was not started: call start() first");
  auto& rounds = *rounds_;
  while (current_round_ + 1 < rounds.size()) {
    rounds[current_round_]->wait_arrival();
    rounds[++current_round_]->start();
  }
  for (const auto& round : rounds) round->wait();
  in_flight_ = false;
}

traffic halo_exchange::moved() const {
  traffic total;
  for (const auto& round : *rounds_) total += round->moved();
  return total;
}

halo_transfers halo_exchange::transfers() const {
  halo_transfers total;
  for (const auto& round : *rounds_) total += round->transfers();
  return total;
}

}  // namespace longshore
