// Measures a halo exchange through the C or Fortran interface. Functions in that language
// (language_interface.h) make the fields and run the exchange. This file fills and verifies the
// fields.
#include "patterns/halo/halo_measurements.hpp"

#include "harness/task_factors.hpp"
#include "patterns/memory_check.hpp"

#include <longshore/core/error.hpp>

#ifdef LONGSHORE_HAVE_C
#include "patterns/halo/language_interface.h"

#include <longshore/core/random.hpp>
#include <longshore/halo/algorithm.hpp>
#include <longshore/halo/cell_check.hpp>

#include <longshore_cxx.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>
#endif

namespace longshore::bench {
namespace {

std::string language_of(const variant& levels) {
  return levels.contains("language") ? levels.at("language").get<std::string>() : "c++";
}

#ifdef LONGSHORE_HAVE_C

constexpr longshore_bench_halo_language in_c = {longshore_bench_c_make, longshore_bench_c_exchange,
                                                nullptr};
#ifdef LONGSHORE_HAVE_FORTRAN
constexpr longshore_bench_halo_language in_fortran = {
    longshore_bench_fortran_make, longshore_bench_fortran_exchange, longshore_bench_fortran_end};
#endif

const longshore_bench_halo_language& functions_of([[maybe_unused]] const std::string& language) {
#ifdef LONGSHORE_HAVE_FORTRAN
  if (language == "fortran") return in_fortran;
#endif
  return in_c;
}

template <std::size_t N>
void copy(char (&to)[N], const std::string& word) {
  if (word.size() >= N) fail(errc::usage, "'{}' is too long", word);
  word.copy(to, N - 1);
}

// Fields are filled and verified as in C++. The languages differ in the memory of the fields and in
// the exchange.
template <class T>
class language_measurement final : public exchange_measurement {
 public:
  language_measurement(team& team, const variant& levels, const launch_facts& facts)
      : exchange_measurement(team, levels),
        reach_(level_of<halo_reach>(levels, "reach")),
        width_(levels.at("halo").get<int>()),
        tag_(mix_bits(facts.seed)),
        language_(functions_of(language_of(levels))),
        handle_(make_c_team(team)) {
    const auto word = [&levels](const char* name) { return levels.at(name).get<std::string>(); };
    const auto extents = triple<std::size_t>(levels.at("domain"));
    const auto count = levels.at("fields").get<std::size_t>();
    longshore_bench_halo_setup setup{};
    std::array<std::ptrdiff_t, 3> strides{};
    std::ptrdiff_t cells = 1;
    double bytes = static_cast<double>(count) * sizeof(T);
    for (int d = 0; d < 3; ++d) {
      setup.extents[d] = static_cast<std::int64_t>(extents[d]);
      setup.ranks[d] = grid_.shape()[d];
      setup.periodic[d] = grid_.periodic()[d] ? 1 : 0;
      bytes *= static_cast<double>(extents[d]) + 2.0 * width_;
      strides[d] = cells;
      cells *= static_cast<std::ptrdiff_t>(extents[d]) + 2 * width_;
    }
    check_memory(team, "the fields", bytes);
    setup.width = width_;
    setup.fields = static_cast<std::int32_t>(count);
    setup.is_single = word("type") == "float" ? 1 : 0;
    setup.task_count = task_count_of(levels);
    copy(setup.placement, word("placement"));
    copy(setup.algorithm, word("algorithm"));
    copy(setup.mode, word("mode"));
    copy(setup.reach, word("reach"));
    copy(setup.tasks, word("tasks"));
    block_ = equal_block(grid_, extents);
    std::vector<void*> first(count);
    team.barrier();
    const double began = team.now();
    check_c(language_.make(handle_.get(), &setup, &state_, &plan_, first.data()));
    plan_seconds_ = team.allreduce_value(team.now() - began, reduction::max);
    for (void* const cell : first)
      fields_.emplace_back(static_cast<T*>(cell), extents, strides, width_);
  }
  ~language_measurement() override {
    if (language_.end != nullptr) language_.end(state_);
  }
  language_measurement(const language_measurement&) = delete;
  language_measurement& operator=(const language_measurement&) = delete;

  void reset() override {
    tag_ += fields_.size();
    for (std::size_t i = 0; i < fields_.size(); ++i) fill_cells(fields_[i], block_, tag_ + i);
  }
  void run() override { check_c(language_.exchange(state_)); }
  [[nodiscard]] bool verify() override {
    // For algorithm auto, longshore_halo_algorithm() returns the chosen algorithm.
    const auto filled =
        filled_by(from_name<halo_algorithm>(longshore_halo_algorithm(plan_)), reach_);
    return fields_are_right(fields_.size(), [&](std::size_t i) {
      return first_wrong_cell<T>(fields_[i], block_, tag_ + i, grid_, filled, width_);
    });
  }
  [[nodiscard]] traffic moved() const override {
    longshore_traffic moved{};
    longshore_halo_moved(plan_, &moved);
    return {static_cast<std::uint64_t>(moved.messages),
            static_cast<std::uint64_t>(moved.payload_bytes),
            static_cast<std::uint64_t>(moved.wire_bytes),
            static_cast<std::uint64_t>(moved.offnode_bytes)};
  }
  [[nodiscard]] json collect_facts() override {
    json facts = exchange_measurement::collect_facts();
    facts["algorithm"] = longshore_halo_algorithm(plan_);
    facts["rounds"] = longshore_halo_rounds(plan_);
    facts["plan_seconds"] = plan_seconds_;
    return facts;
  }

 private:
  halo_reach reach_;
  int width_;
  std::uint64_t tag_;
  domain_block block_;
  std::vector<field_view<T>> fields_;
  const longshore_bench_halo_language& language_;
  c_team handle_;
  void* state_ = nullptr;
  longshore_halo* plan_ = nullptr;
  double plan_seconds_ = 0;
};

#endif

}  // namespace

std::optional<std::string> why_not_in_its_language(const variant& levels) {
  const std::string language = language_of(levels);
  if (language == "c++") return std::nullopt;
  if (levels.contains("contiguous")) return "contiguous buffers are measured in c++ alone";
  if (levels.contains("memory") && levels.at("memory") != "shared")
    return "language " + language + " has memory shared alone";
  if (operation_of(levels) != halo_operation::exchange || shared_layers(levels) != 0 ||
      boxes_per_rank(levels) > 0)
    return "language " + language +
           " has exchanges of cells between blocks alone: leave out --operation, --centring and "
           "--boxes";
  const auto placement = levels.at("placement").get<std::string>();
  if (placement != "linear" && placement != "cart")
    return "language " + language + " has placements linear and cart, not " + placement;
#ifndef LONGSHORE_HAVE_C
  return "this build has no C interface (LONGSHORE_C), which " + language + " needs";
#else
#ifndef LONGSHORE_HAVE_FORTRAN
  if (language == "fortran")
    return "this build has no Fortran module (LONGSHORE_FORTRAN): no Fortran compiler was found, "
           "or it was not wanted";
#endif
  return std::nullopt;
#endif
}

std::unique_ptr<measurement> measure_in_its_language([[maybe_unused]] team& team,
                                                     const variant& levels,
                                                     [[maybe_unused]] const launch_facts& facts) {
#ifdef LONGSHORE_HAVE_C
  if (levels.at("type") == "float")
    return std::make_unique<language_measurement<float>>(team, levels, facts);
  return std::make_unique<language_measurement<double>>(team, levels, facts);
#else
  fail(errc::unsupported, "{}", why_not_in_its_language(levels).value_or(""));
#endif
}

}  // namespace longshore::bench
