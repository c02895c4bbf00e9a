// Makes the plan of a strategy. The first collective call of the plan checks all arguments.
#include <longshore/ghost/ghost_exchange.hpp>

#include <longshore/ghost/detail/ghost_plan.hpp>

namespace longshore {

ghost_exchange::ghost_exchange(const ghost_graph& graph, const ghost_options& options,
                               const std::vector<ghost_memory>& fields)
    : graph_(graph), options_(options) {
  make(graph, fields);
}

ghost_exchange::ghost_exchange() = default;
ghost_exchange::~ghost_exchange() = default;
ghost_exchange::ghost_exchange(ghost_exchange&& other) noexcept = default;
ghost_exchange& ghost_exchange::operator=(ghost_exchange&& other) noexcept = default;

bool ghost_exchange::awaits_memory() const noexcept { return graph_ && !plan_; }

void ghost_exchange::remake(std::span<const location> ghosts) { remake(graph_.remade(ghosts)); }
void ghost_exchange::remake(const global_indices& ghosts) { remake(graph_.remade(ghosts)); }
void ghost_exchange::remake(const global_indices& ghosts, std::span<const int> owners) {
  remake(graph_.remade(ghosts, owners));
}
void ghost_exchange::remake(const ghost_graph& graph) { remake(graph, fields_); }

void ghost_exchange::remake(const ghost_graph& graph, const std::vector<ghost_memory>& fields) {
  if (!awaits_memory()) (void)made_plan();
  make(graph, fields);
}

detail::exchange_plan& ghost_exchange::made_plan() const {
  if (awaits_memory())
    fail(errc::usage,
         "a ghost plan has no memory yet: bind it to fields first, on all ranks, by a rebind or an "
         "update with fields");
  plan_.check_made("a ghost plan");
  return *plan_;
}

void ghost_exchange::make(const ghost_graph& graph, const std::vector<ghost_memory>& fields) {
  auto arguments = detail::check_ghost_plan(graph, options_, fields);
  const detail::ghost_links& links = graph.links();
  auto strategy = options_.strategy;
  std::unique_ptr<detail::exchange_plan> plan;
  if (fields.empty()) {  // agrees in the first call of a plan, which other ranks may make
    links.neighbours()->agree(arguments.numbers(), [&](const detail::agreed_numbers& largest) {
      arguments.agree(links.ranks(), largest);
    });
  } else {
    if (strategy == ghost_strategy::automatic)
      strategy = detail::choose_ghost_strategy(links, fields, arguments);
    plan = detail::make_ghost_plan(links, strategy, options_, fields, std::move(arguments));
  }
  plan_ = {links.ranks(), "a plan of ghosts", std::move(plan)};
  strategy_ = strategy;
  fields_ = fields;
  graph_ = graph;
}

void ghost_exchange::rebind(const std::vector<ghost_memory>& fields) {
  if (!awaits_memory()) (void)made_plan();
  plan_.check_team();
  if (awaits_memory()) return make(graph_, fields);
  if (fields.size() != fields_.size())
    fail(errc::usage, "a ghost plan of {} fields is bound to {} fields", fields_.size(),
         fields.size());
  const auto are_equal = [](const auto& a, const auto& b) {
    return a == b || (a != nullptr && b != nullptr && *a == *b);
  };
  for (std::size_t f = 0; f < fields.size(); ++f) {
    const auto &now = fields_[f], &then = fields[f];
    if (then.type != now.type || then.element_bytes != now.element_bytes)
      fail(errc::usage, "the {} field of a ghost plan is bound to memory of another type",
           detail::nth(f));
    if (!are_equal(then.owned_places, now.owned_places) ||
        !are_equal(then.ghost_places, now.ghost_places))
      fail(errc::usage,
           "the {} field of a ghost plan is bound to memory with other places: remake the plan",
           detail::nth(f));
    if ((then.owned == nullptr && graph_.owned() > 0) ||
        (then.ghosts == nullptr && graph_.ghosts() > 0))
      fail(errc::usage, "the {} field of a ghost plan is bound to no memory", detail::nth(f));
  }
  plan_->rebind(detail::memories_of(fields));
  fields_ = fields;
}

void ghost_exchange::start(std::initializer_list<ghost_operation> programs,
                           std::span<const combine_op> operations,
                           std::optional<device_stream> stream) {
  auto& plan = made_plan();
  plan_.check_team();
  std::vector<std::size_t> numbers;
  for (const auto program : programs) {
    const bool is_update = program == ghost_operation::update;
    numbers.push_back(static_cast<std::size_t>(program));
    if (!plan.has(numbers.back()))
      fail(errc::usage, "the ghost plan was made without {}: set ghost_options::{}",
           is_update ? "updates" : "accumulates", is_update ? "updates" : "accumulates");
  }
  plan.start(numbers, operations, stream);
}
void ghost_exchange::start_update(std::optional<device_stream> stream) {
  start({ghost_operation::update}, {}, stream);
}
void ghost_exchange::start_accumulate(const combine_ops& operations,
                                      std::optional<device_stream> stream) {
  start({ghost_operation::accumulate}, operations.all(), stream);
}
void ghost_exchange::start_assemble(const combine_ops& operations,
                                    std::optional<device_stream> stream) {
  start({ghost_operation::accumulate, ghost_operation::update}, operations.all(), stream);
}
bool ghost_exchange::test() { return made_plan().test(); }
void ghost_exchange::wait(std::optional<device_stream> stream) { made_plan().wait(stream); }
void ghost_exchange::update() {
  start_update();
  wait();
}
void ghost_exchange::accumulate(const combine_ops& operations) {
  start_accumulate(operations);
  wait();
}
void ghost_exchange::assemble(const combine_ops& operations) {
  start_assemble(operations);
  wait();
}
traffic ghost_exchange::moved(ghost_operation operation) const {
  return awaits_memory() ? traffic() : made_plan().moved(static_cast<std::size_t>(operation));
}
exchange_transfers ghost_exchange::transfers(ghost_operation operation) const {
  return awaits_memory() ? exchange_transfers()
                         : made_plan().transfers(static_cast<std::size_t>(operation));
}
std::size_t ghost_exchange::neighbours() const {
  return awaits_memory() ? 0 : made_plan().neighbours();
}
std::size_t ghost_exchange::memory_bytes() const {
  return awaits_memory() ? 0 : made_plan().memory_bytes();
}

}  // namespace longshore
