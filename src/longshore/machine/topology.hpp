// The levels of one node: which sockets, memory domains, caches and cores there are, and to which
// of them each CPU belongs.
#pragma once

#include <longshore/machine/placement.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace longshore {

/// One level: how many objects the machine has of it, and in which of them each CPU of
/// topology::cpus() lies, by its place there.
struct topology_level {
  std::string name;
  int count = 0;
  std::vector<int> object_of;
};

/// Levels from the outermost in: socket, numa, l3, l2 where it is neither the same as l3 nor as
/// core, core, hwthread. *Invariant*: every object lies within one object of the level before.
/// Where hardware is built otherwise it is cut until that is so: memory that serves two sockets
/// counts as one numa domain in each. Objects are numbered along the hardware, so that those of one
/// outer object follow each other. A value: copied, it needs nothing of the library that read it.
class topology {
 public:
  /// Which CPU belongs to what, by labels: equal where CPUs share an object, negative where there
  /// is none. One label per CPU.
  struct labelled_level {
    std::string name;
    std::vector<int> labels;
  };
  /// From CPU numbers in hardware order and levels from the outermost in. For readers; those who
  /// ask use the functions below.
  topology(std::vector<int> cpus, std::span<const labelled_level> levels,
           std::string why_little = "");

  /// CPUs in the order of the hardware: hardware threads of a core side by side, then the cores of
  /// a cache.
  [[nodiscard]] std::span<const int> cpus() const noexcept { return cpus_; }
  [[nodiscard]] std::span<const topology_level> levels() const noexcept { return levels_; }
  /// The object of a level in which a CPU lies; -1 when the machine has no such CPU.
  [[nodiscard]] int object_of(std::size_t level, int cpu) const noexcept;
  /// The object of a level in which all these CPUs lie; -1 when there is none.
  [[nodiscard]] int object_holding(std::size_t level, std::span<const int> cpus) const noexcept;
  /// Name of the innermost level of which one object holds all these CPUs; "" when only the whole
  /// machine does.
  [[nodiscard]] std::string innermost_holding(std::span<const int> cpus) const;

  /// What is left when only these CPUs may be used. CPUs that it does not have are ignored; with
  /// none left it stays whole.
  [[nodiscard]] topology restricted_to(std::span<const int> cpus) const;

  /// Objects of each level per object of the level before, when they are equal everywhere; else
  /// nothing.
  [[nodiscard]] std::optional<std::vector<hardware_level>> even_levels() const;
  /// One line: a description that topology_from() reads again, "pack:2 numa:4 l3:4 core:2 pu:1",
  /// where it is even; else counts in words.
  [[nodiscard]] std::string description() const;
  /// Why no more than the cores are known; "" when all is.
  [[nodiscard]] const std::string& why_little() const noexcept { return why_little_; }

 private:
  std::vector<int> cpus_;
  std::vector<topology_level> levels_;
  std::string why_little_;
};

/// This machine, as far as its control group lets this process see it, whichever CPUs the calling
/// thread is bound to. Read anew at each call: milliseconds to some tenths of a second on large
/// nodes. Without hwloc each CPU is a core, and why_little() says so.
[[nodiscard]] topology topology_of_this_machine();

/// "this"; the name of a file that ends in .xml, as lstopo writes it; or a description as hwloc has
/// it, from "pack:" to "pu:". Throws errc::usage when it is none of these, errc::unsupported in a
/// build without hwloc.
[[nodiscard]] topology topology_from(const std::string& what);

}  // namespace longshore
