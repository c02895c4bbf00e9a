// A region over UCX: memory that UCX allocated, so that processes of the host map it and network
// cards reach it.
#pragma once

#include <longshore/transport/one_sided/library.hpp>
#include <longshore/transport/ucx/library.hpp>

#include <vector>

namespace longshore::ucx {

class mapped_region final : public one_sided::region {
 public:
  /// Local. Throws errc::out_of_memory. `number`: the region's among those of the library, the same
  /// on all ranks.
  mapped_region(library& lib, std::size_t bytes, std::size_t number);
  ~mapped_region() override;

  [[nodiscard]] std::byte* reach(int peer) override;
  void put_start(int peer, std::size_t offset, const void* from, std::size_t bytes) override;
  void get_start(int peer, std::size_t offset, void* to, std::size_t bytes) override;
  void put(int peer, std::size_t offset, const void* from, std::size_t bytes) override;
  void get(int peer, std::size_t offset, void* to, std::size_t bytes) override;
  std::int64_t fetch_add(int peer, std::size_t offset, std::int64_t amount) override;
  void put_with_signal(int peer, std::size_t offset, const void* from, std::size_t bytes,
                       std::size_t signal_offset, const std::uint64_t* signal) override;

  [[nodiscard]] const library::description& description() const noexcept { return own_; }
  /// For the directory, which cannot be asked about itself.
  void join(int peer, const library::description& theirs);

  /// How the part of a peer is reached.
  struct remote {
    ucp_ep_h endpoint = nullptr;
    ucp_rkey_h key = nullptr;
    std::uint64_t address = 0;
  };
  [[nodiscard]] remote& to(int peer) {
    auto& there = remotes_[static_cast<std::size_t>(peer)];
    if (there.key == nullptr) [[unlikely]]
      join(peer, library_.describe(peer, number_));
    return there;
  }

 private:
  library& library_;
  std::size_t number_;
  ucp_mem_h memory_ = nullptr;
  library::description own_;
  std::vector<remote> remotes_;  // by rank; without a key before first use
};

}  // namespace longshore::ucx
