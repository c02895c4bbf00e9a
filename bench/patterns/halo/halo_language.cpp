#include "patterns/halo/halo_language.hpp"

#include "patterns/halo/halo_measurements.hpp"

#include <longshore/core/error.hpp>

#ifdef LONGSHORE_HAVE_C
#include "patterns/halo/halo_setup.h"

#include <longshore/core/random.hpp>
#include <longshore/halo/algorithm.hpp>

#include <longshore_cxx.hpp>

#include <fmt/core.h>

#include <cstdio>
#endif

namespace longshore::bench {
namespace {

std::string language_of(const variant& what) {
  return what.contains("language") ? what.at("language").get<std::string>() : "c++";
}

#ifdef LONGSHORE_HAVE_C

constexpr longshore_bench_halo_language in_c = {longshore_bench_c_make, longshore_bench_c_reset, longshore_bench_c_exchange,
                                                longshore_bench_c_wrong, longshore_bench_c_end};
#ifdef LONGSHORE_HAVE_FORTRAN
constexpr longshore_bench_halo_language in_fortran = {longshore_bench_fortran_make, longshore_bench_fortran_reset,
                                                      longshore_bench_fortran_exchange, longshore_bench_fortran_wrong,
                                                      longshore_bench_fortran_end};
#endif

const longshore_bench_halo_language& functions_of([[maybe_unused]] const std::string& language) {
#ifdef LONGSHORE_HAVE_FORTRAN
  if (language == "fortran") return in_fortran;
#endif
  return in_c;
}

template <std::size_t N>
void copy(char (&to)[N], const std::string& word) {
  if (word.size() >= N) fail(errc::usage, "'{}' is too long a word", word);
  word.copy(to, N - 1);
}

class language_measurement final : public exchange_measurement {
 public:
  language_measurement(team& team, const variant& what, const launch_facts& facts)
      : exchange_measurement(team, what),
        fields_(what.at("fields").get<int>()),
        reach_(halo_reach_from(what.at("reach").get<std::string>())),
        tag_(static_cast<std::int64_t>(mix_bits(facts.seed) >> 40)),  // the languages compute with signed numbers
        do_(functions_of(language_of(what))),
        handle_(make_c_team(team)) {
    const auto word = [&what](const char* name) { return what.at(name).get<std::string>(); };
    longshore_bench_halo_setup setup{};
    const auto extents = triple<std::int64_t>(what.at("domain"));
    setup.width = what.at("halo").get<int>();
    double bytes = fields_ * (word("type") == "float" ? 4.0 : 8.0);
    for (int d = 0; d < 3; ++d) {
      setup.extents[d] = extents[d];
      setup.ranks[d] = grid_.shape()[d];
      setup.periodic[d] = grid_.periodic()[d] ? 1 : 0;
      bytes *= static_cast<double>(extents[d]) + 2.0 * setup.width;
    }
    check_memory(team, bytes);
    setup.fields = fields_;
    setup.is_single = word("type") == "float" ? 1 : 0;
    setup.task_count = what.contains("task_count") ? what.at("task_count").get<int>() : 0;
    copy(setup.placement, word("placement"));
    copy(setup.algorithm, word("algorithm"));
    copy(setup.mode, word("mode"));
    copy(setup.reach, word("reach"));
    copy(setup.tasks, word("tasks"));
    team.barrier();
    const double began = team.now();
    check_c(do_.make(handle_.get(), &setup, &state_, &plan_));
    plan_seconds_ = team.allreduce_value(team.now() - began, reduction::max);
  }
  ~language_measurement() override { do_.end(state_); }
  language_measurement(const language_measurement&) = delete;
  language_measurement& operator=(const language_measurement&) = delete;

  void reset() override { do_.reset(state_, tag_ += fields_); }
  void run() override { check_c(do_.exchange(state_)); }
  [[nodiscard]] bool verify() override {
    const auto filled = filled_by(halo_algorithm_from(longshore_halo_algorithm(plan_)), reach_);  // auto has become another
    const std::int64_t wrong = do_.wrong(state_, static_cast<std::int32_t>(filled));
    if (wrong > 0) fmt::print(stderr, "longshore-bench: halo: rank {}: {} cells are wrong\n", grid_.ranks().rank(), wrong);
    return wrong == 0;
  }
  [[nodiscard]] traffic moved() const override {
    longshore_traffic moved{};
    longshore_halo_moved(plan_, &moved);
    return {static_cast<std::uint64_t>(moved.messages), static_cast<std::uint64_t>(moved.payload_bytes),
            static_cast<std::uint64_t>(moved.wire_bytes), static_cast<std::uint64_t>(moved.offnode_bytes)};
  }
  [[nodiscard]] json facts() override {
    json all = exchange_measurement::facts();
    all["algorithm"] = longshore_halo_algorithm(plan_);
    all["rounds"] = longshore_halo_rounds(plan_);
    all["plan_seconds"] = plan_seconds_;
    return all;
  }

 private:
  int fields_;
  halo_reach reach_;
  std::int64_t tag_;
  const longshore_bench_halo_language& do_;
  c_team handle_;
  void* state_ = nullptr;
  longshore_halo* plan_ = nullptr;
  double plan_seconds_ = 0;
};

#endif

}  // namespace

std::optional<std::string> why_not_in_its_language(const variant& what) {
  const std::string language = language_of(what);
  if (language == "c++") return std::nullopt;
  if (what.contains("contiguous")) return "contiguous buffers are measured in c++ alone";
  const auto placement = what.at("placement").get<std::string>();
  if (placement != "linear" && placement != "cart")
    return "language " + language + " has placements linear and cart, not " + placement;
#ifndef LONGSHORE_HAVE_C
  return "this build has no C face (LONGSHORE_C), on which " + language + " stands";
#else
#ifndef LONGSHORE_HAVE_FORTRAN
  if (language == "fortran")
    return "this build has no Fortran module (LONGSHORE_FORTRAN): no Fortran compiler was found, or it was not wanted";
#endif
  return std::nullopt;
#endif
}

std::unique_ptr<measurement> measure_in_its_language([[maybe_unused]] team& team, const variant& what,
                                                     [[maybe_unused]] const launch_facts& facts) {
#ifdef LONGSHORE_HAVE_C
  return std::make_unique<language_measurement>(team, what, facts);
#else
  fail(errc::unsupported, "{}", why_not_in_its_language(what).value_or(""));
#endif
}

}  // namespace longshore::bench
