#include <longshore/gather/detail/tuning/decide_strategy.hpp>

#include <longshore/core/environment.hpp>
#include <longshore/core/error.hpp>
#include <longshore/gather/detail/tuning/profile.hpp>
#include <longshore/gather/detail/tuning/profile_file.hpp>
#include <longshore/machine/memory.hpp>
#include <longshore/transport/team_attribute.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <span>

namespace longshore::detail {
namespace {

constexpr std::size_t candidate_bytes = std::size_t{64}
                                        << 20;  // limit for the buffers of one candidate
// limit for the indices, and for the values
constexpr std::size_t index_bytes = std::size_t{16} << 20;
// a table of so many last-level caches does not stay in a cache
constexpr std::size_t table_caches = 2;

// The profile of a team and its settings. The same on all ranks, except the file, which only rank 0
// has.
struct known_profile {
  bool loaded = false, off = false;
  double tuning_seconds = tuning_limits{}.seconds;
  std::size_t last_level_bytes = 0;
  tuning_profile known = tuning_profile("?");
  std::vector<profile_key> measured_now = {};
  std::filesystem::path file = {};
};

std::string broadcast_text(team& team, std::string text) {
  text.resize(team.broadcast_value(text.size()));
  if (!text.empty()) team.broadcast(std::as_writable_bytes(std::span(text)), 0);
  return text;
}

known_profile& profile_of(team& team) {
  auto& profile = team_attribute<known_profile>(team);
  if (profile.loaded) return profile;
  // Only rank 0 reads the environment and files. An invalid value fails on all ranks.
  std::string complaint, text, word;
  if (team.rank() == 0) {
    word = machine_word(machine_description(team.transport_name(), team.library_version()));
    auto place = find_profile(word);
    profile.off = place.off;
    profile.file = std::move(place.file);
    profile.last_level_bytes = last_level_cache_bytes();
    tuning_profile read(word);
    try {
      const bool anew = environment_integer("LONGSHORE_TUNE", 0, 1).value_or(0) == 1;
      if (!profile.off && !anew && !profile.file.empty()) read_profile(profile.file, read);
      text = read.text();
      profile.tuning_seconds = environment_number("LONGSHORE_TUNING_SECONDS", 0.0, 3600.0)
                                   .value_or(profile.tuning_seconds);
    } catch (const error& e) {
      complaint = e.what();
    }
  }
  complaint = broadcast_text(team, std::move(complaint));
  if (!complaint.empty()) fail(errc::usage, "{}", complaint);
  profile.known = tuning_profile(broadcast_text(team, std::move(word)));
  profile.known.read(broadcast_text(team, std::move(text)));
  profile.off = team.broadcast_value(profile.off);
  profile.tuning_seconds = team.broadcast_value(profile.tuning_seconds);
  profile.last_level_bytes = team.broadcast_value(profile.last_level_bytes);
  profile.loaded = true;
  return profile;
}

std::size_t ranks_per_host(const team& team) {
  return static_cast<std::size_t>(team.nodes().is_virtual() ? team.size()
                                                            : team.nodes().largest_node());
}

// The size of the user's table, but at most a size that clearly exceeds the cache.
tuning_size tuning_size_for(const team& team, const decision_inputs& inputs,
                            std::size_t last_level_bytes) {
  const std::size_t largest_part = std::max<std::size_t>(
      table_caches * last_level_bytes / ranks_per_host(team) / inputs.element_bytes, 1);
  const std::uint64_t most = largest_part * static_cast<std::uint64_t>(team.size());
  return {std::min(inputs.table_items, most),
          std::min(measured_requests.back(),
                   index_bytes / std::max(sizeof(std::int64_t), inputs.element_bytes))};
}

// Collective. Empty if there is no memory for a table.
std::vector<timed_choice> measure(team& team, const decision_inputs& inputs,
                                  const known_profile& profile, const gather_layout& layout,
                                  const prepare_candidates& prepare) {
  const auto choices = candidates(layout, inputs.element_bytes, candidate_bytes, inputs.why_not);
  try {
    const tuning_size size = tuning_size_for(team, inputs, profile.last_level_bytes);
    return measure_candidates(team, choices, prepare(size),
                              {.seconds = profile.tuning_seconds, .max_requests = size.requests});
  } catch (const error& e) {
    if (e.code() != errc::out_of_memory) throw;
    return {};
  }
}

void store_measured(team& team, known_profile& profile, const profile_key& key,
                    const std::vector<timed_choice>& measured) {
  profile.known.put(key, measured);
  profile.measured_now.push_back(key);
  if (team.rank() != 0 || profile.file.empty()) return;
  if (const auto reason = write_profile(profile.file, profile.known)) {
    fmt::print(stderr,
               "longshore: the measurements of strategy auto are kept for this run only: {} (set "
               "LONGSHORE_PROFILE to another file, or to off)\n",
               *reason);
    profile.file.clear();
  }
}

}  // namespace

const char* table_class(std::size_t bytes, std::size_t last_level_bytes) noexcept {
  if (bytes <= std::size_t{32} << 10) return "L1";
  if (bytes <= std::size_t{1} << 20) return "L2";
  return bytes <= last_level_bytes ? "LLC" : "memory";
}

gather_decision decide_strategy(team& team, const decision_inputs& inputs,
                                const gather_options& options, const prepare_candidates& prepare) {
  std::array<std::int64_t, 2> agreed = {inputs.all_direct ? 0 : 1,
                                        static_cast<std::int64_t>(options.expected_requests)};
  team.allreduce(agreed, reduction::max);
  const auto expected = static_cast<std::size_t>(agreed[1]);
  gather_decision decision{.all_reachable = agreed[0] == 0};
  if (const auto reason = inputs.why_not(options.strategy, decision.all_reachable))
    fail(errc::unsupported, "{}: {}", inputs.operation, *reason);
  if (options.buffer_items == 0)
    fail(errc::usage, "{}: buffer_items is 0: give at least 1, or leave the default of 1024",
         inputs.operation);
  if (options.strategy != gather_strategy::automatic) {
    decision.by_size.fill({options.strategy, options.buffer_items, options.hops});
    return decision;
  }

  const gather_layout layout{team.size(), team.nodes().node_count(), team.nodes().largest_node(),
                             decision.all_reachable};
  decision.from = gather_decision::origin::rule;
  decision.by_size.fill(rule_choice(layout, options.buffer_items));
  known_profile& profile = profile_of(team);
  if (profile.off || inputs.table_items == 0) return decision;
  const std::size_t host_bytes = inputs.part_items * inputs.element_bytes * ranks_per_host(team);
  const profile_key key{
      .operation = inputs.measured_operation,
      .table = table_class(host_bytes, profile.last_level_bytes),
      .element_bytes = std::bit_ceil(std::max(inputs.element_bytes, sizeof(std::int64_t))),
      .layout = layout,
      .combine = options.combine};
  auto measured = profile.known.find(key);
  if (measured.empty()) {
    measured = measure(team, inputs, profile, layout, prepare);
    if (!measured.empty()) store_measured(team, profile, key, measured);
  }
  std::erase_if(measured, [&](const timed_choice& one) {
    return inputs.why_not(one.choice.strategy, decision.all_reachable).has_value();
  });
  const auto chosen = choices_for_all_sizes(measured);
  if (!chosen) return decision;
  const bool now = std::find(profile.measured_now.begin(), profile.measured_now.end(), key) !=
                   profile.measured_now.end();
  decision.from = now ? gather_decision::origin::measured : gather_decision::origin::profile;
  decision.by_size = *chosen;
  if (expected > 0) decision.by_size.fill(decision.by_size[request_class_of(expected)]);
  return decision;
}

}  // namespace longshore::detail
