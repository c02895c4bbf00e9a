// Maps pages by mmap, with or without huge pages, and reads the state of huge pages from the
// kernel.
#include <longshore/machine/pages.hpp>

#include <longshore/core/bytes.hpp>
#include <longshore/core/error.hpp>
#include <longshore/machine/memory_sizes.hpp>

#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <utility>

namespace longshore {
namespace {

std::size_t number_in(const std::string& path) {
  std::size_t value = 0;
  std::ifstream file(path);
  file >> value;
  return value;
}

}  // namespace

std::size_t page_bytes() noexcept { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

std::size_t huge_page_bytes() {
  const std::size_t bytes = number_in("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size");
  return bytes > 0 ? bytes : std::size_t{2} << 20;
}

pages::pages(std::size_t bytes, bool huge) : bytes_(bytes) {
  if (bytes == 0) return;
  require_available_memory(bytes);
  // Memory smaller than a huge page never gets one. If thousands of ranks are in one process, a
  // request for it would divide the address space into more parts than the kernel allows.
  huge = huge && bytes >= huge_page_bytes();
  const std::size_t alignment = huge ? huge_page_bytes() : page_bytes();
  mapping_bytes_ = round_up(bytes, page_bytes()) + (huge ? alignment : 0);
  mapping_ =
      mmap(nullptr, mapping_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping_ == MAP_FAILED) {
    mapping_ = nullptr;
    fail(errc::out_of_memory,
         "the kernel refused {} bytes of memory: use smaller arrays or fewer ranks per node",
         bytes);
  }
  data_ =
      reinterpret_cast<std::byte*>(round_up(reinterpret_cast<std::uintptr_t>(mapping_), alignment));
  if (huge) prefer_huge_pages(data_, bytes);
}

pages pages::reserved(std::size_t bytes) {
  pages memory;
  if (bytes == 0) return memory;
  void* const mapping = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED)
    fail(errc::out_of_memory, "the kernel refused {} bytes of address space (ulimit -v)", bytes);
  memory.mapping_ = mapping;
  memory.data_ = static_cast<std::byte*>(mapping);
  memory.mapping_bytes_ = memory.bytes_ = bytes;
  return memory;
}

pages pages::from_huge_page_pool(std::size_t bytes) {
  pages memory;
  if (bytes == 0) return memory;
  const huge_page_pool pool = read_huge_page_pool();
  // Without MAP_NORESERVE, the kernel reserves the pages now, so a first touch cannot kill the
  // process.
  void* mapping = MAP_FAILED;
  if (pool.page_bytes > 0 && bytes <= pool.free_bytes)
    mapping = mmap(nullptr, round_up(bytes, pool.page_bytes), PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
  if (mapping == MAP_FAILED)
    fail(errc::out_of_memory,
         "{} bytes requested, the pool of explicit huge pages has {} free: as root, sysctl "
         "vm.nr_hugepages=N sets the number of pages of {} bytes",
         bytes, pool.free_bytes, pool.page_bytes);
  memory.mapping_ = mapping;
  memory.mapping_bytes_ = round_up(bytes, pool.page_bytes);
  memory.data_ = static_cast<std::byte*>(mapping);
  memory.bytes_ = bytes;
  return memory;
}

pages::pages(pages&& other) noexcept { swap(other); }

pages& pages::operator=(pages&& other) noexcept {
  swap(other);
  return *this;
}

void pages::swap(pages& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(mapping_, other.mapping_);
  std::swap(mapping_bytes_, other.mapping_bytes_);
}

pages::~pages() {
  if (mapping_ != nullptr) munmap(mapping_, mapping_bytes_);
}

huge_page_pool read_huge_page_pool() {
  std::size_t kibibytes = 0, value = 0, free = 0, reserved = 0, surplus = 0;
  std::ifstream info("/proc/meminfo");
  std::string key, rest;
  for (; info >> key >> value; std::getline(info, rest)) {
    if (key == "Hugepagesize:") kibibytes = value;
    if (key == "HugePages_Free:") free = value;
    if (key == "HugePages_Rsvd:") reserved = value;
    if (key == "HugePages_Surp:") surplus = value;
  }
  const std::size_t on_demand = number_in("/proc/sys/vm/nr_overcommit_hugepages");
  const std::size_t pages_free =
      free - std::min(free, reserved) + on_demand - std::min(on_demand, surplus);
  return {kibibytes * 1024, pages_free * kibibytes * 1024};
}

std::optional<std::string> why_no_transparent_huge_pages() {
  std::ifstream file("/sys/kernel/mm/transparent_hugepage/enabled");
  std::string choice;  // for instance "always [madvise] never"
  if (!std::getline(file, choice)) return "this kernel has no transparent huge pages";
  if (choice.find("[never]") != std::string::npos)
    return "transparent huge pages are off: as root, echo madvise > "
           "/sys/kernel/mm/transparent_hugepage/enabled";
  if (prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0) > 0)
    return "transparent huge pages are off for this process (prctl PR_SET_THP_DISABLE, set by the "
           "program that started it)";
  return std::nullopt;
}

void prefer_huge_pages(void* data, std::size_t bytes) noexcept {
  const std::size_t page = page_bytes();
  const auto first = round_up(reinterpret_cast<std::uintptr_t>(data), page);
  const auto last = (reinterpret_cast<std::uintptr_t>(data) + bytes) / page * page;
  if (last > first) madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
}

}  // namespace longshore
