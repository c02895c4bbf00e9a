// Makes graphs. Finds the owners of global indices by prefix sums of the numbers of elements, or by
// a distributed directory. ghost_links then finds the neighbours.
#include <longshore/ghost/ghost_graph.hpp>

#include <longshore/ghost/detail/ghost_links.hpp>

#include <algorithm>

namespace longshore {
namespace {

// Finds owners by the numbers of elements of all ranks. Rank r owns the indices from first[r] to
// first[r + 1] - 1.
detail::ghost_locator locator_by_prefix(std::uint64_t owned) {
  const auto first = std::make_shared<std::vector<std::uint64_t>>();
  return [owned, first](team& ranks, std::span<const std::int64_t> indices) {
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
  };
}

std::shared_ptr<const detail::ghost_links> make_links(team& ranks, std::uint64_t owned,
                                                      std::span<const std::int64_t> ghosts,
                                                      const detail::ghost_locator& locator) {
  return std::make_shared<const detail::ghost_links>(
      ranks, owned, ghosts.size(), [&] { return locator(ranks, ghosts); }, locator);
}

}  // namespace

void detail::refuse_ghost_index(int rank, std::size_t ghost, std::int64_t index,
                                std::uint64_t size) {
  fail(errc::usage,
       "ghost {} of rank {} has index {}, and the ranks own {} elements, numbered from 0", ghost,
       rank, index, size);
}

ghost_graph::ghost_graph(team& ranks, std::uint64_t owned, std::span<const location> ghosts)
    : links_(std::make_shared<const detail::ghost_links>(
          ranks, owned, ghosts.size(),
          [&] { return std::vector<location>(ghosts.begin(), ghosts.end()); }, nullptr)) {}

ghost_graph::ghost_graph(team& ranks, std::uint64_t owned, std::span<const std::int64_t> ghosts)
    : links_(make_links(ranks, owned, ghosts, locator_by_prefix(owned))) {}

ghost_graph::ghost_graph(team& ranks, std::span<const std::int64_t> owned,
                         std::span<const std::int64_t> ghosts)
    : links_(make_links(ranks, owned.size(), ghosts, detail::locator_by_directory(owned))) {}

ghost_graph::ghost_graph(team& ranks, std::uint64_t owned, std::span<const std::int64_t> ghosts,
                         detail::ghost_locator locate)
    : links_(make_links(ranks, owned, ghosts, locate)) {}

team& ghost_graph::ranks() const noexcept { return links_->ranks(); }
std::size_t ghost_graph::owned() const noexcept { return links_->owned(); }
std::size_t ghost_graph::ghosts() const noexcept { return links_->ghosts(); }
std::span<const int> ghost_graph::owners() const noexcept { return links_->owners(); }
std::span<const int> ghost_graph::readers() const noexcept { return links_->readers(); }
std::size_t ghost_graph::memory_bytes() const noexcept { return links_->memory_bytes(); }

std::vector<std::uint32_t> ghost_graph::needed_by(int reader) const {
  const auto* const link = detail::find_link(links_->to_readers(), reader);
  return link == nullptr ? std::vector<std::uint32_t>{} : link->owned.to_vector();
}

ghost_graph ghost_graph::remade(std::span<const location> ghosts) const {
  return ghost_graph(std::make_shared<const detail::ghost_links>(
      *links_, ghosts.size(), [&] { return std::vector<location>(ghosts.begin(), ghosts.end()); }));
}

ghost_graph ghost_graph::remade(std::span<const std::int64_t> ghosts) const {
  return ghost_graph(std::make_shared<const detail::ghost_links>(*links_, ghosts.size(), [&] {
    if (!links_->locator())
      fail(errc::usage,
           "the ghosts of rank {} were given by pairs (rank, element): give the new "
           "ones by pairs, too",
           links_->ranks().rank());
    return links_->locator()(links_->ranks(), ghosts);
  }));
}

}  // namespace longshore
