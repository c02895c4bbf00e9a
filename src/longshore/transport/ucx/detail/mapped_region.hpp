// A region over UCX. UCX allocates the memory, so that processes of the host can map it and network
// cards can access it.
#pragma once

#include <longshore/transport/one_sided/detail/library.hpp>
#include <longshore/transport/ucx/detail/library.hpp>

#include <vector>

namespace longshore::ucx {

class mapped_region final : public one_sided::region {
 public:
  /// Local. `number` identifies the region and is the same on all ranks. Throws
  /// errc::out_of_memory.
  mapped_region(library& lib, std::size_t bytes, std::size_t number);
  ~mapped_region() override;

  std::byte* direct(int peer) override;
  void put_start(int peer, std::size_t offset, const void* from, std::size_t bytes) override;
  void get_start(int peer, std::size_t offset, void* to, std::size_t bytes) override;
  void put(int peer, std::size_t offset, const void* from, std::size_t bytes) override;
  void get(int peer, std::size_t offset, void* to, std::size_t bytes) override;
  std::int64_t fetch_add(int peer, std::size_t offset, std::int64_t amount) override;
  void fetch_add_start(int peer, std::size_t offset, const std::int64_t* amount,
                       std::int64_t* previous) override;
  void put_with_signal(int peer, std::size_t offset, const void* from, std::size_t bytes,
                       std::size_t signal_offset, const std::uint64_t* signal) override;

  [[nodiscard]] const library::region_descriptor& descriptor() const noexcept { return own_; }
  /// Prepares access to the part of `peer`, which has this `descriptor`.
  void connect(int peer, const library::region_descriptor& descriptor);

  /// Access to the part of a peer.
  struct peer_part {
    ucp_ep_h endpoint = nullptr;
    ucp_rkey_h key = nullptr;
    std::uint64_t address = 0;
  };
  [[nodiscard]] peer_part& part_of(int peer) {
    auto& part = parts_[peer];
    if (part.key == nullptr) [[unlikely]]
      connect(peer, library_.fetch_descriptor(peer, number_));
    return part;
  }

 private:
  [[nodiscard]] ucs_status_ptr_t request_fetch_add(int peer, std::size_t offset,
                                                   const std::int64_t* amount,
                                                   std::int64_t* previous);

  library& library_;
  std::size_t number_;
  ucp_mem_h memory_ = nullptr;
  library::region_descriptor own_;
  std::vector<peer_part> parts_;  // indexed by rank; the key is null before the first access
};

}  // namespace longshore::ucx
