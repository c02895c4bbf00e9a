// Carries the messages of a round of fields in device memory. What a rank can read in the memory of
// its peers, it reads in one launch. One more launch packs all other messages into pinned memory of
// the host, from where another mover carries them; or into memory of the device, from where MPI
// sends them. When all have arrived, one launch stores them.
#pragma once

#include <longshore/exchange/detail/device/device_access.hpp>
#include <longshore/exchange/detail/movers/direct_peers.hpp>
#include <longshore/exchange/detail/movers/mover.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace longshore::detail {

class device_mover final : public mover {
 public:
  /// Makes the mover of the packed messages, for a round whose memories are those of the context.
  using make_carrier =
      std::function<std::unique_ptr<mover>(const mover_context&, const exchange_round&)>;
  /// `peers` is null if no message is read directly. Memory: the packed messages of both directions.
  /// The pieces take about 150 bytes per box, and 4 bytes per element of a list on each
  /// side; sums take 24 bytes per element.
  device_mover(const mover_context& context, plan_device& device, const exchange_round& round,
               direct_peers* peers, std::size_t number);
  ~device_mover() override;

  /// Makes the mover of its packed messages. REQUIRES: called once, before all other calls.
  void carry(const make_carrier& make);

  void start(std::span<const combiner> combiners) override;
  void progress() override;
  void complete() override;
  [[nodiscard]] int awaited_peer() const override;
  [[nodiscard]] std::size_t pending() const override;
  [[nodiscard]] traffic moved() const override { return carrier_->moved(); }
  [[nodiscard]] exchange_transfers transfers() const override;
  [[nodiscard]] std::size_t memory_bytes() const override {
    return sizeof(*this) + on_host_.bytes + on_device_.bytes + carrier_->memory_bytes();
  }
  void rebind() override { packs_ = nullptr, forget_stores(); }

 private:
  // Packed messages of both directions, which follow each other.
  struct staging {
    int outgoing, incoming;  // the numbers of these memories of the carrier
    std::size_t bytes = 0;
    std::shared_ptr<std::byte> memory = {};

    // Returns where a part begins.
    std::size_t add(const bound_fields& fields, const element_set& elements) {
      const std::size_t begin = bytes;
      bytes = packed_layout(fields, elements.size(), begin).end();
      return begin;
    }
    // Ends the message that began at `begin`, and returns its bytes.
    [[nodiscard]] element_set end_message(std::size_t begin);
  };
  struct packed_part {
    outgoing_part part;
    const staging* place;
    std::size_t offset;
  };
  struct stored_part {
    incoming_part part;
    const rank_memories* sender;  // null if the part arrives packed
    const staging* place = nullptr;
    std::size_t offset = 0;
  };
  void add_outgoing(const outgoing_message& out);
  void add_incoming(const incoming_message& in);
  [[nodiscard]] staging& staging_for(int peer) noexcept;
  void forget_stores() { copies_ = nullptr, sums_.clear(); }
  void prepare_packs();
  void prepare_stores();
  void wait_for(const device_event& event) {
    device_.driver.wait(device_.device, device_.stream, event);
  }
  void store();
  void start_carrier();
  void set_state() noexcept;

  const mover_context& context_;
  plan_device& device_;
  direct_peers* peers_;
  std::size_t round_;
  bool combines_;
  std::vector<packed_part> packed_;
  std::vector<stored_part> stored_;
  std::vector<peer_link> lent_, read_;
  staging on_host_{0, 1}, on_device_{2, 3};
  rank_memories staged_memories_;
  mover_context staged_context_;
  exchange_round staged_;  // until the carrier is made
  std::unique_ptr<mover> carrier_;
  device_copies packs_, copies_;
  // One for each field that is combined.
  struct field_sums {
    std::size_t field;
    device_combines launch;
  };
  std::vector<field_sums> sums_;
  // All cells and packed messages are ready; all cells are stored, so those of peers are taken.
  const device_event *ready_event_ = nullptr, *taken_event_ = nullptr;
  std::vector<held_event> own_events_;  // if peers do not wait for them
  std::span<const combiner> combiners_;
  std::uint64_t exchange_ = 0;
  bool is_staged_ = false, carrier_started_ = false, is_stored_ = true;
  std::vector<std::size_t> pending_lent_, still_to_read_;
  exchange_transfers transfers_;
};

/// A mover, and its carry().
struct carried_mover {
  std::unique_ptr<mover> by;
  std::function<void(const device_mover::make_carrier&)> carry;
};
/// Makes the mover of a round; the arguments are those of device_mover.
using device_mover_maker = carried_mover (*)(const mover_context&, plan_device&,
                                             const exchange_round&, direct_peers*, std::size_t);
[[nodiscard]] carried_mover make_device_mover(const mover_context& context, plan_device& device,
                                              const exchange_round& round, direct_peers* peers,
                                              std::size_t number);
/// make_device_mover, or null in programs that use no device. They do not contain its code, because
/// plans call it through this pointer only.
[[nodiscard]] std::atomic<device_mover_maker>& device_movers() noexcept;

}  // namespace longshore::detail
