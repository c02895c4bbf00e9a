// Builds the levels of a machine from labels of its CPUs, numbers the objects along the hardware,
// and answers which objects hold which CPUs. topology_reader.cpp gets the labels from hwloc.
#include <longshore/machine/topology.hpp>

#include <longshore/core/error.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace longshore {
namespace {

// hwloc's name of a level.
std::string hwloc_name(const std::string& level) {
  return level == "socket" ? "pack" : level == "hwthread" ? "pu" : level;
}

bool same_objects(const topology_level& a, const topology_level& b) {
  return a.object_of == b.object_of;
}

}  // namespace

topology::topology(std::vector<int> cpus, std::span<const labelled_level> levels,
                   std::string why_cores_only)
    : cpus_(std::move(cpus)), why_cores_only_(std::move(why_cores_only)) {
  if (cpus_.empty()) fail(errc::usage, "a machine without CPUs");
  std::vector<int> outer(cpus_.size(), 0);
  for (const auto& level : levels) {
    topology_level added{level.name, 0, {}};
    std::map<std::pair<int, int>, int> numbers;  // (outer object, label) -> object
    for (std::size_t i = 0; i < cpus_.size(); ++i) {
      const auto [number, is_new] =
          numbers.try_emplace({outer[i], std::max(level.labels[i], -1)}, added.count);
      added.count += is_new;
      added.object_of.push_back(number->second);
    }
    outer = added.object_of;
    levels_.push_back(std::move(added));
  }
  // Leaves out l2 if it equals its neighbour l3 or core.
  for (std::size_t l = 1; l + 1 < levels_.size(); ++l)
    if (levels_[l].name == "l2" &&
        (same_objects(levels_[l], levels_[l - 1]) || same_objects(levels_[l], levels_[l + 1])))
      levels_.erase(levels_.begin() + static_cast<std::ptrdiff_t>(l));
}

std::span<const int> topology::cpus() const noexcept { return cpus_; }

std::span<const topology_level> topology::levels() const noexcept { return levels_; }

int topology::object_of(std::size_t level, int cpu) const noexcept {
  const auto at = std::find(cpus_.begin(), cpus_.end(), cpu);
  return at == cpus_.end() ? -1
                           : levels_[level].object_of[static_cast<std::size_t>(at - cpus_.begin())];
}

int topology::object_holding(std::size_t level, std::span<const int> cpus) const noexcept {
  if (cpus.empty()) return -1;
  const int object = object_of(level, cpus.front());
  const bool holds_all = std::all_of(cpus.begin(), cpus.end(),
                                     [&](int cpu) { return object_of(level, cpu) == object; });
  return holds_all ? object : -1;
}

std::string topology::innermost_level_holding(std::span<const int> cpus) const {
  for (std::size_t l = levels_.size(); l-- > 0;)
    if (object_holding(l, cpus) >= 0) return levels_[l].name;
  return "";
}

topology topology::restricted_to(std::span<const int> cpus) const {
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < cpus_.size(); ++i)
    if (std::find(cpus.begin(), cpus.end(), cpus_[i]) != cpus.end()) kept.push_back(i);
  if (kept.empty()) return *this;
  std::vector<int> kept_cpus;
  for (const auto i : kept) kept_cpus.push_back(cpus_[i]);
  std::vector<labelled_level> labelled;
  for (const auto& level : levels_) {
    labelled.push_back({level.name, {}});
    for (const auto i : kept) labelled.back().labels.push_back(level.object_of[i]);
  }
  return {std::move(kept_cpus), labelled, why_cores_only_};
}

std::optional<std::vector<hardware_level>> topology::even_levels() const {
  const topology_level machine{"", 1, std::vector<int>(cpus_.size(), 0)};
  topology_level cpus{"", static_cast<int>(cpus_.size()), std::vector<int>(cpus_.size())};
  std::iota(cpus.object_of.begin(), cpus.object_of.end(), 0);
  std::vector<hardware_level> even;
  const topology_level* outer = &machine;
  // The last turn checks that the CPUs are evenly divided among the objects of the innermost level.
  for (std::size_t l = 0; l <= levels_.size(); ++l) {
    const topology_level& level = l < levels_.size() ? levels_[l] : cpus;
    std::vector<int> objects_in(static_cast<std::size_t>(outer->count), 0);
    std::vector<bool> seen(static_cast<std::size_t>(level.count), false);
    for (std::size_t i = 0; i < cpus_.size(); ++i) {
      const auto object = static_cast<std::size_t>(level.object_of[i]);
      if (!seen[object]) ++objects_in[static_cast<std::size_t>(outer->object_of[i])];
      seen[object] = true;
    }
    if (std::ranges::count(objects_in, objects_in.front()) != outer->count) return std::nullopt;
    if (l < levels_.size()) even.push_back({level.name, objects_in.front()});
    outer = &level;
  }
  return even;
}

std::string topology::description() const {
  std::string text;
  if (const auto even = even_levels()) {
    for (const auto& level : *even)
      text += fmt::format("{}{}:{}", text.empty() ? "" : " ", hwloc_name(level.name), level.count);
    if (levels_.empty() || levels_.back().name != "hwthread")
      text += text.empty() ? "pu:1" : " pu:1";
    return text;
  }
  for (const auto& level : levels_)
    text += fmt::format("{}{} {}", text.empty() ? "uneven: " : ", ", level.count, level.name);
  return text;
}

}  // namespace longshore
