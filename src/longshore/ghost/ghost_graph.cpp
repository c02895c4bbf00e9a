// Makes graphs. Finds the owners of global indices by prefix sums of the numbers of elements, by a
// distributed directory, or by asking owners. ghost_links then finds the neighbours.
#include <longshore/ghost/ghost_graph.hpp>

#include <longshore/ghost/detail/ghost_links.hpp>

#include <algorithm>

namespace longshore {
namespace {

// Finds owners by the numbers of elements of all ranks. Rank r owns the indices from first[r] to
// first[r + 1] - 1.
detail::ghost_locator locator_by_prefix(std::uint64_t owned) {
  const auto first = std::make_shared<std::vector<std::uint64_t>>();
  return {[owned, first](team& ranks, std::span<const std::int64_t> indices, std::span<const int>) {
    if (first->empty()) {
      *first = ranks.allgather_value(owned);
      first->insert(first->begin(), 0);
      for (std::size_t r = 1; r < first->size(); ++r) (*first)[r] += (*first)[r - 1];
    }
    std::vector<location> locations(indices.size());
    std::size_t rank = 0;  // of the index before, which often has the same owner
    for (std::size_t i = 0; i < indices.size(); ++i) {
      const auto index = static_cast<std::uint64_t>(indices[i]);
      if (index >= first->back())
        detail::refuse_ghost_index(ranks.rank(), i, indices[i], first->back());
      if (index < (*first)[rank] || index >= (*first)[rank + 1])
        rank = static_cast<std::size_t>(std::upper_bound(first->begin(), first->end(), index) -
                                        first->begin()) -
               1;
      locations[i] = {static_cast<int>(rank), index - (*first)[rank]};
    }
    return locations;
  }};
}

}  // namespace

void detail::refuse_ghost_index(int rank, std::size_t ghost, std::int64_t index,
                                std::uint64_t size) {
  fail(errc::usage,
       "ghost {} of rank {} has index {}, and the ranks own {} elements, numbered from 0", ghost,
       rank, index, size);
}

void detail::refuse_empty_graph() {
  fail(errc::usage, "a ghost graph is empty, or was moved from: assign a graph before you use it");
}

ghost_graph::ghost_graph(team& ranks, std::uint64_t owned, std::span<const location> ghosts)
    : links_(std::make_shared<const detail::ghost_links>(
          ranks, owned, ghosts.size(),
          [&] { return std::vector<location>(ghosts.begin(), ghosts.end()); },
          detail::ghost_locator())) {}

ghost_graph::ghost_graph(team& ranks, std::uint64_t owned, const global_indices& ghosts)
    : ghost_graph(ranks, owned, ghosts.values(), {}, locator_by_prefix(owned)) {}

ghost_graph::ghost_graph(team& ranks, const global_indices& owned, const global_indices& ghosts)
    : ghost_graph(ranks, owned.size(), ghosts.values(), {},
                  detail::locator_by_directory(owned.values())) {}

ghost_graph::ghost_graph(team& ranks, const global_indices& owned, const global_indices& ghosts,
                         std::span<const int> owners)
    : ghost_graph(ranks, owned.size(), ghosts.values(), owners,
                  detail::locator_by_owners(owned.values())) {}

ghost_graph::ghost_graph(team& ranks, std::uint64_t owned, std::span<const std::int64_t> ghosts,
                         std::span<const int> owners, const detail::ghost_locator& locator)
    : links_(std::make_shared<const detail::ghost_links>(
          ranks, owned, ghosts.size(), [&] { return locator.find(ranks, ghosts, owners); },
          locator)) {}

team& ghost_graph::ranks() const { return links().ranks(); }
std::size_t ghost_graph::owned() const { return links().owned(); }
std::size_t ghost_graph::ghosts() const { return links().ghosts(); }
std::span<const int> ghost_graph::owners() const { return links().owners(); }
std::span<const int> ghost_graph::readers() const { return links().readers(); }
std::size_t ghost_graph::memory_bytes() const { return links().memory_bytes(); }

std::vector<location> ghost_graph::locations() const {
  std::vector<location> of_ghosts(ghosts());
  for (const auto& link : links().to_owners())
    for (std::size_t i = 0; i < link.ghosts.size(); ++i)
      of_ghosts[link.ghosts[i]] = {link.rank, link.owned[i]};
  return of_ghosts;
}

std::vector<std::uint32_t> ghost_graph::needed_by(int reader) const {
  const auto* const link = detail::find_link(links().to_readers(), reader);
  return link == nullptr ? std::vector<std::uint32_t>{} : link->owned.to_vector();
}

ghost_graph ghost_graph::remade(std::span<const location> ghosts) const {
  return ghost_graph(std::make_shared<const detail::ghost_links>(
      links(), ghosts.size(), false,
      [&] { return std::vector<location>(ghosts.begin(), ghosts.end()); }));
}

ghost_graph ghost_graph::remade(const global_indices& ghosts) const {
  return remade(ghosts.values(), {}, false);
}

ghost_graph ghost_graph::remade(const global_indices& ghosts, std::span<const int> owners) const {
  return remade(ghosts.values(), owners, true);
}

ghost_graph ghost_graph::remade(std::span<const std::int64_t> ghosts, std::span<const int> owners,
                                bool has_owners) const {
  return ghost_graph(std::make_shared<const detail::ghost_links>(links(), ghosts.size(), true, [&] {
    const auto& locator = links().locator();
    if (!locator || locator.takes_owners != has_owners)
      fail(errc::usage, "the ghosts of rank {} were given by {}: give the new ones so, too",
           ranks().rank(),
           !locator               ? "pairs (rank, element)"
           : locator.takes_owners ? "global indices and owners"
                                  : "global indices without owners");
    return locator.find(ranks(), ghosts, owners);
  }));
}

}  // namespace longshore
