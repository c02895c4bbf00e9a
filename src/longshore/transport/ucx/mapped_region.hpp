// A region over UCX. UCX allocates its memory, so that processes of the host can map it and network
// cards can access it.
#pragma once

#include <longshore/transport/one_sided/library.hpp>
#include <longshore/transport/ucx/library.hpp>

#include <vector>

namespace longshore::ucx {

class mapped_region final : public one_sided::region {
 public:
  /// Local. `number` identifies the region; it is the same on all ranks. Throws
  /// errc::out_of_memory.
  mapped_region(library& lib, std::size_t bytes, std::size_t number);
  ~mapped_region() override;

  [[nodiscard]] std::byte* direct(int peer) override;
  void put_start(int peer, std::size_t offset, const void* from, std::size_t bytes) override;
  void get_start(int peer, std::size_t offset, void* to, std::size_t bytes) override;
  void put(int peer, std::size_t offset, const void* from, std::size_t bytes) override;
  void get(int peer, std::size_t offset, void* to, std::size_t bytes) override;
  std::int64_t fetch_add(int peer, std::size_t offset, std::int64_t amount) override;
  void put_with_signal(int peer, std::size_t offset, const void* from, std::size_t bytes,
                       std::size_t signal_offset, const std::uint64_t* signal) override;

  [[nodiscard]] const library::region_descriptor& descriptor() const noexcept { return own_; }
  /// Prepares access to the part of `peer`, which has the descriptor `theirs`.
  void connect(int peer, const library::region_descriptor& theirs);

  /// The access to the part of a peer.
  struct remote {
    ucp_ep_h endpoint = nullptr;
    ucp_rkey_h key = nullptr;
    std::uint64_t address = 0;
  };
  [[nodiscard]] remote& remote_part(int peer) {
    auto& there = remotes_[static_cast<std::size_t>(peer)];
    if (there.key == nullptr) [[unlikely]]
      connect(peer, library_.fetch_descriptor(peer, number_));
    return there;
  }

 private:
  library& library_;
  std::size_t number_;
  ucp_mem_h memory_ = nullptr;
  library::region_descriptor own_;
  std::vector<remote> remotes_;  // by rank; the key is null before first use
};

}  // namespace longshore::ucx
