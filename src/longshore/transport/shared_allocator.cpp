// Keeps the shareable memory of each allocation until it is freed.
#include <longshore/transport/shared_allocator.hpp>

#include <longshore/transport/shareable_memory.hpp>

#include <map>
#include <mutex>
#include <utility>

namespace longshore::detail {
namespace {

struct allocation_list {
  std::mutex mutex;
  std::map<const void*, shareable_memory> allocations;  // indexed by the first address
};

// Never destroyed, because static objects of the program may free their memory at the end.
allocation_list& list() {
  static auto& all = *new allocation_list;
  return all;
}

}  // namespace

void* allocate_shared(std::size_t bytes) {
  shareable_memory memory(any_process, bytes == 0 ? 1 : bytes);
  void* const data = memory.data();
  const std::lock_guard lock(list().mutex);
  list().allocations.emplace(data, std::move(memory));
  return data;
}

void free_shared(void* memory) noexcept {
  const std::lock_guard lock(list().mutex);
  list().allocations.erase(memory);
}

}  // namespace longshore::detail
