// UCX (UCP 1.13 and later) as a one-sided library. An endpoint is made, and the key of a region is
// fetched, at the first access to a peer. A peer that is never accessed costs only the memory of
// its address.
#pragma once

#include <longshore/transport/one_sided/library.hpp>
#include <longshore/transport/ucx/process_bootstrap.hpp>

#include <ucp/api/ucp.h>

#include <vector>

namespace longshore::ucx {

class mapped_region;
class active_messages;

class library final : public one_sided::library {
 public:
  /// Collective. `bootstrap` must outlive the library. timeout_seconds: deadline of the waits
  /// inside; 0: none.
  library(process_bootstrap& bootstrap, double timeout_seconds);
  /// Collective, unless an exception is in flight.
  ~library() override;

  [[nodiscard]] int rank() const override { return bootstrap_.rank(); }
  [[nodiscard]] int size() const override { return bootstrap_.size(); }
  [[nodiscard]] std::string_view transport_name() const noexcept override { return "ucx"; }
  [[nodiscard]] std::string version() const override;
  [[nodiscard]] std::unique_ptr<one_sided::region> allocate(std::size_t bytes) override;
  [[nodiscard]] std::size_t available_bytes(int ranks) const override;
  [[nodiscard]] std::string capacity_text() const override;
  [[nodiscard]] std::vector<std::uint64_t> allgather(std::uint64_t mine) override {
    return bootstrap_.allgather(mine);
  }
  void quiet() override;
  void progress() override;
  [[nodiscard]] bool prefers_messages(int peer) override;
  [[nodiscard]] bool is_sending() const override;
  [[nodiscard]] bool is_receiving() const override;
  [[nodiscard]] std::unique_ptr<one_sided::message_channel_sender> make_sender(
      channel_end end, one_sided::slot_memory memory) override;
  [[nodiscard]] std::unique_ptr<one_sided::message_channel_receiver> make_receiver(
      channel_end end, one_sided::slot_memory memory) override;
  void abort(int status) override { bootstrap_.abort(status); }
  [[nodiscard]] std::unique_ptr<detail::raw_calls> make_raw_calls(one_sided::region& memory,
                                                                  std::size_t source_at) override;

  // For regions.

  /// The address and the access key of a rank's part of a region.
  struct region_descriptor {
    std::uint64_t address = 0;
    std::uint32_t key_bytes = 0;
    unsigned char key[244] = {};
  };
  /// The start of the data that each rank publishes; the address of its worker follows.
  struct published_header {
    region_descriptor directory;
    std::uint64_t host = 0;
  };
  [[nodiscard]] ucp_context_h context() const noexcept { return context_; }
  [[nodiscard]] ucp_worker_h worker() const noexcept { return worker_; }
  [[nodiscard]] ucp_ep_h endpoint(int peer);
  /// The descriptor of the part of `peer` of region `number`.
  [[nodiscard]] region_descriptor fetch_descriptor(int peer, std::size_t number);
  void free_number(std::size_t number);
  /// Waits for a started operation, within the deadline. `peer` and `operation` are for the error
  /// message.
  void complete(ucs_status_ptr_t request, int peer, const char* operation);

 private:
  void close();
  /// Waits for a started operation and returns its status; throws at the deadline.
  [[nodiscard]] ucs_status_t wait_for_status(ucs_status_ptr_t request, int peer,
                                             const char* operation);
  [[nodiscard]] published_header published_header_of(int peer) const;
  static void on_peer_lost(void* self, ucp_ep_h endpoint, ucs_status_t why);
  /// Throws if the connection to a peer is lost, or if a message could not be received.
  void check_peers() const;

  process_bootstrap& bootstrap_;
  double timeout_seconds_;
  ucp_context_h context_ = nullptr;
  ucp_worker_h worker_ = nullptr;
  std::vector<ucp_ep_h> endpoints_;           // by rank; null before first use
  std::unique_ptr<mapped_region> directory_;  // the descriptors of this rank's parts, by number
  std::unique_ptr<active_messages> messages_;
  bool closing_ = false;  // connections may now end at the other side first
  int lost_peer_ = -1;    // UCX has reported that its connection is lost
  ucs_status_t lost_why_ = UCS_OK;
  bool over_tcp_ = false;     // some channels use TCP
  unsigned empty_polls_ = 0;  // calls of progress() without progress
  std::vector<bool> region_numbers_in_use_;
  int unwinding_;
};

/// Frees the request of an operation that is not waited for. Throws if the operation could not
/// be started.
void detach_request(ucs_status_ptr_t request, const char* operation, int peer);

}  // namespace longshore::ucx
