// Reads and sets the NUMA nodes of pages by the system calls move_pages and mbind. Files of the
// kernel tell which nodes the process may use.
#include <longshore/machine/pages.hpp>

#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>

namespace longshore {
namespace {

constexpr int max_nodes = 1024;  // the largest limit with which the kernel can be built
constexpr int bits_per_word = 8 * sizeof(unsigned long);

std::string after_key(const char* path, std::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(key)) return line.substr(line.find_first_not_of(" \t", key.size()));
  return {};
}

std::vector<int> nodes_with_memory() {
  std::ifstream file("/sys/devices/system/node/has_memory");
  std::string list;
  return file >> list ? numbers_in_list(list) : std::vector<int>{};
}

}  // namespace

std::vector<int> numbers_in_list(std::string_view list) {
  std::vector<int> numbers;
  const char *at = list.data(), *const end = at + list.size();
  while (at < end) {
    int first = 0;
    auto read = std::from_chars(at, end, first);
    int last = first;
    if (read.ec == std::errc{} && read.ptr < end && *read.ptr == '-')
      read = std::from_chars(read.ptr + 1, end, last);
    if (read.ec != std::errc{}) break;
    for (int number = first; number <= last; ++number) numbers.push_back(number);
    at = read.ptr;
    if (at < end && *at++ != ',') break;
  }
  return numbers;
}

std::vector<int> allowed_numa_nodes() {
  // The control group may allow nodes that do not exist or have no memory.
  const std::vector<int> present = nodes_with_memory();
  std::vector<int> nodes = numbers_in_list(after_key("/proc/self/status", "Mems_allowed_list:"));
  std::erase_if(nodes, [&](int node) {
    return node < 0 || node >= max_nodes ||
           (!present.empty() && std::find(present.begin(), present.end(), node) == present.end());
  });
  if (nodes.empty()) nodes.push_back(0);
  return nodes;
}

std::optional<std::string> interleave_pages(void* data, std::size_t bytes) {
  const std::vector<int> nodes = allowed_numa_nodes();
  unsigned long mask[max_nodes / bits_per_word] = {};
  for (const int node : nodes) mask[node / bits_per_word] |= 1UL << (node % bits_per_word);
  // The kernel reads one bit less than the given number.
  if (syscall(SYS_mbind, data, bytes, MPOL_INTERLEAVE, mask,
              static_cast<unsigned long>(max_nodes) + 1, 0UL) == 0)
    return std::nullopt;
  if (nodes.size() == 1) return std::nullopt;
  return std::string("the kernel refuses to place pages (mbind: ") + std::strerror(errno) +
         (errno == EPERM ? "), as in a container without the capability SYS_NICE" : ")");
}

std::optional<std::vector<int>> numa_nodes_of_pages(std::span<void* const> addresses) {
  std::vector<int> nodes(addresses.size(), -1);
  // Without target nodes, move_pages only reports the node of each page.
  if (syscall(SYS_move_pages, 0, addresses.size(), addresses.data(), nullptr, nodes.data(), 0) < 0)
    return std::nullopt;
  return nodes;
}

}  // namespace longshore
