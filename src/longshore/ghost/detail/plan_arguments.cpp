// Finds errors of one rank, and differences between ranks.
#include <longshore/ghost/detail/plan_arguments.hpp>

#include <longshore/core/error.hpp>
#include <longshore/core/random.hpp>
#include <longshore/transport/agree_on_errors.hpp>

#include <fmt/core.h>

#include <string>

namespace longshore::detail {
namespace {

std::string text_of(const ghost_options& options, std::span<const ghost_memory> fields) {
  std::string text = fmt::format("strategy {},{}{} {} fields of", name_of(options.strategy),
                                 options.updates ? " updates," : "",
                                 options.accumulates ? " accumulates," : "", fields.size());
  for (const auto& field : fields) text += fmt::format(" {}", field.element_bytes);
  return text + " bytes";
}

std::int64_t fingerprint_of(const ghost_options& options, std::span<const ghost_memory> fields) {
  std::uint64_t hash = 0;
  const auto add = [&hash](std::uint64_t number) { hash = mix_bits(hash ^ number); };
  add(static_cast<std::uint64_t>(options.strategy));
  add((options.updates ? 1u : 0u) + (options.accumulates ? 2u : 0u));
  for (const auto& field : fields) {
    add(field.element_bytes);
    if (field.type != nullptr) hash = hash_of(field.type->type->name(), hash);
  }
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

}  // namespace

plan_arguments::plan_arguments(const ghost_graph& graph, const ghost_options& options,
                               std::span<const ghost_memory> fields)
    : options_(&options), fields_(fields), fingerprint_(fingerprint_of(options, fields)) {
  attempt([&] { check_fields(graph, options, fields); });
}

void plan_arguments::agree(team& ranks, const agreed_numbers& largest) const {
  if (largest[0] == 0 && largest[1] == -largest[2]) return;
  const auto first_fingerprint = ranks.broadcast_value(fingerprint_);
  agree_on_first_error(ranks, "a ghost plan", [&] {
    if (error_) std::rethrow_exception(error_);
    if (fingerprint_ != first_fingerprint)
      fail(
          errc::usage,
          "rank {} makes a ghost plan with {}, which differs from that of rank 0 in its options or "
          "in the types of its fields",
          ranks.rank(), text_of(*options_, fields_));
  });
}

}  // namespace longshore::detail
