// UCX (UCP 1.13 and later) as a one-sided library. The first access to a peer makes an endpoint;
// the first access to a peer's part of a region fetches the key. A peer that is never accessed
// costs only the memory of its address.
#pragma once

#include <longshore/transport/one_sided/detail/library.hpp>
#include <longshore/transport/ucx/detail/process_bootstrap.hpp>

#include <ucp/api/ucp.h>

#include <vector>

namespace longshore::ucx {

class mapped_region;
class active_messages;

class library final : public one_sided::library {
 public:
  /// Collective. `bootstrap` must outlive the library. `timeout_seconds` is the deadline of waits
  /// in this class; 0 means no deadline.
  library(process_bootstrap& bootstrap, double timeout_seconds);
  /// Collective, unless an exception is in flight.
  ~library() override;

  int rank() const override { return bootstrap_.rank(); }
  int size() const override { return bootstrap_.size(); }
  std::string_view transport_name() const noexcept override { return "ucx"; }
  std::string version() const override;
  std::unique_ptr<one_sided::region> allocate(std::size_t bytes) override;
  std::size_t available_bytes(int ranks) const override;
  std::string capacity_text() const override;
  std::vector<std::uint64_t> allgather(std::uint64_t mine) override {
    return bootstrap_.allgather(mine);
  }
  void quiet() override;
  void progress() override;
  bool makes_channels(int peer, bool is_local) override;
  bool is_sending() const override;
  bool is_receiving() const override;
  std::unique_ptr<one_sided::message_channel_sender> make_sender(const channel_end& end,
                                                                 one_sided::region& memory,
                                                                 std::size_t offset) override;
  std::unique_ptr<one_sided::message_channel_receiver> make_receiver(const channel_end& end,
                                                                     one_sided::region& memory,
                                                                     std::size_t offset) override;
  void abort(int status) override { bootstrap_.abort(status); }
  std::unique_ptr<detail::raw_calls> make_raw_calls(one_sided::region& memory,
                                                    std::size_t source_offset) override;

  // For regions.

  /// The address and the access key of a rank's part of a region.
  struct region_descriptor {
    std::uint64_t address = 0;
    std::uint32_t key_bytes = 0;
    unsigned char key[244] = {};
  };
  static_assert(sizeof(region_descriptor) == 256, "the key fills the rest of 256 bytes");
  /// The start of the data that each rank publishes. The address of the rank's worker follows.
  struct published_header {
    region_descriptor directory;
    std::uint64_t host = 0;
  };
  [[nodiscard]] ucp_context_h context() const noexcept { return context_; }
  [[nodiscard]] ucp_worker_h worker() const noexcept { return worker_; }
  [[nodiscard]] ucp_ep_h endpoint(int peer);
  /// The descriptor of the part of `peer` in region `number`.
  [[nodiscard]] region_descriptor fetch_descriptor(int peer, std::size_t number);
  void free_number(std::size_t number);
  /// Waits for a started operation, within the deadline. The error message names `operation` and
  /// `peer`, or the other ranks if `peer` is -1.
  void complete(ucs_status_ptr_t request, int peer, const char* operation);

 private:
  void close();
  /// Like complete(), but returns the status of the operation.
  [[nodiscard]] ucs_status_t wait_for_status(ucs_status_ptr_t request, int peer,
                                             const char* operation);
  [[nodiscard]] published_header published_header_of(int peer) const;
  static void on_peer_lost(void* self, ucp_ep_h endpoint, ucs_status_t status);
  /// Throws if the connection to a peer is lost, or if a message could not be received.
  void check_peers() const;

  process_bootstrap& bootstrap_;
  double timeout_seconds_;
  ucp_context_h context_ = nullptr;
  ucp_worker_h worker_ = nullptr;
  std::vector<ucp_ep_h> endpoints_;           // indexed by rank; null before the first access
  std::unique_ptr<mapped_region> directory_;  // this rank's descriptors, indexed by region number
  std::unique_ptr<active_messages> messages_;
  bool closing_ = false;  // peers may close connections first
  int lost_peer_ = -1;    // the rank whose connection is lost, or -1
  ucs_status_t lost_status_ = UCS_OK;
  bool over_tcp_ = false;     // some channels use TCP
  unsigned empty_polls_ = 0;  // calls of progress() without progress
  std::vector<bool> region_numbers_in_use_;
  int unwinding_;
};

/// Frees the request of an operation whose completion is not awaited here. Throws errc::transport
/// if the operation could not be started.
void detach_request(ucs_status_ptr_t request, const char* operation, int peer);

}  // namespace longshore::ucx
