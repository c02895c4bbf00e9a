// Pattern halo: a block of cells per rank and the exchange of its halo, or one contiguous buffer per face as halobench has it.
#include "benchmark.hpp"
#include "placement_factors.hpp"

#include <longshore/core/error.hpp>
#include <longshore/core/random.hpp>
#include <longshore/halo/cells.hpp>
#include <longshore/halo/face_exchange.hpp>
#include <longshore/halo/halo_exchange.hpp>
#include <longshore/machine/memory.hpp>

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <span>

namespace longshore::bench {
namespace {

// Memory is taken when it is first touched, rank by rank: only together can ranks see that it does not suffice for all of them.
// Throws errc::out_of_memory on all ranks alike.
void check_memory(team& team, double bytes_per_rank) {
  const int sharing = team.nodes().is_virtual() ? team.size() : team.nodes().my_rank_count();
  const auto available = static_cast<double>(available_memory_bytes());
  const double share = team.allreduce_value(bytes_per_rank * sharing / available, reduction::max);
  if (share > 1)
    fail(errc::out_of_memory,
         "{:.3g} GB per rank and {} ranks, where {:.3g} GB are available: use a smaller domain, fewer fields or fewer ranks",
         1e-9 * bytes_per_rank, sharing, 1e-9 * available);
}

// The figures that both kinds of exchange have; docs/figures.md defines them.
class exchange_measurement : public measurement {
 public:
  exchange_measurement(team& team, const variant& what) : options_(grid_of(what)), grid_(team, options_) {}

  [[nodiscard]] std::vector<metric> metrics(const summary& seconds) override {
    team& ranks = grid_.ranks();
    const auto all = static_cast<double>(ranks.allreduce_value(moved().payload_bytes, reduction::sum));
    const double of_one_rank = all / ranks.size() / (1 << 20);
    return {{"exchange_bandwidth", 2e-9 * all / seconds.median, "GB/s"},
            {"process_bandwidth", of_one_rank / seconds.median, "MiB/s"}};
  }
  [[nodiscard]] json facts() override { return {{"placement", placement_facts(grid_.ranks(), grid_.placed(), options_)}}; }

 protected:
  grid_options options_;
  rank_grid grid_;
};

// Fields with a halo. Before each repetition all cells get new values, so that nothing of an earlier exchange is taken for right.
template <class T>
class field_measurement final : public exchange_measurement {
 public:
  field_measurement(team& team, const variant& what, const launch_facts& facts)
      : exchange_measurement(team, what),
        width_(what.at("halo").get<int>()),
        algorithm_(halo_algorithm_from(what.at("algorithm").get<std::string>())),
        tag_(mix_bits(facts.seed)) {
    const auto extents = triple<std::size_t>(what.at("domain"));
    const auto count = what.at("fields").get<std::size_t>();
    double bytes = static_cast<double>(count) * sizeof(T);
    for (const auto cells : extents) bytes *= static_cast<double>(cells) + 2.0 * width_;
    check_memory(team, bytes);
    std::vector<field_memory> memories;
    for (std::size_t i = 0; i < count; ++i) {
      fields_.emplace_back(grid_, extents, width_);
      memories.push_back(fields_.back().memory());
    }
    block_ = equal_block(grid_, extents);
    const halo_options options{
        .width = width_, .algorithm = algorithm_, .mode = halo_mode_from(what.at("mode").get<std::string>())};
    exchange_ = std::make_unique<halo_exchange>(grid_, options, memories);
  }

  void reset() override {
    tag_ += fields_.size();
    for (std::size_t i = 0; i < fields_.size(); ++i) fill_cells(fields_[i], block_, tag_ + i);
  }
  void run() override { exchange_->exchange(); }
  [[nodiscard]] bool verify() override {
    for (std::size_t i = 0; i < fields_.size(); ++i) {
      const auto wrong = wrong_cell(fields_[i], block_, tag_ + i, grid_, algorithm_, width_);
      if (!wrong) continue;
      fmt::print(stderr, "longshore-bench: halo: field {}: {}\n", i, *wrong);
      return false;
    }
    return true;
  }
  [[nodiscard]] traffic moved() const override { return exchange_->moved(); }

 private:
  int width_;
  halo_algorithm algorithm_;
  std::uint64_t tag_;
  domain_block block_;
  std::vector<field<T>> fields_;
  std::unique_ptr<halo_exchange> exchange_;
};

// Contiguous buffers: what arrives is copied to buffers that stay where they are, as MPI delivers it.
template <class T>
class contiguous_measurement final : public exchange_measurement {
 public:
  contiguous_measurement(team& team, const variant& what, const launch_facts& facts)
      : exchange_measurement(team, what),
        elements_(what.at("contiguous").get<std::size_t>()),
        tag_(mix_bits(facts.seed)),
        faces_(grid_, {.bytes = bytes_of_face(), .mode = halo_mode_from(what.at("mode").get<std::string>())}) {}

  void reset() override {
    ++tag_;
    for (std::size_t side = 0; side < faces_.sides().size(); ++side) {
      T* const out = reinterpret_cast<T*>(faces_.outgoing(side).data());
      T* const in = reinterpret_cast<T*>(faces_.incoming(side).data());
      const auto row = row_of(grid_.ranks().rank(), side);
      for (std::size_t i = 0; i < elements_; ++i) {
        out[i] = cell_value<T>(row, static_cast<std::ptrdiff_t>(i));
        in[i] = untouched_cell<T>;
      }
    }
  }
  void run() override {
    faces_.start();
    faces_.wait();
  }
  [[nodiscard]] bool verify() override {
    for (std::size_t side = 0; side < faces_.sides().size(); ++side) {
      const int peer = grid_.neighbour(faces_.sides()[side]);
      if (peer < 0) continue;
      const T* const in = reinterpret_cast<const T*>(faces_.received(side).data());
      const auto row = row_of(peer, side ^ 1);  // what the neighbour sent towards this side
      for (std::size_t i = 0; i < elements_; ++i) {
        if (in[i] == cell_value<T>(row, static_cast<std::ptrdiff_t>(i))) continue;
        fmt::print(stderr, "longshore-bench: halo: rank {}: element {} from rank {} on side {} is {}, not {}\n",
                   grid_.ranks().rank(), i, peer, side, in[i], cell_value<T>(row, static_cast<std::ptrdiff_t>(i)));
        return false;
      }
    }
    return true;
  }
  [[nodiscard]] traffic moved() const override { return faces_.moved(); }

 private:
  [[nodiscard]] std::size_t bytes_of_face() const {
    check_memory(grid_.ranks(), 12.0 * static_cast<double>(elements_) * sizeof(T));
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(elements_, sizeof(T), &bytes))
      fail(errc::out_of_memory, "faces of {} elements are more than any memory holds", elements_);
    return bytes;
  }
  [[nodiscard]] std::uint64_t row_of(int rank, std::size_t side) const {
    return row_of_cells(tag_, static_cast<std::ptrdiff_t>(side), rank);
  }

  std::size_t elements_;
  std::uint64_t tag_;
  face_exchange faces_;
};

std::vector<std::string> words(std::span<const std::string_view> names) { return {names.begin(), names.end()}; }

std::vector<factor> factors() {
  using enum factor::kind;
  constexpr long most_ranks = 1 << 24;
  std::vector<factor> all = {
      {.name = "algorithm",
       .allowed = words(halo_algorithm_names()),
       .defaults = {},  // settle knows
       .help = "which messages: every neighbour, or through faces only (default: standard, or faces with --contiguous)"},
      {.name = "mode", .allowed = words(halo_mode_names()), .defaults = {"channel"}, .help = "which calls carry a message"},
      {.name = "domain", .type = triple, .defaults = {"64,64,64"}, .help = "cells per rank along x, y, z; x is contiguous"},
      {.name = "halo", .type = integer, .defaults = {"1"}, .help = "cells of halo on every side", .low = 1, .high = 1024},
      {.name = "fields", .type = integer, .defaults = {"1"}, .help = "fields exchanged together", .low = 1, .high = 4096},
      {.name = "contiguous",
       .type = integer,
       .defaults = {},
       .help = "elements of one buffer per face, instead of a domain: no packing",
       .low = 1,
       .high = 1L << 40},
      {.name = "type", .allowed = {"float", "double"}, .defaults = {"double"}, .help = "of an element"},
      {.name = "periodic",
       .type = triple,
       .defaults = {"1,1,1"},
       .help = "1 where the domain wraps around, along x, y, z",
       .low = 0,
       .high = 1},
      {.name = "grid", .type = triple, .defaults = {}, .help = "ranks along x, y, z; 0: found", .low = 0, .high = most_ranks},
      {.name = "placement",
       .allowed = words(grid_placement_names()),
       .defaults = {"linear"},
       .help =
           "which rank sits where in the grid: x fastest, MPI's Cartesian order, the least traffic between distant ranks, or by "
           "the levels of the machine"},
  };
  for (auto& factor : factors_of_levels()) all.push_back(std::move(factor));
  return all;
}

std::optional<std::string> why_not_here(const variant& what, const launch_facts& facts) {
  const auto algorithm = halo_algorithm_from(what.at("algorithm").get<std::string>());
  const auto mode = halo_mode_from(what.at("mode").get<std::string>());
  if (algorithm == halo_algorithm::automatic) return "not yet";
  if (what.contains("contiguous") && algorithm != halo_algorithm::faces)
    return "contiguous buffers are one per face: they need --algorithm faces";
  const auto grid = grid_of(what);
  try {
    return why_not(mode, facts.transport, expected_shape(grid, facts.ranks), grid.periodic);
  } catch (const error& e) {
    return e.what();
  }
}

void settle(variant& what) {
  const bool contiguous = what.contains("contiguous");
  if (!what.contains("algorithm")) {
    variant settled = {{"algorithm", contiguous ? "faces" : "standard"}};
    settled.update(what);
    what = std::move(settled);
  }
  if (contiguous)
    for (const char* name : {"domain", "halo", "fields"}) what.erase(name);
  if (what.at("placement") == "levels") return;
  for (const auto& factor : factors_of_levels()) what.erase(factor.name);
}

template <class T>
std::unique_ptr<measurement> make(team& team, const variant& what, const launch_facts& facts) {
  if (what.contains("contiguous")) return std::make_unique<contiguous_measurement<T>>(team, what, facts);
  return std::make_unique<field_measurement<T>>(team, what, facts);
}

}  // namespace

pattern halo_pattern() {
  return {.name = "halo",
          .help = "exchange of the cells around each rank's block of a structured grid",
          .factors = factors(),
          .examples = {"longshore-bench halo --domain 64,64,64 --halo 1,2 --fields 1,8",
                       "mpirun -n 8 longshore-bench halo --algorithm faces --contiguous 10000 --mode channel,waitall,persistent",
                       "mpirun -n 8 longshore-bench halo --placement cart,auto,levels --node 1,1,1 --core 2,2,2"},
          .why_not = why_not_here,
          .make =
              [](team& team, const variant& what, const launch_facts& facts) {
                return what.at("type") == "float" ? make<float>(team, what, facts) : make<double>(team, what, facts);
              },
          .settle = settle,
          .check = check_levels};
}

}  // namespace longshore::bench
