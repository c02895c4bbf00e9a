// UCX (UCP 1.13 and later), as a one-sided library. An endpoint is made, and the key of a region
// fetched, when a rank first reaches for a peer: what a run never talks to costs an address in
// memory and nothing else.
#pragma once

#include <longshore/transport/one_sided/library.hpp>
#include <longshore/transport/ucx/process_group.hpp>

#include <ucp/api/ucp.h>

#include <vector>

namespace longshore::ucx {

class mapped_region;
class message_board;

class library final : public one_sided::library {
 public:
  /// Collective. `group` must outlive it. timeout_seconds: deadline of the waits inside; 0: none.
  library(process_group& group, double timeout_seconds);
  /// Collective, unless an exception is on its way.
  ~library() override;

  [[nodiscard]] int rank() const override { return group_.rank(); }
  [[nodiscard]] int size() const override { return group_.size(); }
  [[nodiscard]] std::string_view transport_name() const noexcept override { return "ucx"; }
  [[nodiscard]] std::string version() const override;
  [[nodiscard]] std::unique_ptr<one_sided::region> allocate(std::size_t bytes) override;
  [[nodiscard]] std::size_t available_bytes(int ranks) const override;
  [[nodiscard]] std::string room() const override;
  [[nodiscard]] std::vector<std::uint64_t> gather(std::uint64_t mine) override {
    return group_.gather(mine);
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
  void end_all(int status) override { group_.end_all(status); }
  [[nodiscard]] std::unique_ptr<raw_calls> make_raw_calls(one_sided::region& memory,
                                                          std::size_t source_at) override;

  // For regions.

  /// Where a region of a rank lies and how it is reached; what ranks tell each other.
  struct description {
    std::uint64_t address = 0;
    std::uint32_t key_bytes = 0;
    unsigned char key[244] = {};
  };
  /// What each rank tells all, before the address of its worker.
  struct presence {
    description directory;
    std::uint64_t host = 0;
  };
  [[nodiscard]] ucp_context_h context() const noexcept { return context_; }
  [[nodiscard]] ucp_worker_h worker() const noexcept { return worker_; }
  [[nodiscard]] ucp_ep_h endpoint(int peer);
  /// What `peer` says of its region `number`.
  [[nodiscard]] description describe(int peer, std::size_t number);
  void forget(std::size_t number);
  /// Waits for a started operation, within the deadline; `peer` and `operation` are for the
  /// message.
  void complete(ucs_status_ptr_t request, int peer, const char* operation);

 private:
  void close();
  /// How a started operation ended; throws when it does not within the deadline.
  [[nodiscard]] ucs_status_t outcome_of(ucs_status_ptr_t request, int peer, const char* operation);
  [[nodiscard]] presence presence_of(int peer) const;
  static void lost(void* self, ucp_ep_h endpoint, ucs_status_t why);
  /// Throws when the connection to a peer is gone, or a message could not be received.
  void check_peers() const;

  process_group& group_;
  double timeout_seconds_;
  ucp_context_h context_ = nullptr;
  ucp_worker_h worker_ = nullptr;
  std::vector<ucp_ep_h> endpoints_;  // by rank; null before first use
  std::unique_ptr<mapped_region> directory_;
  std::unique_ptr<message_board> messages_;
  bool closing_ = false;  // then connections end, one side before the other
  int lost_peer_ = -1;    // its connection is gone, as UCX says
  ucs_status_t lost_why_ = UCS_OK;
  bool over_tcp_ = false;      // some channels go so
  unsigned fruitless_ = 0;     // looks
  std::vector<bool> numbers_;  // of regions: which are in use
  int unwinding_;
};

/// Of an operation that needs no word of its end; throws when it could not be started.
void forget_request(ucs_status_ptr_t request, const char* operation, int peer);

}  // namespace longshore::ucx
