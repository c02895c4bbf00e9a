// Modes channel and direct: each message is transferred in the best way between its two ends. A
// message of a rank to itself is one copy. If the receiver can map the sender's memory, mode direct
// copies from there (direct_backend.hpp), and mode channel does so for large contiguous messages.
// Messages between nodes over MPI use persistent requests (mpi/posted_backend.cpp). The remaining
// messages go through the slots of channels (channel_backend.hpp).
#include <longshore/core/error.hpp>
#include <longshore/halo/detail/algorithms/rounds.hpp>
#include <longshore/halo/detail/backends/channel_backend.hpp>
#include <longshore/halo/detail/backends/direct_backend.hpp>
#include <longshore/halo/detail/backends/grid_handshake.hpp>
#include <longshore/transport/waiter.hpp>
#ifdef LONGSHORE_HAVE_MPI
#include <longshore/halo/detail/mpi/backends.hpp>
#endif

namespace longshore::detail {
namespace {

// In mode channel, receivers copy contiguous messages of at least this size from the sender's
// memory. The saved copy gains more than the sender loses by waiting for the receiver.
constexpr std::size_t exposed_from_bytes = 16384;

class mixed_backend final : public exchange_backend {
 public:
  mixed_backend(team& team, const halo_round& round, const backend_options& options)
      : team_(team),
        workers_(options.workers),
        touched_bytes_(options.touched_bytes),
        self_received_(round.size(), nullptr) {}

  void add(std::unique_ptr<polled_backend> backend) {
    if (backend) backends_.push_back(std::move(backend));
  }
  /// Removes the messages of the rank to itself from a round, and copies them in each exchange.
  void take_self_messages(halo_round& round);

  void start() override;
  [[nodiscard]] bool test() override { return progress() == 0; }
  [[nodiscard]] bool arrived() override {
    progress();
    return pending_receives() == 0;
  }
  void wait() override {
    wait_until([](std::size_t pending) { return pending == 0; });
  }
  void wait_arrival() override {
    wait_until([this](std::size_t) { return pending_receives() == 0; });
  }
  [[nodiscard]] const std::byte* received(std::size_t pair) const override;
  [[nodiscard]] traffic moved() const override;
  [[nodiscard]] halo_transfers transfers() const override;

 private:
  /// Continues the exchange, and returns the number of pending messages.
  std::size_t progress();
  [[nodiscard]] std::size_t pending_receives() const;
  template <class Condition>
  void wait_until(const Condition& is_over);
  [[nodiscard]] int awaited_peer() const;

  team& team_;
  tasks* workers_;
  std::size_t touched_bytes_;
  copy_batch copies_;
  // The incoming messages of the rank from itself, indexed by message pair.
  std::vector<const std::byte*> self_received_;
  std::uint64_t self_bytes_ = 0;
  std::vector<std::unique_ptr<polled_backend>> backends_;
};

// If a rank is its own neighbour in a direction, both messages of the pair are one copy.
void mixed_backend::take_self_messages(halo_round& round) {
  for (std::size_t pair = 0; pair < round.size(); ++pair) {
    auto& [direction, out, in] = round[pair];
    if (out.peer != team_.rank()) continue;
    bool fits = in.peer == team_.rank() && in.parts.size() == out.parts.size();
    for (std::size_t i = 0; fits && i < in.parts.size(); ++i)
      fits = in.parts[i].extents == out.parts[i].extents;
    if (!fits)
      fail(errc::usage, "rank {} is its own neighbour, but its cells do not fit its own halo",
           team_.rank());
    for (std::size_t i = 0; i < out.parts.size(); ++i) copies_.add(in.parts[i], out.parts[i]);
    self_received_[pair] = in.contiguous();
    self_bytes_ += out.size_bytes();
    out = in = {};
  }
}

// Outgoing messages come first, because other ranks wait for them.
void mixed_backend::start() {
  for (const auto& backend : backends_) backend->start();
  copies_.run(workers_);
  team_.charge_copy(team_.rank(), {copies_.size_bytes(), copies_.line_count(), touched_bytes_});
  for (const auto& backend : backends_) backend->progress();
}

std::size_t mixed_backend::progress() {
  std::size_t pending = 0;
  for (const auto& backend : backends_) {
    backend->progress();
    pending += backend->pending_receives() + backend->pending_sends();
  }
  return pending;
}

std::size_t mixed_backend::pending_receives() const {
  std::size_t pending = 0;
  for (const auto& backend : backends_) pending += backend->pending_receives();
  return pending;
}

int mixed_backend::awaited_peer() const {
  for (const auto& backend : backends_)
    if (backend->pending_receives() + backend->pending_sends() > 0) return backend->awaited_peer();
  return -1;
}

// `is_over` gets the number of pending messages.
template <class Condition>
void mixed_backend::wait_until(const Condition& is_over) {
  for (std::size_t pending = progress(); !is_over(pending);) {
    // The deadline starts anew after each completed message.
    const std::size_t before = pending;
    for (waiter waiting(team_, "a halo message", awaited_peer());; waiting.pause()) {
      pending = progress();
      if (pending != before || is_over(pending)) break;
    }
  }
}

const std::byte* mixed_backend::received(std::size_t pair) const {
  if (self_received_[pair] != nullptr) return self_received_[pair];
  for (const auto& backend : backends_)
    if (const std::byte* const message = backend->received(pair)) return message;
  return nullptr;
}

traffic mixed_backend::moved() const {
  traffic total;
  total.payload_bytes = self_bytes_;
  for (const auto& backend : backends_) total += backend->moved();
  return total;
}

halo_transfers mixed_backend::transfers() const {
  halo_transfers total{.copied = self_bytes_};
  for (const auto& backend : backends_) total += backend->transfers();
  return total;
}

// Returns about how many bytes the cache lines have that hold the cells of all messages. Four runs
// lie side by side (copy_batch::add), and share the line that they do not fill.
std::size_t touched_bytes(const std::vector<halo_round>& rounds) {
  std::size_t bytes = 0;
  const auto add = [&](const halo_message& message) {
    for (const auto& part : message.parts)
      bytes += part.size_bytes() + part.extents[1] * part.extents[2] * cache_line_bytes / 4;
  };
  for (const auto& round : rounds)
    for (const auto& pair : round) add(pair.outgoing), add(pair.incoming);
  return bytes;
}

// Collective. Returns whether any rank has a message in its rounds.
bool any_rank_has_messages(team& ranks, const std::vector<halo_round>& rounds) {
  if (ranks.size() == 1) return false;
  bool has_message = false;
  for (const auto& round : rounds)
    for (const auto& pair : round)
      has_message = has_message || pair.outgoing.exists() || pair.incoming.exists();
  return ranks.allreduce_value<int>(has_message, reduction::max) != 0;
}

#ifdef LONGSHORE_HAVE_MPI
// Removes the messages between ranks of different nodes from all rounds, and returns them.
std::vector<halo_round> take_messages_between_nodes(const team& ranks,
                                                    std::vector<halo_round>& rounds) {
  auto taken = rounds;
  for (std::size_t r = 0; r < rounds.size(); ++r)
    for (std::size_t i = 0; i < rounds[r].size(); ++i)
      for (const auto message : {&message_pair::outgoing, &message_pair::incoming}) {
        auto& here = rounds[r][i].*message;
        if (here.exists()) (ranks.nodes().is_local(here.peer) ? taken[r][i].*message : here) = {};
      }
  return taken;
}
#endif

using mixed_backends = std::vector<std::unique_ptr<mixed_backend>>;

// Adds the backend of each round to the backends of the plan.
template <class Backends>
void add(mixed_backends& mixed, Backends added) {
  for (std::size_t r = 0; r < mixed.size(); ++r) mixed[r]->add(std::move(added[r]));
}

// Collective. `left` are the messages that no backend has taken yet. Each step removes the messages
// that it takes.
mixed_backends make_mixed_backends(halo_mode mode, const rank_grid& grid,
                                   std::vector<halo_round> left, backend_options options) {
  team& ranks = grid.ranks();
  options.touched_bytes = touched_bytes(left);
  mixed_backends mixed;
  for (auto& round : left) {
    mixed.push_back(std::make_unique<mixed_backend>(ranks, round, options));
    mixed.back()->take_self_messages(round);
  }
  const bool can_expose =
      options.delivery == halo_delivery::unpacked && ranks.nodes().largest_node() > 1;
  // If one rank has shareable memory, all ranks take part in the handshake, because a rank does not
  // know what its neighbours have.
  const auto any_rank_has_shareable = [&] {
    return ranks.allreduce_value<int>(!options.shareable.empty(), reduction::max) != 0;
  };
  if (can_expose && (mode == halo_mode::direct || any_rank_has_shareable()))
    add(mixed, make_direct_backends(grid, left, options, [mode](const halo_message& message) {
          return mode == halo_mode::direct ||
                 (message.contiguous() != nullptr && message.size_bytes() >= exposed_from_bytes);
        }));
  // If all ranks are threads of one node, all messages are direct, and no other backend is needed.
  if (mode == halo_mode::direct && can_expose && ranks.is_one_process() &&
      ranks.nodes().node_count() == 1)
    return mixed;
  if (!any_rank_has_messages(ranks, left)) return mixed;
#ifdef LONGSHORE_HAVE_MPI
  if (ranks.transport_name() == "mpi" && options.delivery == halo_delivery::unpacked) {
    const auto between_nodes = take_messages_between_nodes(ranks, left);
    if (any_rank_has_messages(ranks, between_nodes))
      add(mixed, mpi::make_posted_backends(grid, between_nodes, options));
    if (!any_rank_has_messages(ranks, left)) return mixed;
  }
#endif
  std::vector<int> far_peers;
  if (ranks.nodes().largest_node() > 1) far_peers = handshake_of(grid)->far_peers();
  for (std::size_t r = 0; r < left.size(); ++r)
    if (!stays_within_ranks(grid, left[r]))
      mixed[r]->add(std::make_unique<channel_backend>(ranks, left[r], options, far_peers));
  return mixed;
}

}  // namespace

std::vector<std::unique_ptr<exchange_backend>> make_backends(halo_mode mode, const rank_grid& grid,
                                                             std::vector<halo_round> rounds,
                                                             const backend_options& options) {
  if (const auto reason = why_not(mode, grid.ranks().transport_name(), grid.shape(), grid.wraps()))
    fail(errc::unsupported, "{}", *reason);
  if (grid.ranks().size() > 1) agree_on_messages(grid, rounds);
#ifdef LONGSHORE_HAVE_MPI
  if (is_mpi_mode(mode)) return mpi::make_backends(mode, grid, std::move(rounds), options);
#endif
  // The mode is channel or direct: without MPI, why_not has refused all other modes, because no
  // transport is named mpi.
  auto mixed = make_mixed_backends(mode, grid, std::move(rounds), options);
  return {std::make_move_iterator(mixed.begin()), std::make_move_iterator(mixed.end())};
}

}  // namespace longshore::detail
