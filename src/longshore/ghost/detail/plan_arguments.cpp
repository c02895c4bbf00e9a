// Finds wrong arguments of one rank, and arguments that differ between ranks.
#include <longshore/core/error.hpp>
#include <longshore/ghost/detail/ghost_plan.hpp>
#include <longshore/transport/agree_on_errors.hpp>

#include <fmt/core.h>

namespace longshore::detail {
namespace {

common_arguments arguments_of(const ghost_options& options, std::span<const ghost_memory> fields) {
  common_arguments same;
  same.add("strategy", name_of(options.strategy))
      .add("updates", options.updates ? "yes" : "no")
      .add("accumulates", options.accumulates ? "yes" : "no")
      .add("fields:", fields.size());
  for (const auto& field : fields)
    same.add("a field of",
             fmt::format("{} ({} bytes)", field.type != nullptr ? field.type->name() : "no type",
                         field.element_bytes));
  return same;
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

}  // namespace

plan_arguments::plan_arguments(const ghost_graph& graph, const ghost_options& options,
                               std::span<const ghost_memory> fields)
    : same_(arguments_of(options, fields)) {
  attempt([&] { check_fields(graph, options, fields); });
}

void plan_arguments::agree(team& ranks, const agreed_numbers& largest) const {
  const bool are_equal = largest[hash] == -largest[negated_hash];
  if (largest[failed] == 0 && are_equal) return;
  if (largest[failed] == 0) throw_for_other_arguments(ranks, "a ghost plan", same_);
  agree_on_error_of_lowest_rank(ranks, "a ghost plan", [&] {
    if (error_) std::rethrow_exception(error_);
  });
}

}  // namespace longshore::detail
