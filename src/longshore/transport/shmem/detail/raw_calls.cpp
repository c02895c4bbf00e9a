// The raw_calls of OpenSHMEM, for benchmarks.
#include <longshore/transport/shmem/detail/library.hpp>

#include <shmem.h>

#include <atomic>

namespace longshore::shmem {
namespace {

class shmem_calls final : public detail::raw_calls {
 public:
  shmem_calls(std::byte* memory, std::size_t source_offset)
      : flag_(reinterpret_cast<std::uint64_t*>(memory)),
        message_(memory + message_offset),
        source_(memory + source_offset) {}

  void put(int peer, const void* from, std::size_t bytes, int count) override {
    for (int i = 0; i < count; ++i) shmem_putmem(message_, from, bytes, peer);
    shmem_quiet();
  }
  std::byte* outgoing_message() override { return source_; }
  void send(int peer, std::size_t bytes, std::uint64_t number) override {
    shmem_putmem_nbi(message_, source_, bytes, peer);
    shmem_fence();
    shmem_uint64_p(flag_, number, peer);
  }
  bool arrived(std::uint64_t number) override {
    if (std::atomic_ref(*flag_).load(std::memory_order_acquire) == number) return true;
    return shmem_uint64_test(flag_, SHMEM_CMP_EQ, number) != 0;
  }
  const std::byte* message() const override { return message_; }

 private:
  std::uint64_t* flag_;
  std::byte *message_, *source_;
};

}  // namespace

std::unique_ptr<detail::raw_calls> library::make_raw_calls(one_sided::region& memory,
                                                           std::size_t source_offset) {
  return std::make_unique<shmem_calls>(memory.local(), source_offset);
}

}  // namespace longshore::shmem
