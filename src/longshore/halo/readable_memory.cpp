#include <longshore/halo/readable_memory.hpp>

#include <longshore/core/bytes.hpp>
#include <longshore/core/error.hpp>
#include <longshore/machine/memory.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <fmt/core.h>
#include <unistd.h>

namespace longshore {
namespace {

constexpr std::size_t huge_from_bytes = std::size_t{1} << 20, small_below_bytes = 32768;

// An unnamed file of `bytes` bytes, mapped; a ticket without address where the system refuses one
// of the calls.
memory_ticket make_file(std::size_t bytes) {
  memory_ticket ticket;
  const int file = memfd_create("longshore-halo", MFD_CLOEXEC);
  if (file < 0) return ticket;
  struct stat facts {};
  void* data = MAP_FAILED;
  if (ftruncate(file, static_cast<off_t>(bytes)) == 0 && fstat(file, &facts) == 0)
    data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (data == MAP_FAILED) {
    close(file);
    return ticket;
  }
  ticket.address = reinterpret_cast<std::uint64_t>(data);
  ticket.process = getpid();
  ticket.file = file;
  ticket.device = facts.st_dev;
  ticket.inode = facts.st_ino;
  return ticket;
}

}  // namespace

readable_memory::readable_memory(const team& ranks, std::size_t bytes) {
  if (bytes == 0) return;
  if (ranks.transport_name() != "threads" && ranks.nodes().my_rank_count() > 1) {
    if (bytes > available_memory_bytes())
      fail(errc::out_of_memory, "{} bytes of memory are asked for, {} are available", bytes,
           available_memory_bytes());
    const std::size_t whole = (bytes + page_bytes() - 1) / page_bytes() * page_bytes();
    ticket_ = make_file(whole);
    ticket_.bytes = whole;
  }
  if (ticket_.address == 0) {
    if (bytes < small_below_bytes) {
      small_.reset(new (std::align_val_t{interference_bytes}) std::byte[bytes]{});
      ticket_.address = reinterpret_cast<std::uint64_t>(small_.get());
    } else {
      own_ = pages(bytes, bytes >= huge_from_bytes);
      ticket_.address = reinterpret_cast<std::uint64_t>(own_.data());
    }
    ticket_.bytes = bytes;
    ticket_.process = getpid();
  } else if (bytes >= huge_from_bytes) {
    prefer_huge_pages(data(), ticket_.bytes);
  }
}

void readable_memory::aligned_delete::operator()(std::byte* memory) const noexcept {
  ::operator delete[](memory, std::align_val_t{interference_bytes});
}

readable_memory::~readable_memory() {
  if (ticket_.file < 0) return;
  munmap(data(), ticket_.bytes);
  close(static_cast<int>(ticket_.file));
}

mapped_memory::mapped_memory(const memory_ticket& ticket) : bytes_(ticket.bytes) {
  const auto path = fmt::format("/proc/{}/fd/{}", ticket.process, ticket.file);
  const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return;
  struct stat facts {};
  if (fstat(file, &facts) == 0 && facts.st_dev == ticket.device && facts.st_ino == ticket.inode) {
    void* const data = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (data != MAP_FAILED) data_ = static_cast<std::byte*>(data);
  }
  close(file);
}

mapped_memory::~mapped_memory() {
  if (data_ != nullptr) munmap(data_, bytes_);
}

mapped_neighbours::view mapped_neighbours::redeem(const memory_ticket& ticket) {
  if (in_process_) return {reinterpret_cast<std::byte*>(ticket.address), nullptr};
  if (ticket.file < 0) return {};
  auto& known = maps_[{ticket.process, ticket.device, ticket.inode}];
  auto map = known.lock();
  if (!map) {
    map = std::make_shared<const mapped_memory>(ticket);
    known = map;
    forget_unused();
  }
  if (map->data() == nullptr) return {};
  if (ticket.bytes >= huge_from_bytes) prefer_huge_pages(map->data(), ticket.bytes);
  return {map->data(), map};
}

// What was mapped for plans that are gone is only a key here: swept when there are twice as many as
// after the last time.
void mapped_neighbours::forget_unused() {
  if (maps_.size() < sweep_at_) return;
  std::erase_if(maps_, [](const auto& entry) { return entry.second.expired(); });
  sweep_at_ = 2 * maps_.size() + least_sweep;
}

}  // namespace longshore
