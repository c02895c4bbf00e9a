#include <longshore/halo/detail/backends/mixed_backend.hpp>

#include <longshore/core/error.hpp>
#include <longshore/halo/detail/algorithms/rounds.hpp>
#include <longshore/halo/detail/backends/channel_backend.hpp>
#include <longshore/halo/detail/backends/direct_handshake.hpp>
#include <longshore/transport/waiter.hpp>
#ifdef LONGSHORE_HAVE_MPI
#include <longshore/halo/detail/mpi/backends.hpp>
#endif

namespace longshore::detail {
namespace {

// In mode channel, receivers read contiguous messages of at least this size in place: a saved copy
// gains more than the sender loses by waiting for the receiver.
constexpr std::size_t least_exposed_bytes = 16384;

class mixed_backend final : public exchange_backend {
 public:
  mixed_backend(team& team, const halo_round& round, tasks* workers)
      : team_(team), workers_(workers), own_(round.size(), nullptr) {}

  void add(std::unique_ptr<polled_backend> part) {
    if (part) parts_.push_back(std::move(part));
  }
  /// Takes the messages of the rank to itself out of a round, and copies them in each exchange.
  void take_own_messages(halo_round& round);

  void start() override;
  [[nodiscard]] bool test() override { return progress() == 0; }
  [[nodiscard]] bool arrived() override {
    progress();
    return pending_receives() == 0;
  }
  void wait() override { wait_for(false); }
  void wait_arrival() override { wait_for(true); }
  [[nodiscard]] const std::byte* received(std::size_t pair) const override;
  [[nodiscard]] traffic moved() const override;

 private:
  /// Continues the exchange, and returns the number of messages still pending.
  std::size_t progress();
  [[nodiscard]] std::size_t pending_receives() const;
  void wait_for(bool arrival_only);
  [[nodiscard]] int awaited_peer() const;

  team& team_;
  tasks* workers_;
  copy_batch copies_;
  std::vector<const std::byte*> own_;  // by pair
  std::uint64_t own_bytes_ = 0;
  std::vector<std::unique_ptr<polled_backend>> parts_;
};

// A rank that is its own neighbour in a direction is so in the opposite direction, too. Both
// messages of the pair are one copy.
void mixed_backend::take_own_messages(halo_round& round) {
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
    own_[pair] = in.contiguous();
    own_bytes_ += out.size_bytes();
    out = in = {};
  }
}

// Other ranks wait for the outgoing messages: these come first, then the rank's own
// copies, and at last the messages that have arrived.
void mixed_backend::start() {
  for (const auto& part : parts_) part->start();
  copies_.run(workers_);
  for (const auto& part : parts_) part->progress();
}

std::size_t mixed_backend::progress() {
  std::size_t left = 0;
  for (const auto& part : parts_) {
    part->progress();
    left += part->pending_receives() + part->pending_sends();
  }
  return left;
}

std::size_t mixed_backend::pending_receives() const {
  std::size_t pending_receives = 0;
  for (const auto& part : parts_) pending_receives += part->pending_receives();
  return pending_receives;
}

int mixed_backend::awaited_peer() const {
  for (const auto& part : parts_)
    if (part->pending_receives() + part->pending_sends() > 0) return part->awaited_peer();
  return -1;
}

void mixed_backend::wait_for(bool arrival_only) {
  const auto is_over = [&](std::size_t left) {
    return left == 0 || (arrival_only && pending_receives() == 0);
  };
  for (std::size_t left = progress(); !is_over(left);) {
    // The deadline starts anew after each completed message.
    const std::size_t before = left;
    for (waiter waiting(team_, "a halo message", awaited_peer());; waiting.pause()) {
      left = progress();
      if (left != before || is_over(left)) break;
    }
  }
}

const std::byte* mixed_backend::received(std::size_t pair) const {
  if (own_[pair] != nullptr) return own_[pair];
  for (const auto& part : parts_)
    if (const std::byte* const found = part->received(pair)) return found;
  return nullptr;
}

traffic mixed_backend::moved() const {
  traffic all;
  all.payload_bytes = own_bytes_;
  for (const auto& part : parts_) all += part->moved();
  return all;
}

// Collective on several ranks. Whether any rank has a message left in its rounds.
bool any_rank_has_messages(team& ranks, const std::vector<halo_round>& rounds) {
  if (ranks.size() == 1) return false;
  bool left = false;
  for (const auto& round : rounds)
    for (const auto& pair : round) left = left || pair.outgoing.exists() || pair.incoming.exists();
  return ranks.allreduce_value<int>(left, reduction::max) != 0;
}

// Collective. Whether any rank has shareable memory. All ranks must then take part in the
// handshake, because a rank does not know whether its neighbours have some.
bool any_rank_has_shareable(team& ranks, const backend_options& options) {
  return ranks.allreduce_value<int>(!options.shareable.empty(), reduction::max) != 0;
}

#ifdef LONGSHORE_HAVE_MPI
// Takes the messages between ranks of one node out of a round, and returns them.
halo_round take_node_messages(const team& ranks, halo_round& round) {
  halo_round near = round;
  for (std::size_t i = 0; i < round.size(); ++i) {
    const auto divide = [&](halo_message& message, halo_message& taken) {
      if (!message.exists()) return;
      (ranks.nodes().is_local(message.peer) ? message : taken) = {};
    };
    divide(round[i].outgoing, near[i].outgoing);
    divide(round[i].incoming, near[i].incoming);
  }
  return near;
}
#endif

}  // namespace

std::vector<std::unique_ptr<exchange_backend>> make_mixed_backends(halo_mode mode,
                                                                   const rank_grid& grid,
                                                                   std::vector<halo_round> rounds,
                                                                   const backend_options& options) {
  team& ranks = grid.ranks();
  std::vector<std::unique_ptr<mixed_backend>> mixed;
  for (auto& round : rounds) {
    mixed.push_back(std::make_unique<mixed_backend>(ranks, round, options.workers));
    mixed.back()->take_own_messages(round);
  }
  const bool can_expose =
      options.delivery == halo_delivery::unpacked && ranks.nodes().largest_node() > 1;
  if (can_expose && (mode == halo_mode::direct || any_rank_has_shareable(ranks, options))) {
    const auto wanted = [mode](const halo_message& message) {
      return mode == halo_mode::direct ||
             (message.contiguous() != nullptr && message.size_bytes() >= least_exposed_bytes);
    };
    auto direct = make_direct_backends(grid, rounds, options, wanted);
    for (std::size_t r = 0; r < rounds.size(); ++r) mixed[r]->add(std::move(direct[r]));
  }
  // On threads of one node all messages are direct, and no rank has one left.
  const bool all_direct = mode == halo_mode::direct && can_expose &&
                          ranks.transport_name() == "threads" && ranks.nodes().node_count() == 1;
  if (!all_direct && any_rank_has_messages(ranks, rounds)) {
    std::vector<halo_round> near;
#ifdef LONGSHORE_HAVE_MPI
    if (ranks.transport_name() == "mpi" && options.delivery == halo_delivery::unpacked) {
      for (auto& round : rounds) near.push_back(take_node_messages(ranks, round));
      if (any_rank_has_messages(ranks, rounds)) {
        auto posted = mpi::make_posted_backends(grid, rounds, options);
        for (std::size_t r = 0; r < rounds.size(); ++r) mixed[r]->add(std::move(posted[r]));
      }
      rounds = std::move(near);
    }
#endif
    if (any_rank_has_messages(ranks, rounds))
      for (std::size_t r = 0; r < rounds.size(); ++r)
        if (!stays_within_ranks(grid, rounds[r]))
          mixed[r]->add(std::make_unique<channel_backend>(ranks, rounds[r], options));
  }
  return {std::make_move_iterator(mixed.begin()), std::make_move_iterator(mixed.end())};
}

}  // namespace longshore::detail
