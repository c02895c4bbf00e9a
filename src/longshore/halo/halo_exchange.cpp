#include <longshore/halo/halo_exchange.hpp>

#include <longshore/core/error.hpp>
#include <longshore/halo/detail/choose_algorithm.hpp>
#include <longshore/transport/agree_on_errors.hpp>

namespace longshore {
namespace {

halo_part part_of(const rank_grid& grid, const std::optional<halo_widths>& asked,
                  const field_memory& field, std::size_t index) {
  halo_part part{field, asked.value_or(field.widths)};
  for (int d = 0; d < 3; ++d) {
    if (d >= grid.dimensions()) {
      part.widths.low[d] = part.widths.high[d] = 0;
      if (field.extents[d] != 1)
        fail(errc::usage,
             "field {} has {} cells along dimension {} of a grid of {} dimensions: 1 is allowed",
             index, field.extents[d], d, grid.dimensions());
      continue;
    }
    const auto check_side = [&](int width, int there, const char* side) {
      if (width < 0 || width > there)
        fail(errc::usage,
             "a halo of {} cells on the {} side of dimension {}: field {} has room for 0 to {}",
             width, side, d, index, there);
      if (static_cast<std::size_t>(width) > field.extents[d])
        fail(errc::usage,
             "a halo of {} cells along dimension {} is wider than the {} cells of field {}", width,
             d, field.extents[d], index);
    };
    check_side(part.widths.low[d], field.widths.low[d], "low");
    check_side(part.widths.high[d], field.widths.high[d], "high");
  }
  return part;
}

}  // namespace

halo_exchange::halo_exchange(const rank_grid& grid, const halo_options& options,
                             const std::vector<field_memory>& fields)
    : reach_(options.reach) {
  std::vector<halo_part> parts;
  // Blocks may differ: a width that is too large for one of them is refused by all.
  agree_on_errors(grid.ranks(), "a halo plan", [&] {
    if (fields.empty()) fail(errc::usage, "a halo exchange of no fields: at least 1");
    for (const auto& field : fields)
      parts.push_back(part_of(grid, options.width, field, parts.size()));
  });
  algorithm_ = options.algorithm == halo_algorithm::automatic
                   ? detail::choose_algorithm(grid, options, fields)
                   : options.algorithm;
  carrier_options how{.workers = options.workers};
  for (const auto& field : fields)
    if (field.memory.bytes > 0) how.readable.push_back(field.memory);
  auto rounds = plan_rounds(algorithm_, grid, parts, options.reach, !is_mpi_mode(options.mode));
  for (const auto& round : rounds) rounds_between_ranks_ += is_within_ranks(grid, round) ? 0 : 1;
  rounds_ = make_carriers(options.mode, grid, std::move(rounds), how);
}

void halo_exchange::start() {
  if (in_flight_) fail(errc::usage, "a halo exchange was started twice: wait() comes between");
  in_flight_ = true;
  round_ = 0;
  rounds_[0]->start();
}

bool halo_exchange::test() {
  if (!in_flight_) return true;
  while (round_ + 1 < rounds_.size()) {
    if (!rounds_[round_]->arrived()) return false;
    rounds_[++round_]->start();
  }
  for (const auto& round : rounds_)
    if (!round->test()) return false;
  in_flight_ = false;
  return true;
}

void halo_exchange::wait() {
  if (!in_flight_) fail(errc::usage, "a halo exchange was waited for, but not started");
  while (round_ + 1 < rounds_.size()) {
    rounds_[round_]->wait_arrival();
    rounds_[++round_]->start();
  }
  for (const auto& round : rounds_) round->wait();
  in_flight_ = false;
}

traffic halo_exchange::moved() const {
  traffic all;
  for (const auto& round : rounds_) all += round->moved();
  return all;
}

}  // namespace longshore
