// Allocates memory that neighbours can map: an unnamed file if other processes of the node may need
// the memory, and private memory otherwise.
#include <longshore/transport/shareable_memory.hpp>

#include <longshore/core/bytes.hpp>
#include <longshore/core/error.hpp>
#include <longshore/machine/memory_sizes.hpp>
#include <longshore/transport/detail/mapped_memory.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <unistd.h>

#include <iterator>
#include <map>
#include <mutex>
#include <utility>

namespace longshore {
namespace {

// Smaller private memory comes from the heap: see shareable_memory::small_.
constexpr std::size_t small_below_bytes = 32768;
// For less memory than this, the check of available memory takes longer than the allocation.
constexpr std::size_t checked_from_bytes = std::size_t{1} << 20;

// Makes and maps an unnamed file of `bytes` bytes. If the system refuses, the address of the handle
// is 0.
shared_memory_handle make_file(std::size_t bytes) {
  shared_memory_handle handle;
  const int file = memfd_create("longshore-halo", MFD_CLOEXEC);
  if (file < 0) return handle;
  struct stat facts {};
  void* data = MAP_FAILED;
  if (ftruncate(file, static_cast<off_t>(bytes)) == 0 && fstat(file, &facts) == 0)
    data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (data == MAP_FAILED) {
    close(file);
    return handle;
  }
  handle.address = reinterpret_cast<std::uint64_t>(data);
  handle.process = getpid();
  handle.file = file;
  handle.device = facts.st_dev;
  handle.inode = facts.st_ino;
  return handle;
}

struct handle_list {
  std::mutex mutex;
  std::map<std::uint64_t, detail::found_memory> memories;  // indexed by the first address
};

// The memory of this process that other processes can map. Never destroyed, because static objects
// may free their memory at the end.
handle_list& list() {
  static auto& all = *new handle_list;
  return all;
}

}  // namespace

std::optional<detail::found_memory> detail::find_shareable(const std::byte* address) {
  const auto number = reinterpret_cast<std::uint64_t>(address);
  const std::lock_guard lock(list().mutex);
  const auto next = list().memories.upper_bound(number);
  if (next == list().memories.begin()) return std::nullopt;
  const auto& found = std::prev(next)->second;
  if (number >= found.handle.address + found.handle.bytes) return std::nullopt;
  return found;
}

shareable_memory::shareable_memory(const team& ranks, std::size_t bytes) {
  allocate(bytes, !ranks.is_one_process() && ranks.nodes().ranks_on_my_node() > 1);
}

shareable_memory::shareable_memory(detail::any_process_t, std::size_t bytes) {
  allocate(bytes, true);
}

void shareable_memory::allocate(std::size_t bytes, bool for_processes) {
  if (bytes == 0) return;
  lifetime_ = std::make_shared<char>();
  if (for_processes) {
    if (bytes >= checked_from_bytes && bytes > available_memory_bytes())
      fail(errc::out_of_memory,
           "shareable memory of {} bytes was requested, and {} bytes are available", bytes,
           available_memory_bytes());
    const std::size_t whole_pages = round_up(bytes, page_bytes());
    handle_ = make_file(whole_pages);
    handle_.bytes = whole_pages;
  }
  if (handle_.address == 0) {  // no other process needs the memory, or the system made no file
    if (bytes < small_below_bytes && !for_processes) {
      small_.reset(new (std::align_val_t{interference_bytes}) std::byte[bytes]{});
      handle_.address = reinterpret_cast<std::uint64_t>(small_.get());
    } else {
      pages_ = pages(bytes, bytes >= detail::huge_pages_from_bytes);
      handle_.address = reinterpret_cast<std::uint64_t>(pages_.data());
    }
    handle_.bytes = bytes;
    handle_.process = getpid();
    return;
  }
  if (bytes >= detail::huge_pages_from_bytes) prefer_huge_pages(data(), handle_.bytes);
  const std::lock_guard lock(list().mutex);
  list().memories.emplace(handle_.address, detail::found_memory{handle_, lifetime_});
}

shareable_memory::shareable_memory(shareable_memory&& other) noexcept { swap(other); }

shareable_memory& shareable_memory::operator=(shareable_memory&& other) noexcept {
  swap(other);
  return *this;
}

void shareable_memory::swap(shareable_memory& other) noexcept {
  std::swap(handle_, other.handle_);
  std::swap(pages_, other.pages_);
  std::swap(small_, other.small_);
  std::swap(lifetime_, other.lifetime_);
}

std::weak_ptr<const void> shareable_memory::lifetime() const noexcept { return lifetime_; }

void shareable_memory::aligned_delete::operator()(std::byte* memory) const noexcept {
  ::operator delete[](memory, std::align_val_t{interference_bytes});
}

shareable_memory::~shareable_memory() {
  if (handle_.file < 0) return;
  {
    const std::lock_guard lock(list().mutex);
    list().memories.erase(handle_.address);
  }
  munmap(data(), handle_.bytes);
  close(static_cast<int>(handle_.file));
}

}  // namespace longshore
