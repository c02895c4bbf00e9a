// The driver of CUDA devices (CUDA 12.8 and later). It was compiled, and has not yet run on a device.
#include <longshore/core/error.hpp>
#include <longshore/device/kernels.hpp>

#include <cuda_runtime.h>

#include <algorithm>
#include <limits>

namespace longshore::detail {
namespace {

constexpr unsigned block_threads = 256, elements_per_block = 4 * block_threads;

void check(cudaError_t result, const char* call) {
  if (result == cudaSuccess) return;
  (void)cudaGetLastError();
  fail(result == cudaErrorMemoryAllocation ? errc::out_of_memory : errc::transport, "{}: {}", call,
       cudaGetErrorString(result));
}

// Makes a device that of the thread for the life of the object.
class chosen_device {
 public:
  explicit chosen_device(int device) {
    check(cudaGetDevice(&before_), "cudaGetDevice");
    if (device != before_) check(cudaSetDevice(device), "cudaSetDevice");
  }
  ~chosen_device() { (void)cudaSetDevice(before_); }
  chosen_device(const chosen_device&) = delete;
  chosen_device& operator=(const chosen_device&) = delete;

 private:
  int before_ = 0;
};

cudaStream_t native(device_stream stream) { return static_cast<cudaStream_t>(stream.native); }
cudaEvent_t native(const device_event& event) { return static_cast<cudaEvent_t>(event.get()); }

// A copy of a list in memory of the current device.
template <class T>
class device_list {
 public:
  device_list() = default;
  explicit device_list(std::span<const T> values) {
    if (values.empty()) return;
    void* memory = nullptr;
    check(cudaMalloc(&memory, values.size_bytes()), "cudaMalloc");
    memory_ = {static_cast<T*>(memory), [](T* freed) { (void)cudaFree(freed); }};
    check(cudaMemcpy(memory, values.data(), values.size_bytes(), cudaMemcpyHostToDevice),
          "cudaMemcpy");
  }
  [[nodiscard]] const T* data() const noexcept { return memory_.get(); }

 private:
  std::shared_ptr<T> memory_;
};

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

unsigned blocks_of(std::size_t elements, unsigned per_block) {
  const std::size_t blocks = (elements + per_block - 1) / per_block;
  if (blocks > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    fail(errc::unsupported, "a launch of {} elements is too large for a device", elements);
  return static_cast<unsigned>(blocks);
}

class cuda_copies final : public device_copies {
 public:
  cuda_copies(int device, std::span<const device_piece> pieces) : device_(device) {
    const chosen_device chosen(device);
    std::vector<device_piece> table;
    std::vector<unsigned> first_blocks;
    std::size_t blocks = 0;
    const auto list_of = [&](const std::uint32_t*& index, std::size_t size) {
      if (index == nullptr) return;
      lists_.emplace_back(std::span(index, size));
      index = lists_.back().data();
    };
    for (const auto& given : pieces) {
      auto& piece = table.emplace_back(widened(given));
      list_of(piece.to_index, piece.size());
      list_of(piece.from_index, piece.size());
      first_blocks.push_back(static_cast<unsigned>(blocks));
      blocks += blocks_of(piece.size(), elements_per_block);
      blocks_ = blocks_of(blocks, 1);
    }
    count_ = static_cast<unsigned>(table.size());
    pieces_ = device_list<device_piece>(table);
    first_blocks_ = device_list<unsigned>(first_blocks);
  }
  void launch(device_stream stream) override {
    if (count_ == 0) return;
    const chosen_device chosen(device_);
    copy_pieces<<<blocks_, block_threads, 0, native(stream)>>>(pieces_.data(), first_blocks_.data(),
                                                               count_);
    check(cudaGetLastError(), "a launch of copies");
  }

 private:
  int device_;
  unsigned count_ = 0, blocks_ = 0;
  device_list<device_piece> pieces_;
  device_list<unsigned> first_blocks_;
  std::vector<device_list<std::uint32_t>> lists_;
};

class cuda_combines final : public device_combines {
 public:
  cuda_combines(int device, const device_sums& sums)
      : device_(device), count_(sums.targets.size()) {
    const chosen_device chosen(device);
    targets_ = device_list<std::byte*>(sums.targets);
    begins_ = device_list<std::size_t>(sums.begins);
    sources_ = device_list<const std::byte*>(sums.sources);
  }
  void launch(device_stream stream, const device_operation& by) override {
    if (count_ == 0) return;
    const chosen_device chosen(device_);
    with_number(by.number, [&](auto zero) {
      combine_numbers<decltype(zero)>
          <<<blocks_of(count_, block_threads), block_threads, 0, native(stream)>>>(
              targets_.data(), begins_.data(), sources_.data(), count_, by.op);
    });
    check(cudaGetLastError(), "a launch of sums");
  }

 private:
  int device_;
  std::size_t count_;
  device_list<std::byte*> targets_;
  device_list<std::size_t> begins_;
  device_list<const std::byte*> sources_;
};

class cuda_devices final : public device_driver {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "cuda"; }

  [[nodiscard]] int device_of(const void* address) override {
    cudaPointerAttributes attributes{};
    check(cudaPointerGetAttributes(&attributes, address), "cudaPointerGetAttributes");
    const bool is_on_device =
        attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged;
    return is_on_device ? attributes.device : -1;
  }
  [[nodiscard]] int device_of(device_stream stream) override {
    int device = 0;
    check(cudaStreamGetDevice(native(stream), &device), "cudaStreamGetDevice");
    return device;
  }
  [[nodiscard]] int current_device() override {
    int device = 0;
    check(cudaGetDevice(&device), "cudaGetDevice");
    return device;
  }
  [[nodiscard]] bool can_read(int device, int other) override {
    if (device == other) return true;
    int can = 0;
    check(cudaDeviceCanAccessPeer(&can, device, other), "cudaDeviceCanAccessPeer");
    if (can == 0) return false;
    const chosen_device chosen(device);
    const auto result = cudaDeviceEnablePeerAccess(other, 0);
    if (result == cudaErrorPeerAccessAlreadyEnabled)
      (void)cudaGetLastError();
    else
      check(result, "cudaDeviceEnablePeerAccess");
    return true;
  }

  [[nodiscard]] std::shared_ptr<std::byte> allocate(int device, std::size_t bytes) override {
    const chosen_device chosen(device);
    void* memory = nullptr;
    check(cudaMalloc(&memory, bytes), "cudaMalloc");
    return {static_cast<std::byte*>(memory), [](std::byte* freed) { (void)cudaFree(freed); }};
  }
  [[nodiscard]] std::shared_ptr<std::byte> allocate_pinned(std::size_t bytes) override {
    void* memory = nullptr;
    check(cudaHostAlloc(&memory, bytes, cudaHostAllocPortable | cudaHostAllocMapped),
          "cudaHostAlloc");
    return {static_cast<std::byte*>(memory), [](std::byte* freed) { (void)cudaFreeHost(freed); }};
  }
  void copy(void* to, const void* from, std::size_t bytes) override {
    check(cudaMemcpy(to, from, bytes, cudaMemcpyDefault), "cudaMemcpy");
  }

  [[nodiscard]] std::shared_ptr<void> make_stream(int device) override {
    const chosen_device chosen(device);
    cudaStream_t stream = nullptr;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    return {stream, [](void* freed) { (void)cudaStreamDestroy(static_cast<cudaStream_t>(freed)); }};
  }
  [[nodiscard]] device_event make_event(int device) override {
    const chosen_device chosen(device);
    cudaEvent_t event = nullptr;
    check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreateWithFlags");
    return {event, [](void* freed) { (void)cudaEventDestroy(static_cast<cudaEvent_t>(freed)); }};
  }
  void record(const device_event& event, device_stream stream) override {
    check(cudaEventRecord(native(event), native(stream)), "cudaEventRecord");
  }
  void wait(device_stream stream, const device_event& event) override {
    check(cudaStreamWaitEvent(native(stream), native(event), 0), "cudaStreamWaitEvent");
  }
  [[nodiscard]] bool is_done(const device_event& event) override {
    const auto result = cudaEventQuery(native(event));
    if (result != cudaErrorNotReady) check(result, "cudaEventQuery");
    return result == cudaSuccess;
  }
  void synchronise(const device_event& event) override {
    check(cudaEventSynchronize(native(event)), "cudaEventSynchronize");
  }
  [[nodiscard]] std::unique_ptr<device_copies> prepare(
      int device, std::span<const device_piece> pieces) override {
    return std::make_unique<cuda_copies>(device, pieces);
  }
  [[nodiscard]] std::unique_ptr<device_combines> prepare(int device,
                                                         const device_sums& sums) override {
    return std::make_unique<cuda_combines>(device, sums);
  }
};

}  // namespace

// The driver is never destroyed: threads of the program may use it until the process ends.
device_driver* cuda_driver() noexcept {
  static device_driver* const driver = []() -> device_driver* {
    int devices = 0;
    if (cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0) return new cuda_devices();
    (void)cudaGetLastError();
    return nullptr;
  }();
  return driver;
}

}  // namespace longshore::detail
