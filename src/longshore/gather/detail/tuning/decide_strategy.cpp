// Decides the strategy of a plan: as the caller asked, from the profile, or by measuring. Rank 0
// reads the profile and the environment for all ranks, so that all ranks decide alike. This also
// keeps the collective calls in order: whether a rank makes the next call depends only on values
// that are the same on all ranks.
#include <longshore/gather/detail/tuning/decide_strategy.hpp>

#include <longshore/core/environment.hpp>
#include <longshore/core/error.hpp>
#include <longshore/gather/detail/engine_strategy.hpp>
#include <longshore/gather/detail/tuning/profile.hpp>
#include <longshore/machine/memory_sizes.hpp>
#include <longshore/transport/agree_on_arguments.hpp>
#include <longshore/transport/team.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <span>

namespace longshore::detail {
namespace {

// Limit for the buffers of one candidate.
constexpr std::size_t max_candidate_bytes = std::size_t{64} << 20;
// Limit for the indices, and for the values.
constexpr std::size_t max_index_bytes = std::size_t{16} << 20;
// The largest table for measurements, as a multiple of the last-level cache. A table of twice the
// cache does not stay in the cache, so a larger table would not behave differently.
constexpr std::size_t max_table_in_caches = 2;

// The profile and its settings. All members are the same on all ranks of a team, except `file`,
// which only rank 0 has.
struct team_profile {
  bool loaded = false, off = false;
  double tuning_seconds = tuning_limits{}.seconds;
  std::size_t last_level_bytes = 0;
  tuning_profile times = tuning_profile("?");
  std::vector<std::string> measured_in_this_run = {};  // profile_key::text()
  std::filesystem::path file = {};
};

// Collective in the first call for a team, which reads the profile. Later calls return this
// profile.
team_profile& profile_of(team& team) {
  auto& profile = team.attribute<team_profile>();
  if (profile.loaded) return profile;
  // Only rank 0 reads the environment and files. All ranks throw if a value is invalid.
  std::string complaint, text, machine;
  if (team.rank() == 0) {
    machine = machine_id(machine_description(team.transport_name(), team.library_version()));
    auto location = locate_profile(machine);
    profile.off = location.off;
    profile.file = std::move(location.file);
    profile.last_level_bytes = last_level_cache_bytes();
    tuning_profile times(machine);
    try {
      const bool measure_again = environment_integer("LONGSHORE_TUNE", 0, 1).value_or(0) == 1;
      if (!profile.off && !measure_again && !profile.file.empty())
        read_profile(profile.file, times);
      text = times.text();
      profile.tuning_seconds = environment_number("LONGSHORE_TUNING_SECONDS", 0.0, 3600.0)
                                   .value_or(profile.tuning_seconds);
    } catch (const error& e) {
      complaint = e.what();
    }
  }
  complaint = broadcast_text(team, std::move(complaint), 0);
  if (!complaint.empty()) fail(errc::usage, "{}", complaint);
  profile.times = tuning_profile(broadcast_text(team, std::move(machine), 0));
  profile.times.read(broadcast_text(team, std::move(text), 0));
  profile.off = team.broadcast_value(profile.off);
  profile.tuning_seconds = team.broadcast_value(profile.tuning_seconds);
  profile.last_level_bytes = team.broadcast_value(profile.last_level_bytes);
  profile.loaded = true;
  return profile;
}

// If nodes are virtual, they divide one host, and all ranks share this host.
std::size_t ranks_per_host(const team& team) {
  return static_cast<std::size_t>(team.nodes().is_virtual() ? team.size()
                                                            : team.nodes().largest_node());
}

// The size of the user's table, but at most a size that clearly exceeds the cache.
tuning_size tuning_size_for(const team& team, const decision_inputs& inputs,
                            std::size_t last_level_bytes) {
  const std::size_t max_part = std::max<std::size_t>(
      max_table_in_caches * last_level_bytes / ranks_per_host(team) / inputs.element_bytes, 1);
  const std::uint64_t max_table = max_part * static_cast<std::uint64_t>(team.size());
  return {
      .table_items = std::min(inputs.table_items, max_table),
      .requests = std::min(measured_requests.back(),
                           max_index_bytes / std::max(sizeof(std::int64_t), inputs.element_bytes))};
}

// Collective. Returns no measurements if there is no memory for a table.
std::vector<timed_choice> measure(team& team, const decision_inputs& inputs,
                                  const team_profile& profile, const gather_layout& layout,
                                  const prepare_candidates& prepare) {
  const auto choices = candidates(layout, inputs.element_bytes, max_candidate_bytes, inputs.why_not,
                                  team.nodes().most_ranks_off_host() > 0);
  try {
    const tuning_size size = tuning_size_for(team, inputs, profile.last_level_bytes);
    return measure_candidates(team, choices, prepare(size),
                              {.seconds = profile.tuning_seconds, .max_requests = size.requests});
  } catch (const error& e) {
    if (e.code() != errc::out_of_memory) throw;
    return {};
  }
}

// Keeps the measurements for later plans of this team. Rank 0 writes them to the file, too.
void store_measured(team& team, team_profile& profile, const profile_key& key,
                    const std::vector<timed_choice>& measured) {
  profile.times.put(key, measured);
  profile.measured_in_this_run.push_back(key.text());
  if (team.rank() != 0 || profile.file.empty()) return;
  if (const auto reason = write_profile(profile.file, profile.times)) {
    fmt::print(stderr,
               "longshore: the measurements of strategy auto are kept for this run only: {} (set "
               "LONGSHORE_PROFILE to another file, or to off)\n",
               *reason);
    profile.file.clear();
  }
}

}  // namespace

const char* table_class(std::size_t bytes, std::size_t last_level_bytes) noexcept {
  // Only the last-level cache is read from the machine; the others have a usual size.
  if (bytes <= std::size_t{32} << 10) return "L1";
  if (bytes <= std::size_t{1} << 20) return "L2";
  return bytes <= last_level_bytes ? "LLC" : "memory";
}

gather_decision decide_strategy(team& team, const decision_inputs& inputs,
                                const gather_options& options, const prepare_candidates& prepare) {
  // 1. Agree on what differs between ranks, in one reduction. The maximum of the first number is 1
  // if at least one rank cannot reach all memory. Options must not differ.
  common_arguments same;
  same.add("strategy", name_of(options.strategy))
      .add("buffer_items", options.buffer_items)
      .add("hops", options.hops)
      .add("combine", options.combine ? "yes" : "no")
      .add("operation", inputs.operation)
      .add("function", inputs.function);
  std::array<std::int64_t, 4> maxima = {inputs.all_direct ? 0 : 1,
                                        static_cast<std::int64_t>(options.expected_requests),
                                        same.hash(), -same.hash()};
  team.allreduce(maxima, reduction::max);
  const auto [unreachable, expected_requests, hash, opposite] = maxima;
  if (hash != -opposite)
    throw_for_other_arguments(team, fmt::format("a plan of {}", inputs.operation), same);
  gather_decision decision{.all_reachable = unreachable == 0};

  // 2. Check the options. They are the same on all ranks, so either all ranks throw or none.
  if (const auto reason = inputs.why_not(options.strategy, decision.all_reachable))
    fail(errc::unsupported, "{}: {}", inputs.operation, *reason);
  const std::size_t buffer_items =
      options.buffer_items > 0
          ? options.buffer_items
          : default_buffer_items(team.nodes(), options.strategy, inputs.element_bytes);

  // 3. A strategy that the caller names needs no decision.
  if (options.strategy != gather_strategy::automatic) {
    decision.by_size.fill({options.strategy, buffer_items, options.hops});
    return decision;
  }

  // 4. Without a profile, or with an empty table, a fixed rule decides.
  const gather_layout layout{.ranks = team.size(),
                             .nodes = team.nodes().node_count(),
                             .node_ranks = team.nodes().largest_node(),
                             .all_reachable = decision.all_reachable};
  decision.from = gather_decision::origin::rule;
  decision.by_size.fill(rule_choice(layout, buffer_items));
  team_profile& profile = profile_of(team);
  if (profile.off || inputs.table_items == 0) return decision;

  // 5. Look for measurements of similar plans, or measure now. Sizes of elements are rounded up to
  // a power of two of at least 8 bytes, so that similar sizes share their measurements.
  const std::size_t host_bytes =
      inputs.largest_part_items * inputs.element_bytes * ranks_per_host(team);
  const profile_key key{
      .operation = std::string(inputs.measured_operation) +
                   (team.nodes().most_ranks_off_host() > 0 ? "-between-hosts" : ""),
      .table = table_class(host_bytes, profile.last_level_bytes),
      .element_bytes = std::bit_ceil(std::max(inputs.element_bytes, sizeof(std::int64_t))),
      .layout = layout,
      .combine = options.combine};
  auto measured = profile.times.find(key);
  if (measured.empty()) {
    measured = measure(team, inputs, profile, layout, prepare);
    if (!measured.empty()) store_measured(team, profile, key, measured);
  }
  // The measurements may be those of another plan with the same key, whose element type or
  // operation allows more strategies.
  std::erase_if(measured, [&](const timed_choice& timed) {
    return inputs.why_not(timed.choice.strategy, decision.all_reachable).has_value();
  });

  // 6. Choose for each class of requests. If the number of requests is known, the choice for this
  // number serves all calls.
  const auto choices = choices_for_all_sizes(measured);
  if (!choices) return decision;
  const auto& keys_of_this_run = profile.measured_in_this_run;
  const bool is_new = std::find(keys_of_this_run.begin(), keys_of_this_run.end(), key.text()) !=
                      keys_of_this_run.end();
  decision.from = is_new ? gather_decision::origin::measured : gather_decision::origin::profile;
  decision.by_size = *choices;
  if (expected_requests > 0) {
    const auto requests = static_cast<std::size_t>(expected_requests);
    decision.by_size.fill(choice_for_requests(measured, requests)
                              .value_or(decision.by_size[request_class_of(requests)]));
  }
  return decision;
}

}  // namespace longshore::detail

namespace longshore {

bool gather_decision::depends_on_requests() const noexcept {
  return std::any_of(by_size.begin(), by_size.end(),
                     [&](const gather_choice& choice) { return choice != by_size.front(); });
}

}  // namespace longshore
