// Maps an unnamed file of another process through /proc/PID/fd, and keeps each mapping as long as a
// plan uses it.
#include <longshore/transport/detail/mapped_memory.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <fmt/core.h>
#include <unistd.h>

namespace longshore::detail {

mapped_memory::mapped_memory(const shared_memory_handle& handle) : bytes_(handle.bytes) {
  const auto path = fmt::format("/proc/{}/fd/{}", handle.process, handle.file);
  const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return;
  // In a container with its own process numbers, the path may lead to a file of another process.
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

mapped_memory_cache::mapping mapped_memory_cache::map(const shared_memory_handle& handle) {
  if (is_one_process_) return {reinterpret_cast<std::byte*>(handle.address), nullptr};
  if (handle.file < 0) return {};
  auto& entry = entries_[{handle.process, handle.device, handle.inode}];
  auto memory = entry.memory.lock();
  if (!memory) {
    memory = std::make_shared<const mapped_memory>(handle);
    entry.memory = memory;
    remove_unused();
  }
  if (memory->data() == nullptr) return {};
  entry.bytes = handle.bytes;
  entry.last_use = ++uses_;
  if (!entry.kept && entry.bytes <= max_kept_bytes_) keep(entry, memory);
  if (handle.bytes >= huge_pages_from_bytes) prefer_huge_pages(memory->data(), handle.bytes);
  return {memory->data(), memory};
}

// Keeps `memory` in the cache. If the cache is full, drops the memory that was used longest ago.
void mapped_memory_cache::keep(cached& entry, std::shared_ptr<const mapped_memory> memory) {
  entry.kept = std::move(memory);
  kept_bytes_ += entry.bytes;
  while (kept_bytes_ > max_kept_bytes_) {
    auto* oldest = &entry;
    for (auto& [key, other] : entries_)
      if (other.kept && other.last_use < oldest->last_use) oldest = &other;
    oldest->kept.reset();
    kept_bytes_ -= oldest->bytes;
  }
}

// Entries without owners are removed when the number of entries has doubled since the last cleanup.
void mapped_memory_cache::remove_unused() {
  if (entries_.size() < cleanup_at_) return;
  std::erase_if(entries_, [](const auto& entry) { return entry.second.memory.expired(); });
  cleanup_at_ = 2 * entries_.size() + min_cleanup_size;
}

}  // namespace longshore::detail
