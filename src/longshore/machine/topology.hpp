// The topology of one node: its sockets, NUMA domains, caches and cores, with their CPUs.
#pragma once

#include <longshore/machine/placement.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace longshore {

struct topology_level {
  std::string name;
  int count = 0;               ///< number of objects of this level in the machine
  std::vector<int> object_of;  ///< object_of[i] is the object that holds topology::cpus()[i]
};

/// The topology of a node as a value, independent of hwloc. The levels, from outermost to
/// innermost, are socket, numa, l3, l2, core, hwthread. Level l2 is left out if it equals l3 or
/// core.
///
/// *Invariant*: every object lies within one object of the level around it. Hardware objects that
/// violate this are split: memory that serves two sockets counts as one NUMA domain in each.
/// Objects are numbered along the hardware: objects inside one outer object have consecutive
/// numbers.
class topology {
 public:
  /// A level with one label per CPU. CPUs with equal labels share an object; all negative labels
  /// count as equal.
  struct labelled_level {
    std::string name;
    std::vector<int> labels;
  };
  /// For readers of topologies; users call the functions below. `cpus` are in hardware order, and
  /// `levels` from the outermost in.
  topology(std::vector<int> cpus, std::span<const labelled_level> levels,
           std::string why_cores_only = "");

  /// CPUs in hardware order: the hardware threads of a core are consecutive, then the cores of a
  /// cache, and so on.
  [[nodiscard]] std::span<const int> cpus() const noexcept;
  [[nodiscard]] std::span<const topology_level> levels() const noexcept;
  /// The object of a level that holds a CPU; -1 if the machine has no such CPU.
  [[nodiscard]] int object_of(std::size_t level, int cpu) const noexcept;
  /// The object of a level that holds all these CPUs; -1 if no object does.
  [[nodiscard]] int object_holding(std::size_t level, std::span<const int> cpus) const noexcept;
  /// Name of the innermost level with an object that holds all these CPUs; "" if only the whole
  /// machine does.
  [[nodiscard]] std::string innermost_level_holding(std::span<const int> cpus) const;

  /// The topology of these CPUs only. CPUs that the machine does not have are ignored; if none is
  /// left, the result is the whole topology.
  [[nodiscard]] topology restricted_to(std::span<const int> cpus) const;

  /// For each level, the number of objects per object of the level around it; nothing if these
  /// numbers differ within a level.
  [[nodiscard]] std::optional<std::vector<hardware_level>> even_levels() const;
  /// One line of text. For even levels a description that topology_from() can read, for instance
  /// "pack:2 numa:4 l3:4 core:2 pu:1"; else "uneven: " and the counts.
  [[nodiscard]] std::string description() const;
  /// Why only the cores are known; "" if all levels are known.
  [[nodiscard]] const std::string& why_cores_only() const noexcept { return why_cores_only_; }

 private:
  std::vector<int> cpus_;
  std::vector<topology_level> levels_;
  std::string why_cores_only_;
};

/// The topology of this machine, limited by the control group of this process, but not by the
/// binding of the calling thread. Each call reads the hardware again. That takes milliseconds, or
/// tenths of a second on large nodes. Without hwloc each CPU counts as a core, and why_cores_only()
/// has the reason.
[[nodiscard]] topology topology_of_this_machine();

/// Reads the topology that `text` names: "this" for this machine, the name of an .xml file of
/// lstopo, or a synthetic description of hwloc, from "pack:" to "pu:". Throws errc::usage for other
/// texts, errc::unsupported in a build without hwloc.
[[nodiscard]] topology topology_from(const std::string& text);

}  // namespace longshore
