#include <longshore/core/bytes.hpp>
#include <longshore/core/error.hpp>
#include <longshore/machine/memory.hpp>
#include <longshore/machine/pages.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>

namespace longshore {

std::size_t page_bytes() noexcept { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

std::size_t huge_page_bytes() {
  std::size_t bytes = 0;
  std::ifstream file("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size");
  return file >> bytes && bytes > 0 ? bytes : std::size_t{2} << 20;
}

pages::pages(std::size_t bytes, bool huge) : bytes_(bytes) {
  if (bytes == 0) return;
  const std::size_t available = available_memory_bytes();
  if (bytes > available)
    fail(errc::out_of_memory, "{} bytes of memory asked for, {} are available: use smaller arrays or fewer ranks per node", bytes,
         available);
  const std::size_t alignment = huge ? huge_page_bytes() : page_bytes();
  mapping_bytes_ = round_up(bytes, page_bytes()) + (huge ? alignment : 0);
  mapping_ = mmap(nullptr, mapping_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping_ == MAP_FAILED) {
    mapping_ = nullptr;
    fail(errc::out_of_memory, "the kernel refused {} bytes of memory: use smaller arrays or fewer ranks per node", bytes);
  }
  data_ = reinterpret_cast<std::byte*>(round_up(reinterpret_cast<std::uintptr_t>(mapping_), alignment));
  if (huge) prefer_huge_pages(data_, bytes);
}

pages::~pages() {
  if (mapping_ != nullptr) munmap(mapping_, mapping_bytes_);
}

void prefer_huge_pages(void* data, std::size_t bytes) noexcept {
  const std::size_t page = page_bytes();
  const auto first = round_up(reinterpret_cast<std::uintptr_t>(data), page);
  const auto last = (reinterpret_cast<std::uintptr_t>(data) + bytes) / page * page;
  if (last > first) madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
}

}  // namespace longshore
