// The driver of devices: CUDA 12.8 and later, or HIP of ROCm 6 and later. It was compiled for both,
// and has not yet run on a device.
#include <longshore/core/error.hpp>
#include <longshore/device/detail/kernels.hpp>

#ifdef __HIP__
#include <hip/hip_runtime.h>
#else
#include <cuda.h>
#include <cuda_runtime.h>
#endif

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

namespace longshore::detail {
namespace {

// The two libraries have the same functions, behind different prefixes.
#ifdef __HIP__
#define GPU_LIBRARY "hip"
#define GPU(name) hip##name
using pointer_attributes = hipPointerAttribute_t;
// By default, the work before an event becomes visible to its own device only.
constexpr unsigned event_flags = hipEventDisableTiming | hipEventReleaseToSystem;
#else
#define GPU_LIBRARY "cuda"
#define GPU(name) cuda##name
using pointer_attributes = cudaPointerAttributes;
constexpr unsigned event_flags = cudaEventDisableTiming;
#endif
// Calls a function of the library, and throws if it fails.
#define GPU_CALL(name, ...) check(GPU(name)(__VA_ARGS__), GPU_LIBRARY #name)

using native_stream = GPU(Stream_t);
using native_event = GPU(Event_t);
constexpr unsigned block_threads = 256, elements_per_block = 4 * block_threads;

void check(GPU(Error_t) result, const char* call) {
  if (result == GPU(Success)) return;
  (void)GPU(GetLastError)();
  fail(result == GPU(ErrorMemoryAllocation) ? errc::out_of_memory : errc::transport, "{}: {}", call,
       GPU(GetErrorString)(result));
}

// Whether a call failed with this error, which is not left for a later call of the program. Throws
// for other errors.
bool failed_with(GPU(Error_t) expected, GPU(Error_t) result, const char* call) {
  if (result != expected) {
    check(result, call);
    return false;
  }
  (void)GPU(GetLastError)();
  return true;
}

// Makes a device that of the thread for the life of the object.
class chosen_device {
 public:
  explicit chosen_device(int device) : device_(device) {
    GPU_CALL(GetDevice, &before_);
    if (device != before_) GPU_CALL(SetDevice, device);
  }
  ~chosen_device() {
    if (device_ != before_) (void)GPU(SetDevice)(before_);
  }
  chosen_device(const chosen_device&) = delete;
  chosen_device& operator=(const chosen_device&) = delete;

 private:
  int device_, before_ = 0;
};

native_stream native(device_stream stream) { return static_cast<native_stream>(stream.native); }
native_event native(const device_event& event) { return static_cast<native_event>(event.get()); }
device_event owned(native_event event) {
  return {event, [](void* freed) { (void)GPU(EventDestroy)(static_cast<native_event>(freed)); }};
}

// Memcpy may return before a device has the bytes, and non-blocking streams do not wait for it.
void copy_completely(void* to, const void* from, std::size_t bytes) {
  GPU_CALL(Memcpy, to, from, bytes, GPU(MemcpyDefault));
  GPU_CALL(StreamSynchronize, nullptr);
}

std::shared_ptr<std::byte> device_memory(std::size_t bytes) {
  void* memory = nullptr;
  GPU_CALL(Malloc, &memory, std::max<std::size_t>(bytes, 1));
  return {static_cast<std::byte*>(memory), [](std::byte* freed) { (void)GPU(Free)(freed); }};
}

static_assert(sizeof(GPU(IpcMemHandle_t)) == sizeof(device_handle::bytes) &&
              sizeof(GPU(IpcEventHandle_t)) == sizeof(device_handle::bytes));

template <class Native>
device_handle handle_of(const Native& native, std::uint64_t offset = 0) {
  device_handle made{.offset = offset};
  std::memcpy(made.bytes.data(), &native, sizeof native);
  return made;
}
template <class Native>
Native native_handle(const device_handle& handle) {
  Native native;
  std::memcpy(&native, handle.bytes.data(), sizeof native);
  return native;
}

// Whether a call that may fail has succeeded. Its error is not left for a later call of the
// program.
bool has_succeeded(GPU(Error_t) result) {
  if (result != GPU(Success)) (void)GPU(GetLastError)();
  return result == GPU(Success);
}

// The first byte of the allocation in which an address lies, or null.
const std::byte* allocation_of(const void* address) {
#ifdef __HIP__
  void* first = nullptr;
  std::size_t bytes = 0;
  const bool is_found =
      has_succeeded(hipMemGetAddressRange(&first, &bytes, const_cast<void*>(address)));
  return is_found ? static_cast<const std::byte*>(first) : nullptr;
#else
  // Only the library of CUDA's driver knows it, to which this program is not linked. The function
  // has existed since CUDA 12.0.
  static const auto ask = [] {
    void* found = nullptr;
    cudaDriverEntryPointQueryResult result{};
    const bool is_found = has_succeeded(cudaGetDriverEntryPointByVersion(
        "cuPointerGetAttribute", &found, 12000, cudaEnableDefault, &result));
    return reinterpret_cast<CUresult (*)(void*, CUpointer_attribute, CUdeviceptr)>(
        is_found ? found : nullptr);
  }();
  CUdeviceptr first = 0;
  if (ask == nullptr || ask(&first, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
                            reinterpret_cast<CUdeviceptr>(address)) != CUDA_SUCCESS)
    return nullptr;
  return reinterpret_cast<const std::byte*>(first);
#endif
}

// A copy of a list in memory of the current device. Launches may still use a list that is
// destroyed: Free() waits for them.
template <class T>
std::shared_ptr<const T> on_device(const std::vector<T>& values) {
  const auto memory = device_memory(values.size() * sizeof(T));
  if (!values.empty()) copy_completely(memory.get(), values.data(), values.size() * sizeof(T));
  return {memory, reinterpret_cast<const T*>(memory.get())};
}

template <class Word>
__device__ void copy_words(std::byte* to, const std::byte* from, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes / sizeof(Word); ++i)
    reinterpret_cast<Word*>(to)[i] = reinterpret_cast<const Word*>(from)[i];
}

// Each block copies some elements of one piece. Block b belongs to the last piece whose first block
// is not behind b.
__global__ void copy_pieces(const device_piece* pieces, const unsigned* first_blocks,
                            unsigned count) {
  unsigned low = 0, high = count;
  while (high - low > 1) {
    const unsigned middle = (low + high) / 2;
    (first_blocks[middle] <= blockIdx.x ? low : high) = middle;
  }
  const device_piece piece = pieces[low];
  const std::size_t begin =
      static_cast<std::size_t>(blockIdx.x - first_blocks[low]) * elements_per_block;
  const std::size_t size = piece.extents[0] * piece.extents[1] * piece.extents[2];
  const std::size_t end = begin + elements_per_block < size ? begin + elements_per_block : size;
  for (std::size_t i = begin + threadIdx.x; i < end; i += block_threads) {
    auto* const to = piece.to + element_offset(piece.extents, piece.to_strides, piece.to_index, i);
    const auto* const from =
        piece.from + element_offset(piece.extents, piece.from_strides, piece.from_index, i);
    switch (piece.word_bytes) {
      case 16: copy_words<uint4>(to, from, piece.element_bytes); break;
      case 8: copy_words<std::uint64_t>(to, from, piece.element_bytes); break;
      case 4: copy_words<std::uint32_t>(to, from, piece.element_bytes); break;
      case 2: copy_words<std::uint16_t>(to, from, piece.element_bytes); break;
      default: copy_words<std::uint8_t>(to, from, piece.element_bytes);
    }
  }
}

template <class T>
__global__ void combine_numbers(std::byte* const* targets, const std::size_t* begins,
                                const std::byte* const* sources, std::size_t count, device_op op) {
  const std::size_t t = static_cast<std::size_t>(blockIdx.x) * block_threads + threadIdx.x;
  if (t >= count) return;
  auto* const target = reinterpret_cast<T*>(targets[t]);
  T value = *target;
  for (std::size_t s = begins[t]; s < begins[t + 1]; ++s)
    value = combined(op, value, *reinterpret_cast<const T*>(sources[s]));
  *target = value;
}

unsigned blocks_of(std::size_t elements, unsigned per_block, unsigned before = 0) {
  const std::size_t blocks = before + (elements + per_block - 1) / per_block;
  if (blocks > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    fail(errc::unsupported, "a launch of {} elements is too large for a device", elements);
  return static_cast<unsigned>(blocks);
}

// Its own error, not one of an earlier call of the program, tells whether the launch failed.
template <class... Parameters>
void launch(int device, device_stream stream, unsigned blocks, void (*kernel)(Parameters...),
            std::type_identity_t<Parameters>... arguments) {
  if (blocks == 0) return;
  const chosen_device chosen(device);
  void* addresses[] = {const_cast<void*>(static_cast<const void*>(&arguments))...};
  GPU_CALL(LaunchKernel, reinterpret_cast<const void*>(kernel), dim3(blocks), dim3(block_threads),
           addresses, 0, native(stream));
}

class gpu_devices final : public device_driver {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return GPU_LIBRARY; }
  [[nodiscard]] bool is_known_to_libraries() const noexcept override { return true; }

  [[nodiscard]] int device_of(const void* address) override {
    pointer_attributes attributes{};
    // Some releases of HIP give this error for memory of the host.
    if (failed_with(GPU(ErrorInvalidValue), GPU(PointerGetAttributes)(&attributes, address),
                    GPU_LIBRARY "PointerGetAttributes"))
      return -1;
    const bool is_on_device =
        attributes.type == GPU(MemoryTypeDevice) || attributes.type == GPU(MemoryTypeManaged);
    return is_on_device ? attributes.device : -1;
  }
  [[nodiscard]] int device_of(device_stream stream) override {
    int device = 0;
    GPU_CALL(StreamGetDevice, native(stream), &device);
    return device;
  }
  [[nodiscard]] int current_device() override {
    int device = 0;
    GPU_CALL(GetDevice, &device);
    return device;
  }
  [[nodiscard]] bool can_read(int device, int other) override {
    if (device == other) return true;
    int can = 0;
    GPU_CALL(DeviceCanAccessPeer, &can, device, other);
    if (can == 0) return false;
    const chosen_device chosen(device);
    (void)failed_with(GPU(ErrorPeerAccessAlreadyEnabled), GPU(DeviceEnablePeerAccess)(other, 0),
                      GPU_LIBRARY "DeviceEnablePeerAccess");
    return true;
  }

  [[nodiscard]] std::shared_ptr<std::byte> allocate(int device, std::size_t bytes) override {
    const chosen_device chosen(device);
    return device_memory(bytes);
  }
  [[nodiscard]] std::shared_ptr<std::byte> allocate_pinned(std::size_t bytes) override {
    void* memory = nullptr;
    // With unified addresses, all devices can use such memory without a flag.
    GPU_CALL(HostAlloc, &memory, std::max<std::size_t>(bytes, 1), 0);
    return {static_cast<std::byte*>(memory), [](std::byte* freed) { (void)GPU(FreeHost)(freed); }};
  }
  void copy(void* to, const void* from, std::size_t bytes) override {
    copy_completely(to, from, bytes);
  }

  [[nodiscard]] std::shared_ptr<void> make_stream(int device) override {
    const chosen_device chosen(device);
    native_stream stream = nullptr;
    GPU_CALL(StreamCreateWithFlags, &stream, GPU(StreamNonBlocking));
    return {stream,
            [](void* freed) { (void)GPU(StreamDestroy)(static_cast<native_stream>(freed)); }};
  }
  [[nodiscard]] device_event make_event(int device, bool for_processes) override {
    const chosen_device chosen(device);
    native_event event = nullptr;
    const auto result = GPU(EventCreateWithFlags)(
        &event, event_flags | (for_processes ? GPU(EventInterprocess) : 0U));
    if (!for_processes) check(result, GPU_LIBRARY "EventCreateWithFlags");
    return has_succeeded(result) ? owned(event) : nullptr;
  }
  void record(int device, device_stream stream, const device_event& event) override {
    const chosen_device chosen(device);
    GPU_CALL(EventRecord, native(event), native(stream));
  }
  void wait(int device, device_stream stream, const device_event& event) override {
    const chosen_device chosen(device);
    GPU_CALL(StreamWaitEvent, native(stream), native(event), 0);
  }
  [[nodiscard]] bool is_done(const device_event& event) override {
    return !failed_with(GPU(ErrorNotReady), GPU(EventQuery)(native(event)),
                        GPU_LIBRARY "EventQuery");
  }
  void synchronise(const device_event& event) override {
    GPU_CALL(EventSynchronize, native(event));
  }

  // Memory of pools and managed memory have no handles.
  [[nodiscard]] std::optional<device_handle> share_memory(int device,
                                                          const void* address) override {
    const chosen_device chosen(device);
    const auto* const first = allocation_of(address);
    GPU(IpcMemHandle_t) handle{};
    if (first == nullptr ||
        !has_succeeded(GPU(IpcGetMemHandle)(&handle, const_cast<std::byte*>(first))))
      return std::nullopt;
    return handle_of(handle,
                     static_cast<std::uint64_t>(static_cast<const std::byte*>(address) - first));
  }
  [[nodiscard]] std::optional<device_handle> share_event(int device,
                                                         const device_event& event) override {
    const chosen_device chosen(device);
    GPU(IpcEventHandle_t) handle{};
    if (event == nullptr || !has_succeeded(GPU(IpcGetEventHandle)(&handle, native(event))))
      return std::nullopt;
    return handle_of(handle);
  }
  // The library counts how often a handle was opened.
  [[nodiscard]] std::shared_ptr<std::byte> open_memory(int device,
                                                       const device_handle& handle) override {
    const chosen_device chosen(device);
    void* first = nullptr;
    if (!has_succeeded(GPU(IpcOpenMemHandle)(&first, native_handle<GPU(IpcMemHandle_t)>(handle),
                                            GPU(IpcMemLazyEnablePeerAccess))))
      return nullptr;
    const std::shared_ptr<void> opened(first, [device](void* closed) noexcept {
      int before = device;
      (void)has_succeeded(GPU(GetDevice)(&before));
      (void)has_succeeded(GPU(SetDevice)(device));
      (void)has_succeeded(GPU(IpcCloseMemHandle)(closed));
      (void)has_succeeded(GPU(SetDevice)(before));
    });
    return {opened, static_cast<std::byte*>(first) + handle.offset};
  }
  [[nodiscard]] device_event open_event(int device, const device_handle& handle) override {
    const chosen_device chosen(device);
    native_event event = nullptr;
    return has_succeeded(
               GPU(IpcOpenEventHandle)(&event, native_handle<GPU(IpcEventHandle_t)>(handle)))
               ? owned(event)
               : nullptr;
  }

  [[nodiscard]] device_copies prepare(int device, std::span<const device_piece> given) override {
    const chosen_device chosen(device);
    std::vector<device_piece> pieces;
    std::vector<unsigned> first_blocks;
    std::vector<std::shared_ptr<const std::uint32_t>> lists;
    unsigned blocks = 0;
    for (const auto& narrow : given) {
      auto& piece = pieces.emplace_back(widened(narrow));
      for (auto* index : {&piece.to_index, &piece.from_index})
        if (*index != nullptr) {
          lists.push_back(on_device(std::vector(*index, *index + piece.size())));
          *index = lists.back().get();
        }
      first_blocks.push_back(blocks);
      blocks = blocks_of(piece.size(), elements_per_block, blocks);
    }
    return [=, count = static_cast<unsigned>(pieces.size()), table = on_device(pieces),
            firsts = on_device(first_blocks), kept = std::move(lists)](device_stream stream) {
      launch(device, stream, blocks, copy_pieces, table.get(), firsts.get(), count);
    };
  }
  [[nodiscard]] device_combines prepare(int device, const device_sums& sums) override {
    const chosen_device chosen(device);
    return [=, count = sums.targets.size(), targets = on_device(sums.targets),
            begins = on_device(sums.begins),
            sources = on_device(sums.sources)](device_stream stream, const device_operation& by) {
      with_number(by.number, [&](auto zero) {
        launch(device, stream, blocks_of(count, block_threads), combine_numbers<decltype(zero)>,
               targets.get(), begins.get(), sources.get(), count, by.op);
      });
    };
  }
};

}  // namespace

// The driver is never destroyed: threads of the program may use it until the process ends.
device_driver* gpu_driver() noexcept {
  static device_driver* const driver = []() -> device_driver* {
    int devices = 0;
    const bool has_devices = has_succeeded(GPU(GetDeviceCount)(&devices)) && devices > 0;
    return has_devices ? new gpu_devices() : nullptr;
  }();
  return driver;
}

}  // namespace longshore::detail
