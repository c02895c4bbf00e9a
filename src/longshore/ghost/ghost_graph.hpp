// A graph says which rank needs which elements of which rank. It is made once, and used by plans
// for any fields (ghost_exchange.hpp).
//
//     longshore::ghost_graph graph(team, owned, ghosts);  // ghosts: global indices
#pragma once

#include <longshore/array/distribution.hpp>
#include <longshore/core/detail/shared_function.hpp>
#include <longshore/core/error.hpp>
#include <longshore/transport/team.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

namespace longshore {

/// Global indices for one call: any range of integers converts to this type. Contiguous integers of
/// 64 bits are read where they lie; others are copied. An index must be from 0 to 2^63 - 1. The
/// call refuses negative indices. It reads a larger unsigned index as negative, and so refuses
/// that, too.
class global_indices {
 public:
  template <std::ranges::input_range Range>
  requires(std::integral<std::ranges::range_value_t<Range>> &&
           !std::same_as<std::remove_cv_t<std::ranges::range_value_t<Range>>, bool>)
      // NOLINTNEXTLINE(google-explicit-constructor): a list of indices is given as it is
      global_indices(Range&& indices) {
    using index = std::ranges::range_value_t<Range>;
    if constexpr (std::ranges::contiguous_range<Range> && std::ranges::sized_range<Range> &&
                  sizeof(index) == sizeof(std::int64_t)) {
      // The compiler may assume that long and long long do not alias. The fence makes it store all
      // integers that this rank wrote. (<atomic> has it, too, but takes long to compile.)
      __atomic_signal_fence(__ATOMIC_SEQ_CST);
      values_ = {reinterpret_cast<const std::int64_t*>(std::ranges::data(indices)),
                 static_cast<std::size_t>(std::ranges::size(indices))};
    } else {
      for (const auto i : indices) copies_.push_back(static_cast<std::int64_t>(i));
      values_ = copies_;
    }
  }
  global_indices(const global_indices&) = delete;
  global_indices& operator=(const global_indices&) = delete;

  [[nodiscard]] std::span<const std::int64_t> values() const noexcept { return values_; }
  [[nodiscard]] std::size_t size() const noexcept { return values_.size(); }

 private:
  std::vector<std::int64_t> copies_;
  std::span<const std::int64_t> values_;
};

namespace detail {

class ghost_links;
/// Collective. Returns the owners of global indices. Throws if an index of this rank is invalid,
/// possibly on some ranks only. `owners` is empty unless the program gives it.
using locate_ghosts = shared_function<std::vector<location>(
    team& ranks, std::span<const std::int64_t> indices, std::span<const int> owners)>;
/// How a graph finds the owners of its ghosts. It is empty if the program gives owners and offsets.
struct ghost_locator {
  locate_ghosts find = {};
  bool takes_owners = false;
  explicit operator bool() const noexcept { return static_cast<bool>(find); }
};
/// Throws errc::usage for an index that no rank owns.
[[noreturn]] void refuse_ghost_index(int rank, std::size_t ghost, std::int64_t index,
                                     std::uint64_t size);
[[noreturn]] void refuse_empty_graph();

}  // namespace detail

/// The ghosts of all ranks: copies of elements that other ranks own. A rank has `owned` elements,
/// numbered from 0, and a list of ghosts in any order. A ghost may be listed twice, and may be an
/// element of the rank itself. A rank may own no elements, and may have no ghosts.
///
/// Copies of an object share one graph, which does not change. Making a graph is collective.
/// Destroying its last copy or plan is collective, too.
///
/// Ranks find each other without a list of all ranks. The owners of the ghosts learn who needs them
/// from one message per neighbour. On few ranks, an alltoall of a byte per rank announces these
/// messages. On many ranks, a dynamic sparse data exchange (T. Hoefler, C. Siebert, A. Lumsdaine,
/// PPoPP 2010) announces them, and accesses the owners only. Memory per rank: 8 to 12 bytes per
/// ghost, at both ends. On 64 ranks and more, 8 KiB per neighbour are added.
///
/// If the arguments of any rank are wrong, all ranks throw errc::usage with the rank and the index.
class ghost_graph {
 public:
  /// An empty graph, to which a graph can be assigned. Its other functions throw errc::usage.
  ghost_graph() = default;
  /// Whether this is a graph, and not empty.
  explicit operator bool() const noexcept { return static_cast<bool>(links_); }
  /// Collective. Takes ghosts by owner: `ghosts[i].offset` is the number of the element there.
  ghost_graph(team& ranks, std::uint64_t owned, std::span<const location> ghosts);
  /// Collective. Takes ghosts by global indices. They number the elements of rank 0 first, then
  /// those of rank 1, and so on. Needs 8 bytes per rank of the team.
  ghost_graph(team& ranks, std::uint64_t owned, const global_indices& ghosts);
  /// Collective. Takes ghosts by global indices. `owned[i]` is the index of this rank's element i.
  /// Indices are any numbers that are not negative, in any order. All ranks throw if two elements
  /// have the same index, or if a ghost has no owner. A directory that is distributed over the
  /// ranks finds the owners. It needs 24 bytes per owned element, and messages between all ranks.
  ghost_graph(team& ranks, const global_indices& owned, const global_indices& ghosts);
  /// Collective. Like the constructor above, for ghosts whose owners are known: rank `owners[i]` owns
  /// the element with index `ghosts[i]`. The ranks ask the owners where these elements are, and no
  /// directory is made. Indices need to be unique only within a rank. All ranks throw if an owner
  /// does not have the element. Takes one message to each owner and one back, besides the messages
  /// of every graph. Needs 8 bytes per owned element if the indices ascend, else 12.
  ghost_graph(team& ranks, const global_indices& owned, const global_indices& ghosts,
              std::span<const int> owners);
  /// Collective. Takes ghosts by indices of a distribution (array/): block, cyclic, block_cyclic.
  /// All ranks pass the same map.
  template <distribution_map Map>
  ghost_graph(team& ranks, const Map& map, const global_indices& ghosts)
      : ghost_graph(ranks, map.local_size(ranks.rank()), ghosts.values(), {},
                    {[map](team& team, std::span<const std::int64_t> indices,
                           std::span<const int>) { return located(team.rank(), map, indices); }}) {}

  [[nodiscard]] team& ranks() const;
  /// The number of elements that this rank owns, and the number of its ghosts.
  [[nodiscard]] std::size_t owned() const;
  [[nodiscard]] std::size_t ghosts() const;
  /// The owner of each ghost of this rank, and the number of the element there, in the order of the
  /// ghosts.
  [[nodiscard]] std::vector<location> locations() const;
  /// The other ranks that own ghosts of this rank, and the other ranks that have ghosts of this
  /// rank's elements. Both are in ascending order.
  [[nodiscard]] std::span<const int> owners() const;
  [[nodiscard]] std::span<const int> readers() const;
  /// The elements of this rank that are ghosts on `reader`, in the order of that rank's ghosts. The
  /// list is empty if `reader` has no such ghosts. `reader` may be this rank.
  [[nodiscard]] std::vector<std::uint32_t> needed_by(int reader) const;
  /// The memory of the graph on this rank.
  [[nodiscard]] std::size_t memory_bytes() const;

  /// Collective. Makes a graph of the same owned elements with other ghosts. The ghosts have the
  /// same form as in the constructor, or are given by owner. The call is cheap if few ghosts
  /// change, because only differences are sent to known neighbours.
  [[nodiscard]] ghost_graph remade(std::span<const location> ghosts) const;
  [[nodiscard]] ghost_graph remade(const global_indices& ghosts) const;
  [[nodiscard]] ghost_graph remade(const global_indices& ghosts, std::span<const int> owners) const;

  /// @cond For plans.
  [[nodiscard]] const detail::ghost_links& links() const {
    if (!links_) detail::refuse_empty_graph();
    return *links_;
  }
  /// @endcond

 private:
  explicit ghost_graph(std::shared_ptr<const detail::ghost_links> links)
      : links_(std::move(links)) {}
  ghost_graph(team& ranks, std::uint64_t owned, std::span<const std::int64_t> ghosts,
              std::span<const int> owners, const detail::ghost_locator& locator);
  [[nodiscard]] ghost_graph remade(std::span<const std::int64_t> ghosts,
                                   std::span<const int> owners, bool has_owners) const;

  template <class Map>
  static std::vector<location> located(int rank, const Map& map,
                                       std::span<const std::int64_t> indices) {
    std::vector<location> found(indices.size());
    for (std::size_t i = 0; i < indices.size(); ++i) {
      const auto index = static_cast<std::uint64_t>(indices[i]);
      if (index >= map.size()) detail::refuse_ghost_index(rank, i, indices[i], map.size());
      found[i] = map.owner_offset(index);
    }
    return found;
  }

  std::shared_ptr<const detail::ghost_links> links_;
};

}  // namespace longshore
