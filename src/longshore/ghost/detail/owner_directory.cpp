// A directory of owned elements that is distributed over the ranks. It finds the owners of global
// indices that follow no rule. The rank that has the entry of an index is computed from the index.
// Entries, questions and answers travel by alltoallv.
#include <longshore/core/error.hpp>
#include <longshore/ghost/detail/ghost_links.hpp>

#include <algorithm>
#include <memory>
#include <optional>

namespace longshore::detail {
namespace {

struct entry {
  std::int64_t index;
  std::uint64_t offset;
  std::int64_t rank;
};

// Multiplicative hashing also spreads indices that follow a pattern.
std::size_t home_of(std::int64_t index, std::size_t ranks) {
  return static_cast<std::size_t>((static_cast<std::uint64_t>(index) * 0x9e3779b97f4a7c15u >> 32) %
                                  ranks);
}

template <class T>
struct sorted_blocks {
  std::vector<T> items;
  std::vector<std::size_t> counts;     // indexed by rank
  std::vector<std::size_t> positions;  // the position of each input item in items
};

// Sorts `count` items by the rank that each goes to.
template <class T, class RankOf, class ItemOf>
sorted_blocks<T> sort_by_rank(std::size_t count, std::size_t ranks, const RankOf& rank_of,
                              const ItemOf& item_of) {
  sorted_blocks<T> blocks{std::vector<T>(count), std::vector<std::size_t>(ranks),
                          std::vector<std::size_t>(count)};
  for (std::size_t i = 0; i < count; ++i) ++blocks.counts[rank_of(i)];
  std::vector<std::size_t> next(ranks);
  for (std::size_t r = 1; r < ranks; ++r) next[r] = next[r - 1] + blocks.counts[r - 1];
  for (std::size_t i = 0; i < count; ++i) {
    blocks.positions[i] = next[rank_of(i)]++;
    blocks.items[blocks.positions[i]] = item_of(i);
  }
  return blocks;
}

template <class T>
std::vector<T> exchange(team& ranks, std::span<const T> items, std::span<const std::size_t> counts,
                        std::span<const std::size_t> incoming_counts) {
  std::size_t total = 0;
  for (const auto count : incoming_counts) total += count;
  std::vector<T> incoming(total);
  ranks.alltoallv(reinterpret_cast<const std::byte*>(items.data()), counts,
                  reinterpret_cast<std::byte*>(incoming.data()), incoming_counts, sizeof(T));
  return incoming;
}

std::vector<std::size_t> exchange_counts(team& ranks, const std::vector<std::size_t>& counts) {
  std::vector<std::size_t> incoming(counts.size());
  ranks.alltoall(std::as_bytes(std::span(counts)), std::as_writable_bytes(std::span(incoming)));
  return incoming;
}

class directory {
 public:
  // Collective. find() throws errors of the entries, after its collective calls.
  void make(team& ranks, std::span<const std::int64_t> owned) {
    const auto size = static_cast<std::size_t>(ranks.size());
    const auto blocks = sort_by_rank<entry>(
        owned.size(), size, [&](std::size_t i) { return home_of(owned[i], size); },
        [&](std::size_t i) {
          return entry{owned[i], i, ranks.rank()};
        });
    const auto incoming = exchange_counts(ranks, blocks.counts);
    entries_ = exchange<entry>(ranks, blocks.items, blocks.counts, incoming);
    std::sort(entries_.begin(), entries_.end(), [](const entry& a, const entry& b) {
      return a.index != b.index ? a.index < b.index : a.rank < b.rank;
    });
  }

  // Collective.
  std::vector<location> find(team& ranks, std::span<const std::int64_t> indices) const {
    const auto size = static_cast<std::size_t>(ranks.size());
    const auto questions = sort_by_rank<std::int64_t>(
        indices.size(), size, [&](std::size_t i) { return home_of(indices[i], size); },
        [&](std::size_t i) { return indices[i]; });
    const auto counts = exchange_counts(ranks, questions.counts);
    const auto asked = exchange<std::int64_t>(ranks, questions.items, questions.counts, counts);
    std::vector<location> found;
    found.reserve(asked.size());
    for (const auto index : asked) {
      const auto at = std::lower_bound(entries_.begin(), entries_.end(), index,
                                       [](const entry& e, std::int64_t i) { return e.index < i; });
      if (at == entries_.end() || at->index != index)
        found.push_back({-1, 0});
      else
        found.push_back({static_cast<int>(at->rank), at->offset});
    }
    const auto answers = exchange<location>(ranks, found, counts, questions.counts);
    check_entries();
    std::vector<location> locations(indices.size());
    for (std::size_t i = 0; i < indices.size(); ++i) {
      locations[i] = answers[questions.positions[i]];
      if (locations[i].rank < 0)
        fail(errc::usage, "ghost {} of rank {} has index {}, and no rank owns that element", i,
             ranks.rank(), indices[i]);
    }
    return locations;
  }

 private:
  void check_entries() const {
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const auto& e = entries_[i];
      if (e.index < 0)
        fail(errc::usage, "element {} of rank {} has index {}: indices must not be negative",
             e.offset, e.rank, e.index);
      if (i > 0 && entries_[i - 1].index == e.index)
        fail(errc::usage,
             "index {} is owned twice: by element {} of rank {} and by element {} of rank {}",
             e.index, entries_[i - 1].offset, entries_[i - 1].rank, e.offset, e.rank);
    }
  }

  std::vector<entry> entries_;  // the entries with home on this rank, sorted by index
};

}  // namespace

ghost_locator locator_by_directory(std::span<const std::int64_t> owned) {
  // Copies of the locator share the directory.
  return {[owned, made = std::make_shared<std::optional<directory>>()](
              team& ranks, std::span<const std::int64_t> indices, std::span<const int>) {
    if (!*made) made->emplace().make(ranks, owned);
    return (*made)->find(ranks, indices);
  }};
}

}  // namespace longshore::detail
