// Chooses the strategy for `automatic`. Makes a plan of each candidate on scratch memory, times the
// plans by turns, and returns the fastest strategy.
#include <longshore/ghost/detail/ghost_plan.hpp>
#include <longshore/transport/detail/fastest_by_turns.hpp>
#include <longshore/transport/detail/scratch_memory.hpp>
#include <longshore/transport/shareable_memory.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <utility>

namespace longshore::detail {
namespace {

constexpr int updates_per_trial = 4;

// Scratch memory with the number of elements and the stride of one memory of a field. The scratch
// memory is shareable if the field's memory is.
class scratch_elements {
 public:
  scratch_elements(const team& ranks, const std::byte* like, std::ptrdiff_t stride_bytes,
                   std::size_t elements, std::size_t element_bytes) {
    if (elements == 0) return;
    const auto stride = static_cast<std::size_t>(std::abs(stride_bytes));
    const std::size_t bytes = (elements - 1) * stride + element_bytes;
    memory_.emplace(ranks, bytes, find_shareable(like).has_value());
    first_ = memory_->data();
    if (stride_bytes < 0) first_ += (elements - 1) * stride;
  }
  [[nodiscard]] std::byte* first() const noexcept { return first_; }

 private:
  std::optional<scratch_memory> memory_;
  std::byte* first_ = nullptr;
};

}  // namespace

ghost_strategy choose_ghost_strategy(const ghost_links& links, std::span<const ghost_memory> fields,
                                     plan_arguments& arguments) {
  team& ranks = links.ranks();
  const auto& nodes = ranks.nodes();
  std::vector<ghost_strategy> candidates = {ghost_strategy::direct};
  if (ranks.size() > 1 && !ranks.is_one_process() && nodes.largest_node() > 1)
    candidates.push_back(ghost_strategy::standard);
  if (nodes.node_count() > 1 && nodes.largest_node() > 1)
    for (const auto candidate : {ghost_strategy::node_aware_2, ghost_strategy::node_aware})
      candidates.push_back(candidate);
  if (ranks.transport_name() == "mpi" && nodes.node_count() > 1)
    candidates.push_back(ghost_strategy::mpi_persistent);
  if (candidates.size() == 1) return candidates[0];

  std::vector<scratch_elements> scratch;
  std::vector<ghost_memory> scratch_fields(fields.begin(), fields.end());
  const auto room = [](const auto& places, std::size_t elements) {
    return places && !places->empty() ? *std::ranges::max_element(*places) + std::size_t{1}
                                      : elements;
  };
  arguments.attempt([&] {
    for (auto& field : scratch_fields) {
      field.owned = scratch
                        .emplace_back(ranks, field.owned, field.owned_stride_bytes,
                                      room(field.owned_places, links.owned()), field.element_bytes)
                        .first();
      field.ghosts =
          scratch
              .emplace_back(ranks, field.ghosts, field.ghost_stride_bytes,
                            room(field.ghost_places, links.ghosts()), field.element_bytes)
              .first();
    }
  });
  std::vector<std::unique_ptr<exchange_plan>> plans;
  const auto update = [&](std::size_t i) {
    plans[i]->start(std::array{program_update}, {});
    plans[i]->wait();
  };
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    plans.push_back(make_ghost_plan(links, candidates[i], {.accumulates = false}, scratch_fields,
                                    std::exchange(arguments, {})));
    update(i);  // the first update is not timed
  }
  return candidates[fastest_by_turns(ranks, candidates.size(), [&](std::size_t i) {
    for (int k = 0; k < updates_per_trial; ++k) update(i);
  })];
}

}  // namespace longshore::detail
