#include <longshore/halo/detail/backends/mapped_memory.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <fmt/core.h>
#include <unistd.h>

namespace longshore::detail {

mapped_memory::mapped_memory(const memory_handle& handle) : bytes_(handle.bytes) {
  const auto path = fmt::format("/proc/{}/fd/{}", handle.process, handle.file);
  const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return;
  struct stat facts {};
  if (fstat(file, &facts) == 0 && facts.st_dev == handle.device && facts.st_ino == handle.inode) {
    void* const data = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (data != MAP_FAILED) data_ = static_cast<std::byte*>(data);
  }
  close(file);
}

mapped_memory::~mapped_memory() {
  if (data_ != nullptr) munmap(data_, bytes_);
}

mapped_neighbours::view mapped_neighbours::map(const memory_handle& handle) {
  if (in_process_) return {reinterpret_cast<std::byte*>(handle.address), nullptr};
  if (handle.file < 0) return {};
  auto& entry = maps_[{handle.process, handle.device, handle.inode}];
  auto map = entry.lock();
  if (!map) {
    map = std::make_shared<const mapped_memory>(handle);
    entry = map;
    forget_unused();
  }
  if (map->data() == nullptr) return {};
  if (handle.bytes >= huge_pages_from_bytes) prefer_huge_pages(map->data(), handle.bytes);
  return {map->data(), map};
}

// Entries of plans that no longer exist stay here until the number of entries has doubled since the
// last cleanup.
void mapped_neighbours::forget_unused() {
  if (maps_.size() < cleanup_at_) return;
  std::erase_if(maps_, [](const auto& one) { return one.second.expired(); });
  cleanup_at_ = 2 * maps_.size() + least_cleanup;
}

}  // namespace longshore::detail
