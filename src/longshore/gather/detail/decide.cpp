#include <longshore/gather/detail/decide.hpp>

#include <longshore/core/environment.hpp>
#include <longshore/core/error.hpp>
#include <longshore/gather/detail/profile.hpp>
#include <longshore/gather/detail/profile_file.hpp>
#include <longshore/machine/memory.hpp>
#include <longshore/transport/team_attribute.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <span>

namespace longshore::detail {
namespace {

constexpr std::size_t candidate_bytes = std::size_t{64} << 20;  // of the buffers of one candidate
// of the indices of a tuning, and of its values
constexpr std::size_t index_bytes = std::size_t{16} << 20;
// a table of so many last-level caches is no longer in one
constexpr std::size_t table_caches = 2;

// What a run knows; the same on all ranks, but for the file, which is rank 0's.
struct kept_profile {
  bool loaded = false, off = false;
  double tuning_seconds = tuning_limits{}.seconds;
  std::size_t last_level_bytes = 0;
  gather_profile known = gather_profile("?");
  std::vector<profile_key> measured_now = {};
  std::filesystem::path file = {};
};

std::string broadcast_text(team& team, std::string text) {
  text.resize(team.broadcast_value(text.size()));
  if (!text.empty()) team.broadcast(std::as_writable_bytes(std::span(text)), 0);
  return text;
}

kept_profile& profile_of(team& team) {
  auto& kept = team_attribute<kept_profile>(team);
  if (kept.loaded) return kept;
  // Rank 0 alone looks at its environment and at files. A value there that makes no sense is to
  // fail on all ranks.
  std::string complaint, text, word;
  if (team.rank() == 0) {
    word = machine_word(machine_description(team.transport_name(), team.library_version()));
    auto place = find_profile(word);
    kept.off = place.off;
    kept.file = std::move(place.file);
    kept.last_level_bytes = last_level_cache_bytes();
    gather_profile read(word);
    try {
      const bool anew = environment_integer("LONGSHORE_TUNE", 0, 1).value_or(0) == 1;
      if (!kept.off && !anew && !kept.file.empty()) read_profile(kept.file, read);
      text = read.text();
      kept.tuning_seconds =
          environment_number("LONGSHORE_TUNING_SECONDS", 0.0, 3600.0).value_or(kept.tuning_seconds);
    } catch (const error& e) {
      complaint = e.what();
    }
  }
  complaint = broadcast_text(team, std::move(complaint));
  if (!complaint.empty()) fail(errc::usage, "{}", complaint);
  kept.known = gather_profile(broadcast_text(team, std::move(word)));
  kept.known.read(broadcast_text(team, std::move(text)));
  kept.off = team.broadcast_value(kept.off);
  kept.tuning_seconds = team.broadcast_value(kept.tuning_seconds);
  kept.last_level_bytes = team.broadcast_value(kept.last_level_bytes);
  kept.loaded = true;
  return kept;
}

std::size_t ranks_per_host(const team& team) {
  return static_cast<std::size_t>(team.nodes().is_virtual() ? team.size()
                                                            : team.nodes().largest_node());
}

// The user's table, or as much of it as no longer fits into a cache.
tuning_size tuning_size_for(const team& team, const decision_inputs& question,
                            std::size_t last_level_bytes) {
  const std::size_t largest_part = std::max<std::size_t>(
      table_caches * last_level_bytes / ranks_per_host(team) / question.element_bytes, 1);
  const std::uint64_t most = largest_part * static_cast<std::uint64_t>(team.size());
  return {std::min(question.table_items, most),
          std::min(measured_requests.back(),
                   index_bytes / std::max(sizeof(std::int64_t), question.element_bytes))};
}

// Collective. Empty where there is not even the memory for a table.
std::vector<timed_choice> measure(team& team, const decision_inputs& question,
                                  const kept_profile& kept, const gather_layout& layout,
                                  const tuning_setup& set_up) {
  const auto choices =
      candidates(layout, question.element_bytes, candidate_bytes, question.why_not);
  try {
    const tuning_size size = tuning_size_for(team, question, kept.last_level_bytes);
    return tune(team, choices, set_up(size),
                {.seconds = kept.tuning_seconds, .most_requests = size.requests});
  } catch (const error& e) {
    if (e.code() != errc::out_of_memory) throw;
    return {};
  }
}

void keep(team& team, kept_profile& kept, const profile_key& key,
          const std::vector<timed_choice>& measured) {
  kept.known.put(key, measured);
  kept.measured_now.push_back(key);
  if (team.rank() != 0 || kept.file.empty()) return;
  if (const auto reason = write_profile(kept.file, kept.known)) {
    fmt::print(stderr,
               "longshore: what strategy auto measured serves this run only: {} (LONGSHORE_PROFILE "
               "names another file, or off)\n",
               *reason);
    kept.file.clear();
  }
}

}  // namespace

const char* table_class(std::size_t bytes, std::size_t last_level_bytes) noexcept {
  if (bytes <= std::size_t{32} << 10) return "L1";
  if (bytes <= std::size_t{1} << 20) return "L2";
  return bytes <= last_level_bytes ? "LLC" : "memory";
}

gather_decision decide(team& team, const decision_inputs& question, const gather_options& asked,
                       const tuning_setup& set_up) {
  std::array<std::int64_t, 2> agreed = {question.all_direct ? 0 : 1,
                                        static_cast<std::int64_t>(asked.expected_requests)};
  team.allreduce(agreed, reduction::max);
  const auto expected = static_cast<std::size_t>(agreed[1]);
  gather_decision decision{.all_reachable = agreed[0] == 0};
  if (const auto reason = question.why_not(asked.strategy, decision.all_reachable))
    fail(errc::unsupported, "{}: {}", question.operation, *reason);
  if (asked.buffer_items == 0)
    fail(errc::usage, "{}: buffers of 0 items: give at least 1, or leave the default of 1024",
         question.operation);
  if (asked.strategy != gather_strategy::automatic) {
    decision.by_size.fill({asked.strategy, asked.buffer_items, asked.hops});
    return decision;
  }

  const gather_layout layout{team.size(), team.nodes().node_count(), team.nodes().largest_node(),
                             decision.all_reachable};
  decision.from = gather_decision::origin::rule;
  decision.by_size.fill(rule_choice(layout, asked.buffer_items));
  kept_profile& kept = profile_of(team);
  if (kept.off || question.table_items == 0) return decision;
  const std::size_t host_bytes =
      question.part_items * question.element_bytes * ranks_per_host(team);
  const profile_key key{
      .operation = question.measured_operation,
      .table = table_class(host_bytes, kept.last_level_bytes),
      .element_bytes = std::bit_ceil(std::max(question.element_bytes, sizeof(std::int64_t))),
      .layout = layout,
      .combine = asked.combine};
  auto measured = kept.known.find(key);
  if (measured.empty()) {
    measured = measure(team, question, kept, layout, set_up);
    if (!measured.empty()) keep(team, kept, key, measured);
  }
  std::erase_if(measured, [&](const timed_choice& one) {
    return question.why_not(one.choice.strategy, decision.all_reachable).has_value();
  });
  const auto chosen = choose(measured);
  if (!chosen) return decision;
  const bool now =
      std::find(kept.measured_now.begin(), kept.measured_now.end(), key) != kept.measured_now.end();
  decision.from = now ? gather_decision::origin::measured : gather_decision::origin::profile;
  decision.by_size = *chosen;
  if (expected > 0) decision.by_size.fill(decision.by_size[request_class_of(expected)]);
  return decision;
}

}  // namespace longshore::detail
