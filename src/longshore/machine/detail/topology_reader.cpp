// Reads a topology with hwloc. Only this file uses hwloc. In a build without it, only the cores are
// known.
#include <longshore/core/error.hpp>
#include <longshore/machine/affinity.hpp>
#include <longshore/machine/topology.hpp>

#ifdef LONGSHORE_HAVE_HWLOC
#include <hwloc.h>

#include <cerrno>
#include <cstring>
#include <memory>
#else
#include <unistd.h>

#include <numeric>
#endif

namespace longshore {

#ifdef LONGSHORE_HAVE_HWLOC
namespace {

struct destroy {
  void operator()(hwloc_topology_t loaded) const { hwloc_topology_destroy(loaded); }
};
using loaded_topology = std::unique_ptr<hwloc_topology, destroy>;

loaded_topology new_topology() {
  hwloc_topology_t made = nullptr;
  if (hwloc_topology_init(&made) != 0)
    fail(errc::out_of_memory, "hwloc could not start to read a topology");
  return loaded_topology(made);
}

int ancestor(hwloc_topology_t in, hwloc_obj_type_t type, hwloc_obj_t pu) {
  const auto* found = hwloc_get_ancestor_obj_by_type(in, type, pu);
  return found == nullptr ? -1 : static_cast<int>(found->logical_index);
}

// NUMA nodes are not in the tree of CPUs. If several serve a CPU (fast and slow memory), the one
// that serves the fewest CPUs counts.
int numa_node_of(hwloc_topology_t in, unsigned cpu) {
  int domain = -1, fewest = 0;
  for (hwloc_obj_t one = nullptr;
       (one = hwloc_get_next_obj_by_type(in, HWLOC_OBJ_NUMANODE, one)) != nullptr;) {
    if (one->cpuset == nullptr || hwloc_bitmap_isset(one->cpuset, cpu) == 0) continue;
    const int serves = hwloc_bitmap_weight(one->cpuset);
    if (domain < 0 || serves < fewest)
      domain = static_cast<int>(one->logical_index), fewest = serves;
  }
  return domain;
}

topology read(const loaded_topology& prepared) {
  hwloc_topology_t in = prepared.get();
  if (hwloc_topology_load(in) != 0)
    fail(errc::usage, "hwloc could not read the topology: {}", std::strerror(errno));
  std::vector<int> cpus;
  std::vector<topology::labelled_level> levels{{"socket", {}}, {"numa", {}}, {"l3", {}},
                                               {"l2", {}},     {"core", {}}, {"hwthread", {}}};
  for (hwloc_obj_t pu = nullptr;
       (pu = hwloc_get_next_obj_by_type(in, HWLOC_OBJ_PU, pu)) != nullptr;) {
    cpus.push_back(static_cast<int>(pu->os_index));
    levels[0].labels.push_back(ancestor(in, HWLOC_OBJ_PACKAGE, pu));
    levels[1].labels.push_back(numa_node_of(in, pu->os_index));
    levels[2].labels.push_back(ancestor(in, HWLOC_OBJ_L3CACHE, pu));
    levels[3].labels.push_back(ancestor(in, HWLOC_OBJ_L2CACHE, pu));
    const int core = ancestor(in, HWLOC_OBJ_CORE, pu);
    levels[4].labels.push_back(core >= 0 ? core : static_cast<int>(pu->logical_index));
    levels[5].labels.push_back(static_cast<int>(pu->logical_index));
  }
  return {std::move(cpus), levels};
}

}  // namespace

topology topology_of_this_machine() { return read(new_topology()); }

topology topology_from(const std::string& what) {
  if (what == "this") return topology_of_this_machine();
  const auto prepared = new_topology();
  if (what.ends_with(".xml")) {
    if (hwloc_topology_set_xml(prepared.get(), what.c_str()) != 0)
      fail(errc::usage, "'{}' cannot be read as a topology: {}; lstopo {} writes one", what,
           std::strerror(errno), what);
  } else if (what.empty() || hwloc_topology_set_synthetic(prepared.get(), what.c_str()) != 0) {
    fail(errc::usage,
         "'{}' is not a topology: use this, a file that ends in .xml, or a description such as "
         "\"pack:2 numa:4 l3:4 core:2 pu:1\"",
         what);
  }
  return read(prepared);
}
#else
topology topology_of_this_machine() {
  const auto allowed = allowed_cpus();
  const long configured =
      std::max(sysconf(_SC_NPROCESSORS_CONF), static_cast<long>(allowed.back()) + 1);
  std::vector<int> cpus(static_cast<std::size_t>(configured));
  std::iota(cpus.begin(), cpus.end(), 0);
  const std::vector<topology::labelled_level> cores{{"core", cpus}};
  return {cpus, cores, "this build has no hwloc (libhwloc-dev), so only cores are known"};
}

topology topology_from(const std::string& what) {
  if (what == "this") return topology_of_this_machine();
  fail(errc::unsupported,
       "the topology '{}' needs hwloc, which this build does not have; use the topology 'this'",
       what);
}
#endif

}  // namespace longshore
