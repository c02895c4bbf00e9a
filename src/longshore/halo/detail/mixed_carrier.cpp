#include <longshore/halo/detail/mixed_carrier.hpp>

#include <longshore/core/error.hpp>
#include <longshore/halo/algorithm.hpp>
#include <longshore/halo/detail/channel_carrier.hpp>
#include <longshore/halo/detail/direct_carrier.hpp>
#include <longshore/transport/waiter.hpp>
#ifdef LONGSHORE_HAVE_MPI
#include <longshore/halo/detail/mpi/carriers.hpp>
#endif

namespace longshore::detail {
namespace {

// From here on one copy less is worth more than not having to wait for the receiver.
constexpr std::size_t least_lent_bytes = 16384;

class mixed_carrier final : public message_carrier {
 public:
  mixed_carrier(team& team, const halo_round& round, tasks* workers)
      : team_(team), workers_(workers), own_(round.size(), nullptr) {}

  void add(std::unique_ptr<polled_carrier> part) {
    if (part) parts_.push_back(std::move(part));
  }
  /// Makes copies of the messages of a round that are to the rank itself, and takes them out of it.
  void take_own(halo_round& round);

  void start() override;
  [[nodiscard]] bool test() override { return progress() == 0; }
  [[nodiscard]] bool arrived() override {
    progress();
    return missing() == 0;
  }
  void wait() override { wait_for(false); }
  void wait_arrival() override { wait_for(true); }
  [[nodiscard]] const std::byte* received(std::size_t leg) const override;
  [[nodiscard]] traffic moved() const override;

 private:
  /// What is left to wait for.
  std::size_t progress();
  [[nodiscard]] std::size_t missing() const;
  void wait_for(bool arrival_only);
  [[nodiscard]] int awaited_peer() const;

  team& team_;
  tasks* workers_;
  copy_batch copies_;
  std::vector<const std::byte*> own_;  // by leg
  std::uint64_t own_bytes_ = 0;
  std::vector<std::unique_ptr<polled_carrier>> parts_;  // those first that others wait for
};

// A rank that is its own neighbour in a direction is so on the other side as well: both messages of
// the leg are one copy.
void mixed_carrier::take_own(halo_round& round) {
  for (std::size_t leg = 0; leg < round.size(); ++leg) {
    auto& [direction, out, in] = round[leg];
    if (out.peer != team_.rank()) continue;
    bool fits = in.peer == team_.rank() && in.parts.size() == out.parts.size();
    for (std::size_t i = 0; fits && i < in.parts.size(); ++i)
      fits = in.parts[i].extents == out.parts[i].extents;
    if (!fits)
      fail(errc::usage, "rank {} is its own neighbour, and its cells do not fit its own halo",
           team_.rank());
    for (std::size_t i = 0; i < out.parts.size(); ++i) copies_.add(in.parts[i], out.parts[i]);
    own_[leg] = in.dense();
    own_bytes_ += out.size_bytes();
    out = in = {};
  }
}

// Others wait for what leaves here: that goes first, and what arrived meanwhile is taken last.
void mixed_carrier::start() {
  for (const auto& part : parts_) part->start();
  copies_.run(workers_);
  for (const auto& part : parts_) part->progress();
}

std::size_t mixed_carrier::progress() {
  std::size_t left = 0;
  for (const auto& part : parts_) {
    part->progress();
    left += part->missing() + part->untaken();
  }
  return left;
}

std::size_t mixed_carrier::missing() const {
  std::size_t missing = 0;
  for (const auto& part : parts_) missing += part->missing();
  return missing;
}

int mixed_carrier::awaited_peer() const {
  for (const auto& part : parts_)
    if (part->missing() + part->untaken() > 0) return part->awaited_peer();
  return -1;
}

void mixed_carrier::wait_for(bool arrival_only) {
  const auto is_over = [&](std::size_t left) {
    return left == 0 || (arrival_only && missing() == 0);
  };
  for (std::size_t left = progress(); !is_over(left);) {
    // The deadline runs from the last step forward.
    const std::size_t before = left;
    for (waiter waiting(team_, "a halo message", awaited_peer());; waiting.pause()) {
      left = progress();
      if (left != before || is_over(left)) break;
    }
  }
}

const std::byte* mixed_carrier::received(std::size_t leg) const {
  if (own_[leg] != nullptr) return own_[leg];
  for (const auto& part : parts_)
    if (const std::byte* const found = part->received(leg)) return found;
  return nullptr;
}

traffic mixed_carrier::moved() const {
  traffic all;
  all.payload_bytes = own_bytes_;
  for (const auto& part : parts_) all += part->moved();
  return all;
}

// Whether any rank has a message left. Where all can be answered from what every rank knows, none
// is asked.
bool any_left(team& ranks, const std::vector<halo_round>& rounds) {
  if (ranks.size() == 1) return false;
  bool left = false;
  for (const auto& round : rounds)
    for (const auto& leg : round) left = left || leg.outgoing.exists() || leg.incoming.exists();
  return ranks.allreduce_value<int>(left, reduction::max) != 0;
}

// Whether any rank has memory that its neighbours can read: these talk to all theirs, whether these
// have some or not.
bool any_readable(team& ranks, const carrier_options& options) {
  return ranks.allreduce_value<int>(!options.readable.empty(), reduction::max) != 0;
}

#ifdef LONGSHORE_HAVE_MPI
// The messages of a round between ranks of one node; they are taken out of it.
halo_round take_near(const team& ranks, halo_round& round) {
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

std::vector<std::unique_ptr<message_carrier>> make_mixed_carriers(halo_mode mode,
                                                                  const rank_grid& grid,
                                                                  std::vector<halo_round> rounds,
                                                                  const carrier_options& options) {
  team& ranks = grid.ranks();
  std::vector<std::unique_ptr<mixed_carrier>> mixed;
  for (auto& round : rounds) {
    mixed.push_back(std::make_unique<mixed_carrier>(ranks, round, options.workers));
    mixed.back()->take_own(round);
  }
  const bool can_lend =
      options.delivery == halo_delivery::unpacked && ranks.nodes().largest_node() > 1;
  if (can_lend && (mode == halo_mode::direct || any_readable(ranks, options))) {
    const auto wanted = [mode](const halo_message& message) {
      return mode == halo_mode::direct ||
             (message.dense() != nullptr && message.size_bytes() >= least_lent_bytes);
    };
    auto direct = take_direct(grid, rounds, options, wanted);
    for (std::size_t r = 0; r < rounds.size(); ++r) mixed[r]->add(std::move(direct[r]));
  }
  // On threads all of one node was read directly then: nobody needs to be asked.
  const bool all_direct = mode == halo_mode::direct && can_lend &&
                          ranks.transport_name() == "threads" && ranks.nodes().node_count() == 1;
  if (!all_direct && any_left(ranks, rounds)) {
    std::vector<halo_round> near;
#ifdef LONGSHORE_HAVE_MPI
    if (ranks.transport_name() == "mpi" && options.delivery == halo_delivery::unpacked) {
      for (auto& round : rounds) near.push_back(take_near(ranks, round));
      if (any_left(ranks, rounds)) {
        auto posted = mpi::make_posted(grid, rounds, options);
        for (std::size_t r = 0; r < rounds.size(); ++r) mixed[r]->add(std::move(posted[r]));
      }
      rounds = std::move(near);
    }
#endif
    if (any_left(ranks, rounds))
      for (std::size_t r = 0; r < rounds.size(); ++r)
        if (!is_within_ranks(grid, rounds[r]))
          mixed[r]->add(std::make_unique<channel_carrier>(ranks, rounds[r], options));
  }
  return {std::make_move_iterator(mixed.begin()), std::make_move_iterator(mixed.end())};
}

}  // namespace longshore::detail
