// Reads topologies with hwloc. Only this file uses hwloc. Without hwloc only the cores are known.
#include <longshore/core/error.hpp>
#include <longshore/machine/affinity.hpp>
#include <longshore/machine/topology.hpp>

#ifdef LONGSHORE_HAVE_HWLOC
#include <hwloc.h>

#include <algorithm>
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
  void operator()(hwloc_topology_t hwloc) const { hwloc_topology_destroy(hwloc); }
};
using hwloc_handle = std::unique_ptr<hwloc_topology, destroy>;

hwloc_handle new_topology() {
  hwloc_topology_t hwloc = nullptr;
  if (hwloc_topology_init(&hwloc) != 0)
    fail(errc::out_of_memory, "hwloc could not start to read a topology");
  return hwloc_handle(hwloc);
}

int ancestor(hwloc_topology_t hwloc, hwloc_obj_type_t type, hwloc_obj_t pu) {
  const auto* object = hwloc_get_ancestor_obj_by_type(hwloc, type, pu);
  return object == nullptr ? -1 : static_cast<int>(object->logical_index);
}

// The NUMA node with memory for a CPU. If a CPU has several nodes (fast and slow memory), the node
// that serves the fewest CPUs counts. NUMA nodes are not in hwloc's tree of CPUs.
int numa_node_of(hwloc_topology_t hwloc, unsigned cpu) {
  int domain = -1, fewest = 0;
  for (hwloc_obj_t node = nullptr;
       (node = hwloc_get_next_obj_by_type(hwloc, HWLOC_OBJ_NUMANODE, node)) != nullptr;) {
    if (node->cpuset == nullptr || hwloc_bitmap_isset(node->cpuset, cpu) == 0) continue;
    const int cpus = hwloc_bitmap_weight(node->cpuset);
    if (domain < 0 || cpus < fewest) domain = static_cast<int>(node->logical_index), fewest = cpus;
  }
  return domain;
}

topology read(const hwloc_handle& handle) {
  hwloc_topology_t hwloc = handle.get();
  if (hwloc_topology_load(hwloc) != 0)
    fail(errc::usage, "hwloc could not read the topology: {}", std::strerror(errno));
  std::vector<int> cpus;
  std::vector<topology::labelled_level> levels{{"socket", {}}, {"numa", {}}, {"l3", {}},
                                               {"l2", {}},     {"core", {}}, {"hwthread", {}}};
  for (hwloc_obj_t pu = nullptr;
       (pu = hwloc_get_next_obj_by_type(hwloc, HWLOC_OBJ_PU, pu)) != nullptr;) {
    cpus.push_back(static_cast<int>(pu->os_index));
    levels[0].labels.push_back(ancestor(hwloc, HWLOC_OBJ_PACKAGE, pu));
    levels[1].labels.push_back(numa_node_of(hwloc, pu->os_index));
    levels[2].labels.push_back(ancestor(hwloc, HWLOC_OBJ_L3CACHE, pu));
    levels[3].labels.push_back(ancestor(hwloc, HWLOC_OBJ_L2CACHE, pu));
    const int core = ancestor(hwloc, HWLOC_OBJ_CORE, pu);
    levels[4].labels.push_back(core >= 0 ? core : static_cast<int>(pu->logical_index));
    levels[5].labels.push_back(static_cast<int>(pu->logical_index));
  }
  return {std::move(cpus), levels};
}

}  // namespace

topology topology_of_this_machine() { return read(new_topology()); }

topology topology_from(const std::string& text) {
  if (text == "this") return topology_of_this_machine();
  const auto handle = new_topology();
  if (text.ends_with(".xml")) {
    if (hwloc_topology_set_xml(handle.get(), text.c_str()) != 0)
      fail(errc::usage, "'{}' cannot be read as a topology: {}; lstopo {} writes one", text,
           std::strerror(errno), text);
  } else if (text.empty() || hwloc_topology_set_synthetic(handle.get(), text.c_str()) != 0) {
    fail(errc::usage,
         "'{}' is not a topology: use this, a file that ends in .xml, or a description such as "
         "\"pack:2 numa:4 l3:4 core:2 pu:1\"",
         text);
  }
  return read(handle);
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

topology topology_from(const std::string& text) {
  if (text == "this") return topology_of_this_machine();
  fail(errc::unsupported,
       "the topology '{}' needs hwloc, which this build does not have; use the topology 'this'",
       text);
}
#endif

}  // namespace longshore
