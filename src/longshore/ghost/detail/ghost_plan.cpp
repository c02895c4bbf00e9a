// Makes the programs and movers of a strategy, and runs the rounds of an operation.
#include <longshore/ghost/detail/ghost_plan.hpp>

#include <longshore/core/error.hpp>
#include <longshore/ghost/detail/link_mover.hpp>
#include <longshore/ghost/detail/node_aware.hpp>
#include <longshore/machine/memory_sizes.hpp>
#include <longshore/transport/waiter.hpp>

#include <algorithm>
#include <limits>
#include <set>

namespace longshore::detail {
namespace {

// Returns the bytes of the elements of all links.
std::size_t payload_of(std::span<const ghost_link> links, std::span<const ghost_memory> fields) {
  std::size_t elements = 0, bytes = 0;
  for (const auto& link : links) elements += link.owned.size();
  for (const auto& field : fields) bytes += elements * field.element_bytes;
  return bytes;
}

// Throws if this rank has too little memory for its messages, or if they are too long for MPI.
void check_messages(const team& ranks, std::span<const ghost_program* const> programs,
                    std::span<const ghost_memory> fields, bool is_mpi) {
  constexpr std::size_t max_mpi_bytes = std::numeric_limits<int>::max(),
                        checked_from_bytes = std::size_t{1} << 20;
  std::size_t element_bytes = 0, total = 0;
  for (const auto& field : fields) element_bytes += field.element_bytes;
  const auto bytes_of = [&](const auto& messages) {
    std::size_t bytes = 0;
    for (const auto& message : messages) {
      if (is_mpi ? message.peer == ranks.rank() : ranks.nodes().is_local(message.peer)) continue;
      // Each field may need padding of up to a cache line.
      for (const auto& part : message.parts)
        bytes += part.elements.size() * element_bytes + fields.size() * cache_line_bytes;
    }
    if (is_mpi && bytes > max_mpi_bytes)
      fail(errc::unsupported,
           "the ghost messages of rank {} have {} bytes, and an MPI strategy can send and receive "
           "{}: use another strategy, or fewer fields in a plan",
           ranks.rank(), bytes, max_mpi_bytes);
    return bytes;
  };
  for (const auto* program : programs)
    for (const auto& round : program->rounds)
      total += bytes_of(round.outgoing) + bytes_of(round.incoming);
  if (total < checked_from_bytes) return;
  const std::size_t available =
      available_memory_bytes() / static_cast<std::size_t>(ranks.nodes().ranks_on_my_node());
  if (total > available)
    fail(errc::out_of_memory,
         "the ghost messages of rank {} have {} bytes, and {} bytes are available to it: use fewer "
         "fields in a plan, or fewer ranks per node",
         ranks.rank(), total, available);
}

// Returns whether a plan has gateways. On a single node, node-aware strategies are like direct.
bool is_node_aware(ghost_strategy strategy, const team& ranks) {
  return (strategy == ghost_strategy::node_aware_2 || strategy == ghost_strategy::node_aware) &&
         ranks.nodes().node_count() > 1;
}

}  // namespace

ghost_plan::ghost_plan(const ghost_links& links, ghost_strategy strategy,
                       const ghost_options& options, std::vector<ghost_memory> fields,
                       plan_arguments arguments)
    : ranks_(links.ranks()),
      fields_(std::move(fields)),
      is_mpi_(is_mpi_strategy(strategy)),
      memory_(ranks_, fields_, links.owned(), links.ghosts()),
      context_{ranks_, fields_, memory_.memories()} {
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    if (links.owned() > 0) watch_.add(i, fields_[i].owned);
    if (links.ghosts() > 0) watch_.add(i, fields_[i].ghosts);
  }
  ghost_program update, accumulate;
  auto to_neighbours = links.neighbours();
  std::optional<node_aware_planner> node_aware;
  const auto settle = [&](const agreed_numbers& largest) { arguments.agree(ranks_, largest); };
  if (is_node_aware(strategy, ranks_)) {
    if (messenger::has_channels(ranks_)) {  // opening channels is collective
      to_neighbours->agree(arguments.numbers(), settle);
      arguments = {};
    }
    node_aware.emplace(links, strategy == ghost_strategy::node_aware_2 ? 2 : 3, options);
    to_neighbours = node_aware->mates();
    auto requests = to_neighbours->exchange(node_aware->requests(), arguments.numbers(), settle);
    arguments = {};
    auto programs = node_aware->plan(std::move(requests));
    update = std::move(programs.update);
    accumulate = std::move(programs.accumulate);
    arguments.attempt([&] { memory_.add_buffers(programs.buffer_elements); });
  } else {
    if (options.updates) update = direct_update(links);
    if (options.accumulates) accumulate = direct_accumulate(links);
  }
  const bool is_direct = !is_mpi_ && strategy != ghost_strategy::standard;
  if (is_direct && ranks_.nodes().largest_node() > 1)
    direct_peers_.emplace(ranks_, to_neighbours, fields_, memory_.memories(), memory_.elements(),
                          update.rounds.size() + accumulate.rounds.size());
  const ghost_program* const programs[] = {&update, &accumulate};
  // The ranks agree after this check, so that all refuse a plan that one rank cannot make.
  if (is_mpi_ || are_posted_between_nodes(ranks_))
    arguments.attempt([&] { check_messages(ranks_, programs, fields_, is_mpi_); });
  using messages = std::vector<std::vector<std::byte>>;
  auto [has_channels, places] =
      agree(*to_neighbours, arguments, programs, node_aware ? node_aware->places() : messages{});
  if (node_aware) node_aware->complete(update, accumulate, std::move(places));
  const auto prepare = [&](ghost_operation operation, ghost_program& program,
                           std::span<const ghost_link> giving, std::size_t first_round) {
    auto& prepared = operations_[static_cast<std::size_t>(operation)];
    prepared.is_prepared = !program.rounds.empty();
    prepared.payload_bytes = payload_of(giving, fields_);
    if (!is_mpi_) cut(program);
    prepared.rounds = make_movers(strategy, program, first_round);
  };
  prepare(ghost_operation::update, update, links.to_readers(), 0);
  prepare(ghost_operation::accumulate, accumulate, links.to_owners(), update.rounds.size());
  if (has_channels) open_channels();
  count_neighbours(programs);
  ops_.reserve(fields_.size());
  combiners_.reserve(fields_.size());
}

ghost_plan::~ghost_plan() {
  if (current_ != nullptr && direct_peers_) direct_peers_->abandon_signals();
}

// Agrees on the arguments, and on whether any rank needs channels. Takes one exchange, which also
// carries the attachments, and a second one if ranks of a node share a plan for the first time.
ghost_plan::agreement ghost_plan::agree(messenger& neighbours, const plan_arguments& arguments,
                                        std::span<const ghost_program* const> programs,
                                        const std::vector<std::vector<std::byte>>& attachments) {
  using enum plan_arguments::number;
  const auto channels_needed = [&](bool has_mapped) {
    return !is_mpi_ && any_needs_channel(programs, has_mapped) ? 1 : 0;
  };
  auto numbers = arguments.numbers();
  agreed_numbers result{};
  const auto settle = [&](const agreed_numbers& largest) {
    arguments.agree(ranks_, largest);
    result = largest;
  };
  numbers[needs_channels] = channels_needed(false);
  if (!direct_peers_) {
    neighbours.agree(numbers, settle);
    return {result[needs_channels] != 0, {}};
  }
  numbers[must_confirm] = direct_peers_->knows_reach() ? 0 : 1;
  auto received = direct_peers_->exchange(numbers, settle, attachments);
  if (result[must_confirm] != 0) {
    numbers.assign(numbers.size(), 0);
    numbers[needs_channels] = channels_needed(true);
    direct_peers_->confirm(numbers, settle);
  }
  return {result[needs_channels] != 0, std::move(received)};
}

// Returns whether a message of this rank needs a channel. Without `has_mapped`, only outgoing
// messages count, because the peers have not described their memory yet.
bool ghost_plan::any_needs_channel(std::span<const ghost_program* const> programs,
                                   bool has_mapped) const {
  const bool posts = are_posted_between_nodes(ranks_);
  const auto needs = [&](const auto& message, const auto& is_direct) {
    if (message.peer == ranks_.rank() || (posts && !ranks_.nodes().is_local(message.peer)))
      return false;
    const auto* const peer = direct_peers_ ? direct_peers_->find(message.peer) : nullptr;
    return peer == nullptr || !is_direct(*peer);
  };
  for (const auto* program : programs)
    for (const auto& round : program->rounds) {
      for (const auto& out : round.outgoing)
        if (needs(out, [&](const direct_peer& peer) { return peer.is_read(out); })) return true;
      if (!has_mapped) continue;
      for (const auto& in : round.incoming)
        if (needs(in, [&](const direct_peer& peer) { return peer.can_read(in); })) return true;
    }
  return false;
}

void ghost_plan::cut([[maybe_unused]] ghost_program& program) const {
#ifdef LONGSHORE_HAVE_MPI
  if (!are_posted_between_nodes(ranks_)) return;
  std::size_t element_bytes = 0;
  for (const auto& field : fields_) element_bytes += field.element_bytes;
  const std::size_t max_elements =
      std::max<std::size_t>(1, mpi::longest_posted_message() / element_bytes);
  for (auto& round : program.rounds) round = cut_messages(round, ranks_.nodes(), max_elements);
#endif
}

std::vector<std::unique_ptr<mover>> ghost_plan::make_movers(
    [[maybe_unused]] ghost_strategy strategy, const ghost_program& program,
    std::size_t first_round) {
  std::vector<std::unique_ptr<mover>> movers;
  for (const auto& round : program.rounds) {
#ifdef LONGSHORE_HAVE_MPI
    if (is_mpi_strategy(strategy)) {
      movers.push_back(mpi::make_ghost_mover(strategy, context_, round));
      continue;
    }
#endif
    auto one = std::make_unique<link_mover>(
        context_, round, direct_peers_ ? &*direct_peers_ : nullptr, first_round + movers.size());
    link_movers_.push_back(one.get());
    movers.push_back(std::move(one));
  }
  return movers;
}

// The channels of all rounds are opened together. Both ends of a channel list the rounds in the same
// order.
void ghost_plan::open_channels() {
  std::vector<channel_end> to, from;
  for (const auto* mover : link_movers_) mover->add_channels(to, from);
  channels_ = ranks_.open_channels(to, from, link_mover::slots_per_channel);
  std::size_t sender = 0, receiver = 0;
  for (auto* mover : link_movers_) mover->take_channels(*channels_, sender, receiver);
}

void ghost_plan::count_neighbours(std::span<const ghost_program* const> programs) {
  std::set<int> neighbours;
  for (const auto* program : programs)
    for (const auto& round : program->rounds) {
      for (const auto& out : round.outgoing) neighbours.insert(out.peer);
      for (const auto& in : round.incoming) neighbours.insert(in.peer);
    }
  neighbours.erase(ranks_.rank());
  neighbours_ = neighbours.size();
}

void ghost_plan::start(ghost_operation operation, std::span<const ghost_op> operations) {
  if (current_ != nullptr)
    fail(errc::usage, "a ghost exchange was started while it is in flight: call wait() in between");
  auto& prepared = operations_[static_cast<std::size_t>(operation)];
  const bool is_update = operation == ghost_operation::update;
  if (!prepared.is_prepared)
    fail(errc::usage, "the ghost plan was made without {}: set ghost_options::{}",
         is_update ? "updates" : "accumulates", is_update ? "updates" : "accumulates");
  watch_.check();
  if (direct_peers_) direct_peers_->check_mapped();
  ops_.clear();
  combiners_.clear();
  if (!is_update) {
    if (operations.size() != 1 && operations.size() != fields_.size())
      fail(errc::usage, "{} operations for a ghost plan of {} fields: give one, or one per field",
           operations.size(), fields_.size());
    for (std::size_t f = 0; f < fields_.size(); ++f) {
      const auto& op = ops_.emplace_back(operations[operations.size() == 1 ? 0 : f]);
      combiners_.push_back({op.loop_for(*fields_[f].type), op.state().get()});
      if (combiners_.back().loop == nullptr)
        fail(errc::usage,
             "the type of field {} of a ghost plan does not have the operation: give a function of "
             "the field's type by ghost_op::of",
             f);
    }
  }
  current_ = &prepared;
  current_round_ = 0;
  start_round();
}

// Continues the rounds that have begun, and returns whether all rounds are done. A round whose
// messages have arrived may still have to send.
bool ghost_plan::progress() {
  auto& rounds = current_->rounds;
  while (true) {
    bool are_done = true;
    for (std::size_t r = 0; r <= current_round_; ++r) {
      if (!rounds[r]->is_done()) rounds[r]->progress();
      are_done = are_done && rounds[r]->is_done();
    }
    if (current_round_ + 1 == rounds.size()) {
      if (are_done) current_ = nullptr;
      return are_done;
    }
    if (!rounds[current_round_]->has_arrived()) return false;
    ++current_round_;
    start_round();
  }
}

// The last round of an accumulate combines; combiners_ is empty in an update.
void ghost_plan::start_round() {
  const bool is_last = current_round_ + 1 == current_->rounds.size();
  current_->rounds[current_round_]->start(is_last ? std::span<const combiner>(combiners_)
                                                  : std::span<const combiner>());
}

bool ghost_plan::test() { return current_ == nullptr || progress(); }

int ghost_plan::awaited_peer() const {
  for (std::size_t r = 0; r <= current_round_; ++r)
    if (!current_->rounds[r]->is_done()) return current_->rounds[r]->awaited_peer();
  return -1;
}

void ghost_plan::wait() {
  if (current_ == nullptr)
    fail(errc::usage, "wait() on a ghost exchange that was not started: start an operation first");
  if (progress()) return;
  for (waiter waiting(ranks_, "a ghost message", awaited_peer()); !progress(); waiting.pause()) {
  }
}

traffic ghost_plan::moved(ghost_operation operation) const {
  const auto& prepared = operations_[static_cast<std::size_t>(operation)];
  traffic total;
  if (prepared.is_prepared) total.payload_bytes = prepared.payload_bytes;
  for (const auto& round : prepared.rounds) total += round->moved();
  return total;
}

std::size_t ghost_plan::memory_bytes() const {
  std::size_t bytes = sizeof(*this) + memory_.buffer_bytes();
  for (const auto& operation : operations_)
    for (const auto& round : operation.rounds) bytes += round->memory_bytes();
  return bytes;
}

}  // namespace longshore::detail
