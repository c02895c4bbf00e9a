// The raw_calls of UCX, for benchmarks.
#include <longshore/transport/ucx/detail/library.hpp>
#include <longshore/transport/ucx/detail/mapped_region.hpp>

#include <atomic>

namespace longshore::ucx {
namespace {

class ucp_calls final : public detail::raw_calls {
 public:
  ucp_calls(ucp_worker_h worker, mapped_region& memory, std::size_t source_offset)
      : worker_(worker), memory_(memory), source_(memory.local() + source_offset) {}

  void put(int peer, const void* from, std::size_t bytes, int count) override {
    const auto part = memory_.part_of(peer);
    for (int i = 0; i < count; ++i)
      finish(ucp_put_nbx(part.endpoint, from, bytes, part.address + message_offset, part.key,
                         &default_params_));
    finish(ucp_worker_flush_nbx(worker_, &default_params_));
  }
  std::byte* outgoing_message() override { return source_; }
  void send(int peer, std::size_t bytes, std::uint64_t number) override {
    const auto part = memory_.part_of(peer);
    release(ucp_put_nbx(part.endpoint, source_, bytes, part.address + message_offset, part.key,
                        &default_params_));
    ucp_worker_fence(worker_);
    number_ = number;
    release(ucp_put_nbx(part.endpoint, &number_, sizeof number_, part.address, part.key,
                        &default_params_));
  }
  bool arrived(std::uint64_t number) override {
    if (std::atomic_ref(*reinterpret_cast<std::uint64_t*>(memory_.local()))
            .load(std::memory_order_acquire) == number)
      return true;
    ucp_worker_progress(worker_);
    return false;
  }
  const std::byte* message() const override { return memory_.local() + message_offset; }

 private:
  static void release(ucs_status_ptr_t request) {
    if (UCS_PTR_IS_PTR(request)) ucp_request_free(request);
  }
  void finish(ucs_status_ptr_t request) {
    if (!UCS_PTR_IS_PTR(request)) return;
    while (ucp_request_check_status(request) == UCS_INPROGRESS) ucp_worker_progress(worker_);
    ucp_request_free(request);
  }

  ucp_worker_h worker_;
  mapped_region& memory_;
  std::byte* source_;
  std::uint64_t number_ = 0;
  ucp_request_param_t default_params_{};
};

}  // namespace

std::unique_ptr<detail::raw_calls> library::make_raw_calls(one_sided::region& memory,
                                                           std::size_t source_offset) {
  return std::make_unique<ucp_calls>(worker_, dynamic_cast<mapped_region&>(memory), source_offset);
}

}  // namespace longshore::ucx
