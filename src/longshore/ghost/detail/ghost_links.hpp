// The links of a graph. A link says which elements of an owner are which ghosts of another rank.
// Both ranks know both lists.
#pragma once

#include <longshore/array/distribution.hpp>
#include <longshore/exchange/detail/agreement/messenger.hpp>
#include <longshore/exchange/detail/elements/index_list.hpp>
#include <longshore/ghost/ghost_graph.hpp>
#include <longshore/transport/detail/handshake_message.hpp>
#include <longshore/transport/team.hpp>

#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <vector>

namespace longshore::detail {

/// Ghost ghosts[k] is a copy of element owned[k]. The indices in `ghosts` ascend.
struct ghost_link {
  int rank = -1;      ///< the other rank
  index_list owned;   ///< indices of the elements, at their owner
  index_list ghosts;  ///< indices of the ghosts, at the rank that reads them
};

/// The neighbours of a rank, and the channels by which they agree on plans.
class ghost_links {
 public:
  /// Collective. `locate_all` returns the owners of the ghosts of this rank. If `locate_all` throws
  /// on some ranks, the constructor throws on all ranks.
  ghost_links(team& ranks, std::uint64_t owned, std::size_t ghosts,
              const std::function<std::vector<location>()>& locate_all, ghost_locator locator);
  /// Collective. Like the constructor above, but sends only what differs from `before`. If
  /// `is_located`, the locator finds the owners, so all ghosts are elements of their owners.
  ghost_links(const ghost_links& before, std::size_t ghosts, bool is_located,
              const std::function<std::vector<location>()>& locate_all);

  [[nodiscard]] team& ranks() const noexcept { return ranks_; }
  [[nodiscard]] std::size_t owned() const noexcept { return owned_; }
  [[nodiscard]] std::size_t ghosts() const noexcept { return ghosts_; }
  /// The links to the owners of this rank's ghosts, and to the ranks that have ghosts of this
  /// rank's elements. Both lists are sorted by rank, and may include this rank.
  [[nodiscard]] std::span<const ghost_link> to_owners() const noexcept { return to_owners_; }
  [[nodiscard]] std::span<const ghost_link> to_readers() const noexcept { return to_readers_; }
  /// The ranks of to_owners() and of to_readers(), without this rank.
  [[nodiscard]] std::span<const int> owners() const noexcept { return owners_; }
  [[nodiscard]] std::span<const int> readers() const noexcept { return readers_; }
  /// The messenger between this rank and its owners and readers. It may also reach other ranks.
  [[nodiscard]] const std::shared_ptr<messenger>& neighbours() const noexcept { return messenger_; }
  [[nodiscard]] const ghost_locator& locator() const noexcept { return locator_; }
  [[nodiscard]] std::size_t memory_bytes() const noexcept;

 private:
  [[nodiscard]] std::vector<ghost_link> links_of(std::span<const location> locations) const;
  void connect(const ghost_links* before, const std::exception_ptr& error);
  [[nodiscard]] agreed_numbers owned_and_needed() const;
  /// Returns true if it is known that all ghosts are elements of their owners.
  [[nodiscard]] bool exchange_lists(const ghost_links* before, const std::exception_ptr& error);
  void check_links(bool all_exist);
  void check_link(const ghost_link& link) const;

  team& ranks_;
  std::size_t owned_ = 0, ghosts_ = 0;
  std::vector<ghost_link> to_owners_, to_readers_;
  std::vector<int> owners_, readers_;
  std::shared_ptr<messenger> messenger_;
  ghost_locator locator_;
  bool is_located_;
};

/// Returns a locator of indices; this rank owns the indices `owned`. The first call of the locator
/// makes the directory, and must happen while `owned` exists. Each call exchanges blocks between
/// all ranks by alltoallv. Memory per rank: 24 bytes per owned element of a mean rank.
[[nodiscard]] ghost_locator locator_by_directory(std::span<const std::int64_t> owned);

/// Returns a locator of indices with owners; this rank owns the indices `owned`. The first call of
/// the locator must happen while `owned` exists. Each call sends a message to each owner, and gets
/// one back. Memory per rank: 8 bytes per owned element if the indices ascend, else 12.
[[nodiscard]] ghost_locator locator_by_owners(std::span<const std::int64_t> owned);

/// Writes a list to a message, or reads it. If edits of the list `before` are shorter than the list,
/// the message has these. Reader and writer have the same `before`.
void write_list(handshake_writer& writer, const index_list& list, const index_list& before = {});
[[nodiscard]] index_list read_list(handshake_reader& reader, const index_list& before = {});

/// Returns the link with `rank` in a list that is sorted by rank, or null if there is none.
[[nodiscard]] const ghost_link* find_link(std::span<const ghost_link> links, int rank);

}  // namespace longshore::detail
