// Runs the launches of emulated devices as loops.
#include <longshore/device/emulated.hpp>

#include <longshore/core/error.hpp>
#include <longshore/device/detail/kernels.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace longshore::testing {
namespace {

using detail::device_piece;

// How often somebody asks for an event before the work in front of it is done.
constexpr int questions = 3;

// After which time work runs for which another process may wait.
constexpr std::chrono::milliseconds shared_delay{10};

thread_local int device_of_thread = 0;

// An open file, which is closed with the last copy of the result.
std::shared_ptr<const int> closed_later(int file) {
  return {new int(file), [](const int* opened) {
            if (*opened >= 0) ::close(*opened);
            delete opened;
          }};
}
std::shared_ptr<const int> new_file(std::size_t bytes) {
  auto file = closed_later(::memfd_create("longshore emulated device", MFD_CLOEXEC));
  if (*file < 0 || ::ftruncate(*file, static_cast<off_t>(bytes)) != 0)
    fail(errc::out_of_memory, "{} bytes of an emulated device", bytes);
  return file;
}

// The bytes of a handle.
struct file_handle {
  pid_t process;
  int file, device;
  std::size_t bytes;
};
detail::device_handle handle_of(const file_handle& file, std::uint64_t offset = 0) {
  detail::device_handle made{.offset = offset};
  std::memcpy(made.bytes.data(), &file, sizeof file);
  return made;
}
file_handle file_of(const detail::device_handle& handle) {
  file_handle file;
  std::memcpy(&file, handle.bytes.data(), sizeof file);
  return file;
}
std::shared_ptr<const int> opened(const file_handle& shared) {
  const auto path =
      "/proc/" + std::to_string(shared.process) + "/fd/" + std::to_string(shared.file);
  return closed_later(::open(path.c_str(), O_RDWR | O_CLOEXEC));
}

}  // namespace

// The launches keep the lists, as a device needs them until it is done.
detail::device_copies emulated_devices::prepare(int device, std::span<const device_piece> given) {
  const auto pieces = std::make_shared<std::vector<device_piece>>();
  const auto lists = std::make_shared<std::deque<std::vector<std::uint32_t>>>();
  for (const auto& narrow : given) {
    auto& piece = pieces->emplace_back(detail::widened(narrow));
    for (auto* index : {&piece.to_index, &piece.from_index})
      if (*index != nullptr) *index = lists->emplace_back(*index, *index + piece.size()).data();
  }
  return [this, device, pieces, lists](device_stream stream) {
    append_launch(device, stream, [this, device, pieces, lists] {
      for (const auto& piece : *pieces)
        for (std::size_t i = 0; i < piece.size(); ++i) {
          const auto element = [&](const std::byte* first, const auto& strides, const auto* index) {
            return at(static_cast<const void*>(
                          first + detail::element_offset(piece.extents, strides, index, i)),
                      piece.element_bytes, device, piece.word_bytes);
          };
          std::memcpy(element(piece.to, piece.to_strides, piece.to_index),
                      element(piece.from, piece.from_strides, piece.from_index),
                      piece.element_bytes);
        }
    });
  };
}

detail::device_combines emulated_devices::prepare(int device, const detail::device_sums& given) {
  const auto sums = std::make_shared<const detail::device_sums>(given);
  return [this, device, sums](device_stream stream, const detail::device_operation& by) {
    append_launch(device, stream, [this, device, sums, by] {
      detail::with_number(by.number, [&](auto zero) {
        using number = decltype(zero);
        const auto number_at = [&](const void* address) {
          return reinterpret_cast<number*>(at(address, sizeof(number), device, sizeof(number)));
        };
        for (std::size_t t = 0; t < sums->targets.size(); ++t) {
          auto& value = *number_at(sums->targets[t]);
          for (auto s = sums->begins[t]; s < sums->begins[t + 1]; ++s)
            value = detail::combined(by.op, value, *number_at(sums->sources[s]));
        }
      });
    });
  };
}

emulated_devices::~emulated_devices() {
  has_ended_ = true;
  runs_shared_work_ = {};
  for (const auto& [address, memory] : allocations_) {
    ::munmap(const_cast<std::byte*>(address), memory.bytes);
    if (memory.alias != address) ::munmap(memory.alias, memory.bytes);
  }
}

void emulated_devices::use_device(int device) { device_of_thread = device; }
int emulated_devices::current_device() { return device_of_thread; }

int emulated_devices::device_of(const void* address) {
  const std::lock_guard lock(mutex_);
  const auto* const byte = static_cast<const std::byte*>(address);
  const auto after = allocations_.upper_bound(byte);
  if (after == allocations_.begin()) return -1;
  const auto& [first, memory] = *std::prev(after);
  return byte < first + memory.bytes ? memory.device : -1;
}

std::byte* emulated_devices::at(const void* address, std::size_t bytes, int device,
                                std::size_t word_bytes) {
  if (reinterpret_cast<std::uintptr_t>(address) % word_bytes != 0)
    fail(errc::transport, "a launch uses words of {} bytes that are not aligned", word_bytes);
  const auto* const byte = static_cast<const std::byte*>(address);
  const auto after = allocations_.upper_bound(byte);
  if (after != allocations_.begin()) {
    const auto& [first, memory] = *std::prev(after);
    if (byte + bytes <= first + memory.bytes) {
      if (memory.device >= 0 && !can_read(device, memory.device))
        fail(errc::transport, "a launch on device {} uses memory of device {}", device,
             memory.device);
      return memory.alias + (byte - first);
    }
  }
  fail(errc::transport, "a launch on device {} uses an address that no device knows", device);
}

std::shared_ptr<std::byte> emulated_devices::allocate(int device, std::size_t bytes) {
  if (is_full) fail(errc::out_of_memory, "the emulated device has no memory");
  const std::size_t page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  bytes = std::max(page, (bytes + page - 1) / page * page);
  auto file = new_file(bytes);
  auto memory = map(file, bytes, device);
  std::byte* const first = memory.get();
  return {first, [memory = std::move(memory), file = std::move(file)](std::byte*) mutable {
            if (::flock(*file, LOCK_EX | LOCK_NB) != 0) {
              std::fputs("memory of an emulated device was freed, and is open elsewhere\n", stderr);
              std::abort();
            }
            memory.reset();
          }};
}

std::shared_ptr<std::byte> emulated_devices::map(std::shared_ptr<const int> file, std::size_t bytes,
                                                 int device) {
  void* const hidden =
      ::mmap(nullptr, bytes, device < 0 ? PROT_READ | PROT_WRITE : PROT_NONE, MAP_SHARED, *file, 0);
  void* const alias =
      device < 0 ? hidden : ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, *file, 0);
  if (hidden == MAP_FAILED || alias == MAP_FAILED)
    fail(errc::out_of_memory, "{} bytes of an emulated device", bytes);
  const std::lock_guard lock(mutex_);
  auto* const first = static_cast<std::byte*>(hidden);
  allocations_[first] = {bytes, device, static_cast<std::byte*>(alias), std::move(file)};
  return {first, [this](std::byte* address) {
            const std::lock_guard held(mutex_);
            const auto found = allocations_.find(address);
            if (found->second.alias != address) ::munmap(found->second.alias, found->second.bytes);
            ::munmap(address, found->second.bytes);
            allocations_.erase(found);
          }};
}
std::shared_ptr<std::byte> emulated_devices::allocate_pinned(std::size_t bytes) {
  return allocate(-1, bytes);
}

void emulated_devices::copy(void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  const std::lock_guard lock(mutex_);
  const auto usable = [&](const void* address) {
    const int device = device_of(address);
    return device < 0 ? static_cast<std::byte*>(const_cast<void*>(address))
                      : at(address, bytes, device);
  };
  std::memcpy(usable(to), usable(from), bytes);
}

std::shared_ptr<void> emulated_devices::make_stream(int device) {
  const std::lock_guard lock(mutex_);
  auto made = std::make_shared<work_queue>(work_queue{device});
  void* const handle = made.get();
  streams_[handle] = std::move(made);
  return {handle, [this](void* stream) {
            const std::lock_guard held(mutex_);
            const auto queue = streams_.extract(stream).mapped();
            run(*queue, queue->appended);
          }};
}

// The default streams are made when they are used first.
std::shared_ptr<emulated_devices::work_queue> emulated_devices::queue_of(int device,
                                                                         device_stream stream) {
  if (stream.native == nullptr) {
    auto& made = default_streams_[device];
    if (!made) made = std::make_shared<work_queue>(work_queue{device});
    return made;
  }
  const auto found = streams_.find(stream.native);
  if (found == streams_.end()) fail(errc::transport, "no stream of an emulated device");
  if (found->second->device != device)
    fail(errc::transport, "work of device {} on a stream of device {}", device,
         found->second->device);
  return found->second;
}
int emulated_devices::device_of(device_stream stream) {
  const std::lock_guard lock(mutex_);
  const auto found = streams_.find(stream.native);
  return found == streams_.end() ? device_of_thread : found->second->device;
}

void emulated_devices::append(int device, device_stream stream, work appended) {
  const auto queue = queue_of(device, stream);
  queue->waiting.push_back(std::move(appended));
  ++queue->appended;
}
void emulated_devices::append_launch(int device, device_stream stream,
                                     std::function<void()> launched) {
  const std::lock_guard lock(mutex_);
  ++launches_;
  append(device, stream, {std::move(launched)});
}
void emulated_devices::launch(device_stream stream, std::function<void()> launched) {
  const std::lock_guard lock(mutex_);
  append(device_of(stream), stream, {std::move(launched)});
}

std::vector<std::shared_ptr<emulated_devices::work_queue>> emulated_devices::all_queues() const {
  std::vector<std::shared_ptr<work_queue>> all;
  for (const auto& [handle, queue] : streams_) all.push_back(queue);
  for (const auto& [device, queue] : default_streams_) all.push_back(queue);
  return all;
}

// Runs the next work of a stream, or of the stream for which it waits. Returns false if it waits for
// another process.
bool emulated_devices::step(work_queue& stream) {
  const auto& next = stream.waiting.front();
  if (next.after && next.after->done < next.position) return step(*next.after);
  if (next.counts && next.counts->reached.load(std::memory_order_acquire) < next.position)
    return false;
  const auto run = std::move(stream.waiting.front().run);
  stream.waiting.pop_front();
  ++stream.done;
  if (run) run();
  return true;
}

// The other streams go on while a stream waits for another process, which may wait for them.
void emulated_devices::run(work_queue& stream, std::uint64_t position) {
  while (stream.done < position && !has_ended_) {
    if (step(stream)) continue;
    for (const auto& other : all_queues())
      if (other->done < other->shared) (void)step(*other);
    std::this_thread::yield();
  }
}

void emulated_devices::run_shared_work() {
  while (!has_ended_) {
    std::this_thread::sleep_for(shared_delay / 4);
    const std::lock_guard lock(mutex_);
    for (const auto& queue : all_queues())
      if (std::chrono::steady_clock::now() - queue->shared_at > shared_delay)
        run(*queue, queue->shared);
  }
}

detail::device_event emulated_devices::make_event(int device, bool for_processes) {
  event made{device};
  if (for_processes) {
    made.file = new_file(sizeof(shared_counts));
    made.counts = mapped_counts(*made.file);
  }
  return std::make_shared<event>(std::move(made));
}

std::shared_ptr<emulated_devices::shared_counts> emulated_devices::mapped_counts(int file) {
  void* const memory =
      ::mmap(nullptr, sizeof(shared_counts), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) fail(errc::out_of_memory, "an event of an emulated device");
  return {static_cast<shared_counts*>(memory),
          [](shared_counts* mapped) { ::munmap(mapped, sizeof(shared_counts)); }};
}

std::optional<detail::device_handle> emulated_devices::share_memory(int device,
                                                                    const void* address) {
  const std::lock_guard lock(mutex_);
  if (device_of(address) != device) return std::nullopt;
  const auto* const byte = static_cast<const std::byte*>(address);
  const auto& [first, memory] = *std::prev(allocations_.upper_bound(byte));
  return handle_of({::getpid(), *memory.file, memory.device, memory.bytes},
                   static_cast<std::uint64_t>(byte - first));
}
std::optional<detail::device_handle> emulated_devices::share_event(
    int device, const detail::device_event& handle) {
  const auto& shared = *static_cast<const event*>(handle.get());
  if (shared.device != device) fail(errc::transport, "an event of another device is shared");
  return handle_of({::getpid(), *shared.file, shared.device, sizeof(shared_counts)});
}

std::shared_ptr<std::byte> emulated_devices::open_memory(int device,
                                                         const detail::device_handle& handle) {
  const auto shared = file_of(handle);
  auto file = opened(shared);
  if (*file < 0 || !can_read(device, shared.device)) return nullptr;
  ::flock(*file, LOCK_SH);
  const auto memory = map(std::move(file), shared.bytes, shared.device);
  return {memory, memory.get() + handle.offset};
}

detail::device_event emulated_devices::open_event(int device, const detail::device_handle& handle) {
  auto file = opened(file_of(handle));
  if (*file < 0) return nullptr;
  event made{device};
  made.counts = mapped_counts(*file);
  made.is_foreign = true;
  return std::make_shared<event>(std::move(made));
}

void emulated_devices::record(int device, device_stream stream,
                              const detail::device_event& handle) {
  const std::lock_guard lock(mutex_);
  auto& recorded = *static_cast<event*>(handle.get());
  if (device != recorded.device)
    fail(errc::transport, "an event of device {} is recorded on a stream of device {}",
         recorded.device, device);
  recorded.stream = queue_of(device, stream);
  recorded.position = recorded.stream->appended;
  recorded.asked = 0;
  if (!recorded.counts) return;
  append(device, stream, {[counts = recorded.counts, number = ++recorded.counts->recorded] {
           counts->reached.store(number, std::memory_order_release);
         }});
  recorded.stream->shared = recorded.stream->appended;
  recorded.stream->shared_at = std::chrono::steady_clock::now();
  if (!runs_shared_work_.joinable())
    runs_shared_work_ = std::jthread([this] { run_shared_work(); });
}

void emulated_devices::wait(int device, device_stream stream, const detail::device_event& handle) {
  const std::lock_guard lock(mutex_);
  const auto& awaited = *static_cast<const event*>(handle.get());
  if (awaited.is_foreign)
    append(device, stream, {.position = awaited.counts->recorded.load(), .counts = awaited.counts});
  else if (awaited.stream)
    append(device, stream, {.position = awaited.position, .after = awaited.stream});
}

bool emulated_devices::is_done(const detail::device_event& handle) {
  const std::lock_guard lock(mutex_);
  auto& asked = *static_cast<event*>(handle.get());
  if (!asked.stream || asked.stream->done >= asked.position) return true;
  if (++asked.asked < questions) return false;
  run(*asked.stream, asked.position);
  return true;
}

void emulated_devices::synchronise(const detail::device_event& handle) {
  const std::lock_guard lock(mutex_);
  const auto& awaited = *static_cast<const event*>(handle.get());
  if (awaited.stream) run(*awaited.stream, awaited.position);
}

}  // namespace longshore::testing
