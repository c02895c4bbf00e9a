// The simulated machine as a library of one-sided communication (one_sided/library.hpp).
#pragma once

#include <longshore/transport/one_sided/detail/library.hpp>
#include <longshore/transport/simulated/detail/channels.hpp>
#include <longshore/transport/simulated/detail/network.hpp>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace longshore::simulated {

class region;

/// The part of the memory that rank `peer` holds, on any node.
[[nodiscard]] std::byte* part_of(one_sided::region& memory, int peer);

/// The state that all ranks of a run share.
class world {
 public:
  world(const machine& described, int ranks, std::size_t stack_bytes);
  ~world();
  world(const world&) = delete;
  world& operator=(const world&) = delete;

  const machine& described;
  const int ranks;
  engine events;
  network messages;
  std::set<region*> regions;  // regions that a failed rank has left are freed at the end

  /// Returns when all ranks have called. Takes no simulated time.
  void meet(int rank, const char* operation);
  /// Available memory of this process. Read once between two meetings, because it takes long.
  [[nodiscard]] std::size_t available_bytes();
  /// Memory for a message of up to `bytes` bytes of a channel, aligned to a cache line, and for a
  /// given_message behind it. Freed at the end of the run at the latest.
  [[nodiscard]] std::byte* take_slot(std::size_t bytes);
  void return_slot(std::byte* slot) noexcept { free_slots_[size_of(slot)].push_back(slot); }
  std::vector<std::uint64_t> gathered;  // what the ranks show between two meetings
  std::shared_ptr<pages> new_memory;    // of the allocation that all ranks make now
  std::optional<node_map> nodes;        // the map of the first rank that made one

 private:
  // The bytes of a slot stand before it.
  static std::size_t& size_of(std::byte* slot) noexcept {
    return reinterpret_cast<std::size_t*>(slot)[-1];
  }

  int arrived_ = 0;
  std::uint64_t meetings_ = 0, meeting_of_available_ = ~std::uint64_t{0};
  std::size_t available_bytes_ = 0;
  // The memory of messages. It has huge pages: the page tables of small pages would not fit into
  // the cache.
  std::vector<pages> slot_memory_;
  std::byte *next_slot_ = nullptr, *end_of_slots_ = nullptr;
  // Indexed by size. A free slot also serves messages of half its size and more.
  std::map<std::size_t, std::vector<std::byte*>> free_slots_;
};

class library final : public one_sided::library, public detail::cost_sink {
 public:
  library(world& shared, int rank) : world_(shared), rank_(rank) {}

  int rank() const override { return rank_; }
  int size() const override { return world_.ranks; }
  std::string_view transport_name() const noexcept override { return "simulated"; }
  std::string version() const override;
  std::unique_ptr<one_sided::region> allocate(std::size_t bytes) override;
  std::size_t available_bytes(int ranks) const override;
  std::string capacity_text() const override;
  std::vector<std::uint64_t> allgather(std::uint64_t mine) override;
  node_map make_node_map(std::span<const int> host_of, int ranks_per_node) override;
  void quiet() override { world_.messages.quiet(rank_); }
  void progress() override { world_.events.poll(rank_, 1); }
  void abort(int) override { world_.events.abandon(rank_); }
  std::unique_ptr<detail::raw_calls> make_raw_calls(one_sided::region&, std::size_t) override;
  detail::cost_sink* costs() override { return this; }
  bool is_one_process() const noexcept override { return true; }
  bool moves_within_nodes() const noexcept override { return true; }

  bool makes_channels(int, bool) override { return true; }
  std::size_t end_bytes(const channel_end& end, bool sends) const override {
    return bytes_of_end(end, sends, is_near(end.peer));
  }
  std::size_t later_bytes(std::span<const channel_end> to,
                          std::span<const channel_end> from) const override {
    return bytes_of_messages(to, from);
  }
  std::unique_ptr<one_sided::message_channel_sender> make_sender(const channel_end& end,
                                                                 one_sided::region& memory,
                                                                 std::size_t offset) override {
    return simulated::make_sender(end, *this, memory, offset);
  }
  std::unique_ptr<one_sided::message_channel_receiver> make_receiver(const channel_end& end,
                                                                     one_sided::region& memory,
                                                                     std::size_t offset) override {
    return simulated::make_receiver(end, *this, memory, offset);
  }
  std::unique_ptr<quiet_receivers> quiet(std::span<channel_receiver* const> receivers) override {
    return watch(receivers, *this);
  }

  void charge(std::string_view work, std::size_t amount) override;
  void charge_copy(int peer, const detail::copied_cells& copied) override {
    world_.messages.charge_copy(rank_, peer, copied);
  }
  void charge_seconds(double seconds) override { world_.events.advance(rank_, seconds); }
  void require_memory(std::size_t bytes) override;
  void poll() override { poll(1); }
  void change(const void* at, int peer, std::function<bool()> make) override {
    world_.messages.change(rank_, at, peer, std::move(make));
  }
  void block(const char* operation, int peer) override {
    world_.messages.wait(rank_, operation, peer);
  }
  void wait_ended() noexcept override { world_.events.wait_ended(); }
  double now() override { return world_.events.read_clock(rank_); }
  std::uint64_t events() const noexcept override { return world_.events.event_count(); }

  // For the ends of channels.
  [[nodiscard]] world& shared() noexcept { return world_; }
  [[nodiscard]] bool is_near(int peer) const noexcept {
    return world_.described.node_of(peer) == world_.described.node_of(rank_);
  }
  void synchronise() { world_.events.synchronise(rank_); }
  void poll(std::size_t loads) { world_.events.poll(rank_, loads); }

 private:
  world& world_;
  int rank_;
};

}  // namespace longshore::simulated
