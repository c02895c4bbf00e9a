// Regions of memory of a simulated machine, and the costs of computing.
#include <longshore/core/bytes.hpp>
#include <longshore/core/error.hpp>
#include <longshore/machine/memory_sizes.hpp>
#include <longshore/transport/simulated/detail/library.hpp>

#include <fmt/core.h>

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace longshore::simulated {

/// A part for each rank, in one mapping.
class region final : public one_sided::region {
 public:
  region(world& shared, int rank, std::shared_ptr<pages> memory, std::size_t stride)
      : one_sided::region(memory->data() + rank * stride),
        world_(shared),
        rank_(rank),
        memory_(std::move(memory)),
        stride_(stride) {
    world_.regions.insert(this);
  }
  ~region() override {
    world_.regions.erase(this);
    if (memory_.use_count() == 1)
      world_.messages.forget_changes(memory_->data(), memory_->size_bytes());
  }

  std::byte* direct(int peer) override {
    const bool is_local = world_.described.node_of(peer) == world_.described.node_of(rank_);
    return is_local ? part(peer) : nullptr;
  }
  void put_start(int peer, std::size_t offset, const void* from, std::size_t bytes) override {
    start(transfer::operation::put, peer, offset, from, bytes, false);
  }
  void put(int peer, std::size_t offset, const void* from, std::size_t bytes) override {
    start(transfer::operation::put, peer, offset, from, bytes, true);
  }
  void get_start(int peer, std::size_t offset, void* to, std::size_t bytes) override {
    start(transfer::operation::get, peer, offset, to, bytes, false);
  }
  void get(int peer, std::size_t offset, void* to, std::size_t bytes) override {
    if (const std::byte* const near = direct(peer)) {
      world_.messages.charge_copy(rank_, peer, bytes, bytes_touched_by_copy(bytes));
      world_.events.synchronise(rank_);
      if (bytes > 0) std::memcpy(to, near + offset, bytes);
      return;
    }
    world_.messages.complete(made(transfer::operation::get, peer, offset, to, bytes));
  }
  std::int64_t fetch_add(int peer, std::size_t offset, std::int64_t amount) override {
    transfer wanted = made(transfer::operation::fetch_add, peer, offset, nullptr, 0);
    wanted.amount = amount;
    return world_.messages.complete(wanted);
  }
  void put_with_signal(int peer, std::size_t offset, const void* from, std::size_t bytes,
                       std::size_t signal_offset, const std::uint64_t* signal) override {
    transfer wanted = made(transfer::operation::put, peer, offset, from, bytes);
    wanted.signal_at = part(peer) + signal_offset;
    wanted.signal = *signal;
    world_.messages.start(wanted);
  }
  void discard(std::size_t offset, std::size_t bytes) override {
    const std::size_t begin = round_up(offset, page_bytes()),
                      end = (offset + bytes) / page_bytes() * page_bytes();
    if (end > begin) madvise(local() + begin, end - begin, MADV_DONTNEED);
  }

  [[nodiscard]] std::byte* part(int peer) const { return memory_->data() + peer * stride_; }

 private:
  [[nodiscard]] transfer made(transfer::operation kind, int peer, std::size_t offset,
                              const void* local, std::size_t bytes) const {
    transfer wanted;
    wanted.kind = kind;
    wanted.from = rank_;
    wanted.to = peer;
    wanted.remote = part(peer) + offset;
    wanted.local = static_cast<std::byte*>(const_cast<void*>(local));
    wanted.bytes = bytes;
    return wanted;
  }
  void start(transfer::operation kind, int peer, std::size_t offset, const void* local,
             std::size_t bytes, bool keeps_copy) {
    if (bytes == 0) return;
    transfer wanted = made(kind, peer, offset, local, bytes);
    wanted.keeps_copy = keeps_copy;
    world_.messages.start(wanted);
  }

  world& world_;
  int rank_;
  std::shared_ptr<pages> memory_;
  std::size_t stride_;
};

std::byte* part_of(one_sided::region& memory, int peer) {
  return static_cast<region&>(memory).part(peer);
}

world::world(const machine& machine_of_run, int rank_count, std::size_t stack_bytes)
    : described(machine_of_run),
      ranks(rank_count),
      events(rank_count, stack_bytes),
      messages(machine_of_run, events, rank_count),
      gathered(static_cast<std::size_t>(rank_count)) {}

world::~world() {
  while (!regions.empty()) delete *regions.begin();
}

void world::meet(int rank, const char* operation) {
  events.synchronise(rank);
  const std::uint64_t meeting = meetings_;
  if (++arrived_ == ranks) {
    arrived_ = 0;
    ++meetings_;
    for (int peer = 0; peer < ranks; ++peer)
      if (peer != rank) events.schedule_wake(events.clock(rank), peer);
    return;
  }
  while (meetings_ == meeting) events.block(rank, operation, -1);
}

std::size_t world::available_bytes() {
  if (meeting_of_available_ != meetings_) {
    meeting_of_available_ = meetings_;
    available_bytes_ = available_memory_bytes();
  }
  return available_bytes_;
}

std::byte* world::take_slot(std::size_t bytes) {
  constexpr std::size_t block_bytes = std::size_t{16} << 20, max_times_as_large = 2;
  const std::size_t needed =
      round_up(given_message::offset_in(bytes) + sizeof(given_message) + sizeof(std::size_t),
               cache_line_bytes);
  for (auto free = free_slots_.lower_bound(needed);
       free != free_slots_.end() && free->first <= max_times_as_large * needed; ++free)
    if (!free->second.empty()) {
      std::byte* const slot = free->second.back();
      free->second.pop_back();
      return slot;
    }
  if (static_cast<std::size_t>(end_of_slots_ - next_slot_) < needed) {
    constexpr bool huge = true;
    const pages& block =
        slot_memory_.emplace_back(std::max(needed + cache_line_bytes, block_bytes), huge);
    next_slot_ = block.data() + cache_line_bytes;
    end_of_slots_ = block.data() + block.size_bytes();
  }
  std::byte* const slot = std::exchange(next_slot_, next_slot_ + needed);
  size_of(slot) = needed;
  return slot;
}

std::string library::version() const {
  return fmt::format("{} {}", world_.described.name, world_.described.version);
}

std::unique_ptr<one_sided::region> library::allocate(std::size_t bytes) {
  world_.meet(rank_, "an allocation");
  const std::size_t part_bytes = round_up(std::max<std::size_t>(bytes, 1), page_bytes());
  if (world_.new_memory == nullptr) {
    try {
      world_.new_memory = std::make_shared<pages>(
          pages::reserved(part_bytes * static_cast<std::size_t>(world_.ranks)));
    } catch (const error&) {  // null on this rank, and the other ranks try in vain, too
    }
  }
  std::unique_ptr<region> made;
  if (world_.new_memory != nullptr)
    made = std::make_unique<region>(world_, rank_, world_.new_memory, part_bytes);
  world_.meet(rank_, "an allocation");
  world_.new_memory.reset();
  return made;
}

std::size_t library::available_bytes(int) const {
  return world_.available_bytes() / static_cast<std::size_t>(world_.ranks);
}

void library::require_memory(std::size_t bytes) {
  if (bytes > available_bytes(world_.ranks))
    fail(errc::out_of_memory, "each rank needs {} bytes more, {} in all: {}", bytes,
         bytes * static_cast<std::size_t>(world_.ranks), capacity_text());
}

std::string library::capacity_text() const {
  return fmt::format(
      "the {} simulated ranks share the memory of this process, of which {} bytes are available: "
      "use fewer ranks, or less memory for each",
      world_.ranks, available_memory_bytes());
}

std::vector<std::uint64_t> library::allgather(std::uint64_t mine) {
  world_.meet(rank_, "the start");
  world_.gathered[rank_] = mine;
  world_.meet(rank_, "the start");
  return world_.gathered;
}

node_map library::make_node_map(std::span<const int> host_of, int ranks_per_node) {
  if (!world_.nodes) world_.nodes.emplace(host_of, rank_, ranks_per_node);
  return {*world_.nodes, rank_};
}

std::unique_ptr<detail::raw_calls> library::make_raw_calls(one_sided::region&, std::size_t) {
  fail(errc::unsupported, "a simulated machine has no library calls to measure");
}

void library::charge(std::string_view work, std::size_t amount) {
  if (work == "received_signals") {
    for (std::size_t i = 0; i < amount; ++i) world_.messages.charge_receive(rank_, 0);
    return;
  }
  const double each = world_.described.cost_of(work).of(amount);
  world_.messages.compute(rank_, static_cast<double>(amount) * each);
}

}  // namespace longshore::simulated
