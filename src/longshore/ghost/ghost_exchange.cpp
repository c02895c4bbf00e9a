// Checks the arguments of a plan on all ranks together, and makes the plan of a strategy.
#include <longshore/ghost/ghost_exchange.hpp>

#include <longshore/core/error.hpp>
#include <longshore/ghost/detail/ghost_links.hpp>
#include <longshore/ghost/detail/ghost_plan.hpp>
#include <longshore/transport/agree_on_errors.hpp>

#include <fmt/core.h>

#include <string>

namespace longshore {
namespace {

// What must be the same on all ranks.
std::string text_of(const ghost_options& options, std::span<const ghost_memory> fields,
                    bool with_types) {
  std::string text = fmt::format("strategy {},{}{} {} fields of", name_of(options.strategy),
                                 options.updates ? " updates," : "",
                                 options.accumulates ? " accumulates," : "", fields.size());
  for (const auto& field : fields) {
    text += fmt::format(" {}", field.element_bytes);
    if (with_types && field.type != nullptr) text += field.type->type->name();
  }
  return text + " bytes";
}

std::int64_t fingerprint_of(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return static_cast<std::int64_t>(hash >> 2);
}

void check_fields(const ghost_graph& graph, const ghost_options& options,
                  std::span<const ghost_memory> fields) {
  const int rank = graph.ranks().rank();
  if (fields.empty()) fail(errc::usage, "a ghost exchange on rank {} has no field", rank);
  if (!options.updates && !options.accumulates)
    fail(errc::usage, "a ghost plan on rank {} is made for no operation", rank);
  if (auto reason = why_not(options.strategy, graph.ranks()))
    fail(errc::unsupported, "{}", *reason);
  for (std::size_t f = 0; f < fields.size(); ++f) {
    const auto& field = fields[f];
    if (field.element_bytes == 0 || field.type == nullptr)
      fail(errc::usage, "field {} of a ghost exchange on rank {} has no type", f, rank);
    if (field.owned == nullptr && graph.owned() > 0)
      fail(errc::usage, "field {} on rank {} has no memory for {} owned elements", f, rank,
           graph.owned());
    if (field.ghosts == nullptr && graph.ghosts() > 0)
      fail(errc::usage, "field {} on rank {} has no memory for {} ghosts", f, rank, graph.ghosts());
  }
}

// Collective: one allreduce, and more only if there is an error.
void check_plan(const ghost_graph& graph, const ghost_options& options,
                std::span<const ghost_memory> fields) {
  team& ranks = graph.ranks();
  std::exception_ptr own_error;
  try {
    check_fields(graph, options, fields);
  } catch (const error&) {
    own_error = std::current_exception();
  }
  const auto fingerprint = fingerprint_of(text_of(options, fields, true));
  std::int64_t values[] = {own_error ? 1 : 0, fingerprint, -fingerprint};
  ranks.allreduce(std::span<std::int64_t>(values), reduction::max);
  if (values[0] == 0 && values[1] == -values[2]) return;
  const auto first_fingerprint = ranks.broadcast_value(fingerprint);
  agree_on_first_error(ranks, "a ghost plan", [&] {
    if (own_error) std::rethrow_exception(own_error);
    if (fingerprint != first_fingerprint)
      fail(
          errc::usage,
          "rank {} makes a ghost plan with {}, which differs from that of rank 0 in its options or "
          "in the types of its fields",
          ranks.rank(), text_of(options, fields, false));
  });
}

}  // namespace

ghost_exchange::ghost_exchange(const ghost_graph& graph, const ghost_options& options,
                               const std::vector<ghost_memory>& fields)
    : graph_(graph), options_(options) {
  remake(graph, fields);
}

ghost_exchange::~ghost_exchange() = default;
ghost_exchange::ghost_exchange(ghost_exchange&& other) noexcept = default;
ghost_exchange& ghost_exchange::operator=(ghost_exchange&& other) noexcept = default;

void ghost_exchange::remake(const ghost_graph& graph) { remake(graph, fields_); }

void ghost_exchange::remake(const ghost_graph& graph, const std::vector<ghost_memory>& fields) {
  check_plan(graph, options_, fields);
  const auto strategy = options_.strategy == ghost_strategy::automatic
                            ? detail::choose_ghost_strategy(graph.links(), fields)
                            : options_.strategy;
  plan_ = std::make_unique<detail::ghost_plan>(graph.links(), strategy, options_, fields);
  strategy_ = strategy;
  fields_ = fields;
  graph_ = graph;
}

void ghost_exchange::start_update() { plan_->start(ghost_operation::update, {}); }
void ghost_exchange::start_accumulate(std::span<const ghost_op> operations) {
  plan_->start(ghost_operation::accumulate, operations);
}
bool ghost_exchange::test() { return plan_->test(); }
void ghost_exchange::wait() { plan_->wait(); }
traffic ghost_exchange::moved(ghost_operation operation) const { return plan_->moved(operation); }
std::size_t ghost_exchange::neighbours() const { return plan_->neighbours(); }
std::size_t ghost_exchange::memory_bytes() const { return plan_->memory_bytes(); }

}  // namespace longshore
