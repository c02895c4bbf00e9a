#include <longshore/machine/topology.hpp>

#include <longshore/core/error.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <map>
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
      const auto [at, is_new] =
          numbers.try_emplace({outer[i], std::max(level.labels[i], -1)}, added.count);
      added.count += is_new;
      added.object_of.push_back(at->second);
    }
    outer = added.object_of;
    levels_.push_back(std::move(added));
  }
  for (std::size_t l = 1; l + 1 < levels_.size(); ++l)
    if (levels_[l].name == "l2" &&
        (same_objects(levels_[l], levels_[l - 1]) || same_objects(levels_[l], levels_[l + 1])))
      levels_.erase(levels_.begin() + static_cast<std::ptrdiff_t>(l));
}

int topology::object_of(std::size_t level, int cpu) const noexcept {
  const auto at = std::find(cpus_.begin(), cpus_.end(), cpu);
  return at == cpus_.end() ? -1
                           : levels_[level].object_of[static_cast<std::size_t>(at - cpus_.begin())];
}

int topology::object_holding(std::size_t level, std::span<const int> cpus) const noexcept {
  if (cpus.empty()) return -1;
  const int object = object_of(level, cpus.front());
  const bool all = std::all_of(cpus.begin(), cpus.end(),
                               [&](int cpu) { return object_of(level, cpu) == object; });
  return all ? object : -1;
}

std::string topology::innermost_holding(std::span<const int> cpus) const {
  for (std::size_t l = levels_.size(); l-- > 0;)
    if (object_holding(l, cpus) >= 0) return levels_[l].name;
  return "";
}

topology topology::restricted_to(std::span<const int> cpus) const {
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < cpus_.size(); ++i)
    if (std::find(cpus.begin(), cpus.end(), cpus_[i]) != cpus.end()) kept.push_back(i);
  if (kept.empty()) return *this;
  std::vector<int> left;
  for (const auto i : kept) left.push_back(cpus_[i]);
  std::vector<labelled_level> labelled;
  for (const auto& level : levels_) {
    labelled.push_back({level.name, {}});
    for (const auto i : kept) labelled.back().labels.push_back(level.object_of[i]);
  }
  return {std::move(left), labelled, why_cores_only_};
}

std::optional<std::vector<hardware_level>> topology::even_levels() const {
  std::vector<hardware_level> even;
  topology_level whole{"", 1, std::vector<int>(cpus_.size(), 0)};
  const topology_level* outer = &whole;
  for (const auto& level : levels_) {
    std::vector<int> objects_in(static_cast<std::size_t>(outer->count), 0);
    std::vector<bool> seen(static_cast<std::size_t>(level.count), false);
    for (std::size_t i = 0; i < cpus_.size(); ++i) {
      const auto object = static_cast<std::size_t>(level.object_of[i]);
      if (!seen[object]) ++objects_in[static_cast<std::size_t>(outer->object_of[i])];
      seen[object] = true;
    }
    if (std::any_of(objects_in.begin(), objects_in.end(),
                    [&](int n) { return n != objects_in.front(); }))
      return std::nullopt;
    even.push_back({level.name, objects_in.front()});
    outer = &level;
  }
  if (outer->count != static_cast<int>(cpus_.size())) {  // innermost objects with several CPUs
    std::vector<int> cpus_in(static_cast<std::size_t>(outer->count), 0);
    for (const int object : outer->object_of) ++cpus_in[static_cast<std::size_t>(object)];
    if (std::any_of(cpus_in.begin(), cpus_in.end(), [&](int n) { return n != cpus_in.front(); }))
      return std::nullopt;
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
