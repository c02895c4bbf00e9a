// Makes the programs and movers of a strategy, and runs the rounds of an operation.
#include <longshore/ghost/detail/ghost_plan.hpp>

#include <longshore/core/error.hpp>
#include <longshore/ghost/detail/link_mover.hpp>
#include <longshore/ghost/detail/node_aware.hpp>
#include <longshore/transport/agree_on_errors.hpp>
#include <longshore/transport/waiter.hpp>
#ifdef LONGSHORE_HAVE_MPI
#include <longshore/ghost/detail/mpi/mpi_mover.hpp>
#endif

#include <algorithm>
#include <set>

namespace longshore::detail {
namespace {

// Over TCP, MPI sends messages of this length at once, and asks the receiver before longer ones.
constexpr std::size_t max_bytes_between_hosts = std::size_t{56} << 10;

// The bytes of the elements that a rank gives, by its links.
std::size_t payload_of(std::span<const ghost_link> links, std::span<const ghost_memory> fields) {
  std::size_t elements = 0, bytes = 0;
  for (const auto& link : links) elements += link.owned.size();
  for (const auto& field : fields) bytes += elements * field.element_bytes;
  return bytes;
}

}  // namespace

ghost_plan::ghost_plan(const ghost_links& links, ghost_strategy strategy,
                       const ghost_options& options, std::vector<ghost_memory> fields)
    : ranks_(links.ranks()),
      fields_(std::move(fields)),
      memory_(ranks_, fields_, links.owned(), links.ghosts()),
      context_{ranks_, fields_, memory_.memories()} {
  ghost_program update, accumulate;
  auto to_neighbours = links.neighbours();
  const bool is_node_aware =
      strategy == ghost_strategy::node_aware_2 || strategy == ghost_strategy::node_aware;
  if (is_node_aware && ranks_.nodes().node_count() > 1) {
    auto programs = plan_node_aware(links, strategy == ghost_strategy::node_aware_2 ? 2 : 3,
                                    options.updates, options.accumulates);
    update = std::move(programs.update);
    accumulate = std::move(programs.accumulate);
    to_neighbours = programs.node_messenger;
    agree_on_errors(ranks_, "a ghost plan", [&] {
      for (const auto elements : programs.buffer_elements) memory_.add_buffer(elements);
    });
  } else {
    if (options.updates) update = direct_update(links);
    if (options.accumulates) accumulate = direct_accumulate(links);
  }
  if (!options.updates) update.rounds.clear();
  if (!options.accumulates) accumulate.rounds.clear();
  const bool is_direct = strategy == ghost_strategy::direct || is_node_aware;
  if (is_direct && ranks_.nodes().largest_node() > 1)
    direct_peers_.emplace(ranks_, std::move(to_neighbours), fields_, memory_.memories(),
                          memory_.elements(), update.rounds.size() + accumulate.rounds.size());
  const auto prepare = [&](ghost_operation operation, const ghost_program& program,
                           std::span<const ghost_link> giving, std::size_t first_round) {
    auto& prepared = operations_[static_cast<std::size_t>(operation)];
    prepared.is_prepared = !program.rounds.empty();
    prepared.payload_bytes = payload_of(giving, fields_);
    prepared.rounds = make_movers(strategy, program, first_round);
  };
  prepare(ghost_operation::update, update, links.to_readers(), 0);
  prepare(ghost_operation::accumulate, accumulate, links.to_owners(), update.rounds.size());
  const ghost_program* const programs[] = {&update, &accumulate};
  count_neighbours(programs);
  ops_.reserve(fields_.size());
  combiners_.reserve(fields_.size());
}

std::vector<std::unique_ptr<mover>> ghost_plan::make_movers(
    ghost_strategy strategy, const ghost_program& program,
    [[maybe_unused]] std::size_t first_round) {
  std::vector<std::unique_ptr<mover>> movers;
#ifdef LONGSHORE_HAVE_MPI
  if (is_mpi_strategy(strategy)) {
    for (const auto& round : program.rounds)
      movers.push_back(mpi::make_ghost_mover(strategy, context_, round));
    return movers;
  }
#else
  (void)strategy;
#endif
  std::vector<std::int64_t> needs_channels;
  std::vector<link_mover*> made;
  std::size_t element_bytes = 0;
  for (const auto& field : fields_) element_bytes += field.element_bytes;
  const bool cuts = ranks_.transport_name() == "mpi";
  const std::size_t max_elements =
      std::max<std::size_t>(1, max_bytes_between_hosts / element_bytes);
  for (const auto& round : program.rounds) {
    auto one = std::make_unique<link_mover>(
        context_, cuts ? cut_messages(round, ranks_.nodes(), max_elements) : round,
        direct_peers_ ? &*direct_peers_ : nullptr, first_round + movers.size());
    needs_channels.push_back(one->needs_channels() ? 1 : 0);
    made.push_back(one.get());
    movers.push_back(std::move(one));
  }
  const bool is_all_direct =
      direct_peers_ && ranks_.is_one_process() && ranks_.nodes().node_count() == 1;
  if (made.empty() || ranks_.size() == 1 || is_all_direct) return movers;
  ranks_.allreduce(std::span(needs_channels), reduction::max);
  for (std::size_t i = 0; i < made.size(); ++i)
    if (needs_channels[i] != 0) made[i]->open_channels();
  return movers;
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

// Continues the rounds that have begun; returns whether all are done. A round that has arrived may
// still have to send.
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
