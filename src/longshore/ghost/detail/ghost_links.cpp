// Finds the links of a graph: sorts the ghosts of this rank by their owners, learns which ranks
// have ghosts of this rank's elements, and exchanges the lists of the links, or their changes.
#include <longshore/ghost/detail/ghost_links.hpp>

#include <longshore/core/error.hpp>
#include <longshore/transport/agree_on_errors.hpp>

#include <algorithm>
#include <exception>
#include <functional>
#include <iterator>
#include <limits>
#include <new>
#include <set>
#include <unordered_map>

namespace longshore::detail {
namespace {

constexpr std::uint64_t max_owned = std::numeric_limits<std::uint32_t>::max();

// Up to this number of ranks, each rank tells all others the largest element that it needs of each
// rank. With more ranks these numbers would leave too little room for short lists in a block.
constexpr int max_ranks_that_tell = 7;

// Returns one more than the largest number, or 0 for an empty list.
std::int64_t end_of(const index_list& list) {
  if (list.empty()) return 0;
  if (list.is_contiguous()) return list.first() + static_cast<std::int64_t>(list.size());
  const std::span indices(list.indices(), list.size());
  return std::int64_t{1} + *std::max_element(indices.begin(), indices.end());
}

// How a message gives a list: consecutive numbers, all numbers, or edits of the previous list.
enum class list_form : std::uint32_t { consecutive, complete, edited };

// Takes `count` numbers of the previous list from `begin` on. If `begin` is new_numbers, takes the
// `count` numbers that follow the edit in the message.
struct edit {
  std::uint32_t begin, count;
};
constexpr auto new_numbers = std::numeric_limits<std::uint32_t>::max();

// Returns the edits that make `after` from `before`. Runs of numbers are copied from `before` where
// possible. Returns no edits if they would be as long as the list.
std::vector<edit> edits_between(const index_list& before, const index_list& after) {
  std::unordered_map<std::uint32_t, std::uint32_t> position_of;
  position_of.reserve(before.size());
  for (std::size_t i = 0; i < before.size(); ++i)
    position_of.emplace(before[i], static_cast<std::uint32_t>(i));
  std::vector<edit> edits;
  std::size_t words = 0;
  for (std::size_t i = 0; i < after.size(); ++i) {
    edit* const last = edits.empty() ? nullptr : &edits.back();
    if (last != nullptr && last->begin != new_numbers) {
      const std::size_t next = std::size_t{last->begin} + last->count;
      if (next < before.size() && before[next] == after[i]) {
        ++last->count;
        continue;
      }
    }
    const auto found = position_of.find(after[i]);
    if (found != position_of.end()) {
      edits.push_back({found->second, 1});
      words += 2;
    } else if (last != nullptr && last->begin == new_numbers) {
      ++last->count;
      ++words;
    } else {
      edits.push_back({new_numbers, 1});
      words += 3;
    }
    if (words >= after.size()) return {};
  }
  return edits;
}

std::vector<int> ranks_of(std::span<const ghost_link> links, int without) {
  std::vector<int> ranks;
  for (const auto& link : links)
    if (link.rank != without) ranks.push_back(link.rank);
  return ranks;
}

// Calls `step`. If `step` throws because of this rank's arguments or memory, returns that error
// instead of throwing it. The ranks agree on it later.
template <class Step>
std::exception_ptr kept_error(const Step& step) {
  try {
    step();
  } catch (const error& e) {
    if (e.code() != errc::usage && e.code() != errc::out_of_memory) throw;
    return std::current_exception();
  } catch (const std::bad_alloc&) {
    return std::current_exception();
  }
  return nullptr;
}

}  // namespace

void write_list(handshake_writer& writer, const index_list& list, const index_list& before) {
  const auto count = static_cast<std::uint32_t>(list.size());
  if (list.is_contiguous()) {
    writer.add(list_form::consecutive);
    writer.add(list.first());
    writer.add(count);
    return;
  }
  const auto edits = before.empty() ? std::vector<edit>{} : edits_between(before, list);
  if (edits.empty()) {
    writer.add(list_form::complete);
    writer.add(count);
    writer.add_values(std::span(list.indices(), count));
    return;
  }
  writer.add(list_form::edited);
  writer.add(static_cast<std::uint32_t>(edits.size()));
  std::size_t i = 0;
  for (const auto& e : edits) {
    writer.add(e);
    if (e.begin == new_numbers) writer.add_values(std::span(list.indices() + i, e.count));
    i += e.count;
  }
}

index_list read_list(handshake_reader& reader, const index_list& before) {
  const auto form = reader.take<list_form>();
  if (form == list_form::consecutive) {
    const auto first = reader.take<std::uint32_t>();
    return {first, reader.take<std::uint32_t>()};
  }
  const auto count = reader.take<std::uint32_t>();
  if (form == list_form::complete) return index_list(reader.take_values<std::uint32_t>(count));
  std::vector<std::uint32_t> list;
  for (std::uint32_t n = 0; n < count; ++n) {
    const auto e = reader.take<edit>();
    if (e.begin == new_numbers) {
      const auto numbers = reader.take_values<std::uint32_t>(e.count);
      list.insert(list.end(), numbers.begin(), numbers.end());
    } else {
      for (std::uint32_t i = 0; i < e.count; ++i) list.push_back(before[e.begin + i]);
    }
  }
  return index_list(std::move(list));
}

const ghost_link* find_link(std::span<const ghost_link> links, int rank) {
  const auto link = std::lower_bound(links.begin(), links.end(), rank,
                                     [](const ghost_link& l, int r) { return l.rank < r; });
  return link == links.end() || link->rank != rank ? nullptr : &*link;
}

ghost_links::ghost_links(team& ranks, std::uint64_t owned, std::size_t ghosts,
                         const std::function<std::vector<location>()>& locate_all,
                         ghost_locator locator)
    : ranks_(ranks),
      owned_(static_cast<std::size_t>(owned)),
      ghosts_(ghosts),
      locator_(std::move(locator)),
      is_located_(locator_) {
  const auto error = kept_error([&] {
    const auto locations = locate_all();
    if (owned > max_owned)
      fail(errc::usage, "rank {} owns {} elements, and a ghost graph can have {} on a rank",
           ranks.rank(), owned, max_owned);
    to_owners_ = links_of(locations);
  });
  connect(nullptr, error);
}

ghost_links::ghost_links(const ghost_links& before, std::size_t ghosts, bool is_located,
                         const std::function<std::vector<location>()>& locate_all)
    : ranks_(before.ranks_),
      owned_(before.owned_),
      ghosts_(ghosts),
      messenger_(before.messenger_),
      locator_(before.locator_),
      is_located_(is_located) {
  connect(&before, kept_error([&] { to_owners_ = links_of(locate_all()); }));
}

// Without channels, the lists themselves tell which ranks have ghosts of this rank's elements. The
// channels of graph `before` are kept if they reach the owners of all ranks.
void ghost_links::connect(const ghost_links* before, const std::exception_ptr& error) {
  owners_ = ranks_of(to_owners_, ranks_.rank());
  if (before == nullptr || !messenger::has_channels(ranks_)) {
    messenger_ = messenger::to(ranks_, owners_);
  } else if (!messenger_->reaches(owners_)) {
    // A former owner must learn that it is no longer an owner.
    std::set<int> destinations(owners_.begin(), owners_.end());
    for (const auto* old : {&before->owners_, &before->readers_})
      destinations.insert(old->begin(), old->end());
    messenger_ = messenger::to(ranks_, std::vector(destinations.begin(), destinations.end()));
  }
  const bool all_exist = exchange_lists(before, error);
  if (!messenger::has_channels(ranks_)) {
    std::vector<int> peers;
    std::set_union(owners_.begin(), owners_.end(), readers_.begin(), readers_.end(),
                   std::back_inserter(peers));
    messenger_ = std::make_shared<messenger>(ranks_, std::move(peers));
  }
  check_links(all_exist);
}

// Consecutive ghosts often have the same owner. So runs of ghosts with one owner are sorted, not
// single ghosts.
std::vector<ghost_link> ghost_links::links_of(std::span<const location> locations) const {
  const int me = ranks_.rank();
  if (locations.size() >= new_numbers)
    fail(errc::usage, "rank {} has {} ghosts, and a ghost graph can have {} on a rank", me,
         locations.size(), new_numbers - 1);
  struct run {
    int rank;
    std::uint32_t begin, end;
  };
  std::vector<run> runs;
  for (std::size_t i = 0; i < locations.size(); ++i) {
    const auto& [rank, offset] = locations[i];
    const auto number = static_cast<std::uint32_t>(i);
    if (rank < 0 || rank >= ranks_.size())
      fail(errc::usage, "ghost {} of rank {} is element {} of rank {}: there are ranks 0 to {}", i,
           me, offset, rank, ranks_.size() - 1);
    if (offset >= max_owned)
      fail(errc::usage, "ghost {} of rank {} is element {} of rank {}, which owns fewer elements",
           i, me, offset, rank);
    if (!runs.empty() && runs.back().rank == rank)
      runs.back().end = number + 1;
    else
      runs.push_back({rank, number, number + 1});
  }
  std::stable_sort(runs.begin(), runs.end(),
                   [](const run& a, const run& b) { return a.rank < b.rank; });
  std::vector<ghost_link> links;
  for (auto first = runs.begin(); first != runs.end();) {
    const auto end =
        std::find_if(first, runs.end(), [&](const run& r) { return r.rank != first->rank; });
    std::size_t count = 0;
    for (auto r = first; r != end; ++r) count += r->end - r->begin;
    std::vector<std::uint32_t> owned(count), ghosts(count);
    std::size_t next = 0;
    for (auto r = first; r != end; ++r)
      for (std::uint32_t i = r->begin; i < r->end; ++i, ++next) {
        owned[next] = static_cast<std::uint32_t>(locations[i].offset);
        ghosts[next] = i;
      }
    links.push_back({first->rank, index_list(std::move(owned)), index_list(std::move(ghosts))});
    first = end;
  }
  return links;
}

// Returns the number of elements of each rank, and then the number that each rank must have for the
// ghosts of this rank. Of the first half this rank knows only its own number. The exchange finds
// the maxima of all ranks.
agreed_numbers ghost_links::owned_and_needed() const {
  const auto size = static_cast<std::size_t>(ranks_.size());
  agreed_numbers numbers(2 * size);
  numbers[static_cast<std::size_t>(ranks_.rank())] = static_cast<std::int64_t>(owned_);
  for (const auto& link : to_owners_)
    numbers[size + static_cast<std::size_t>(link.rank)] = end_of(link.owned);
  return numbers;
}

// A message has the two lists of a link. An empty message says that nothing has changed. The
// numbers tell whether the ghosts of this rank had an error.
bool ghost_links::exchange_lists(const ghost_links* before, const std::exception_ptr& error) {
  const auto peers = messenger_->peers();
  const ghost_link none;
  const auto link_before = [&](bool to_owner, int rank) -> const ghost_link& {
    if (before == nullptr) return none;
    const auto* const link = find_link(to_owner ? before->to_owners_ : before->to_readers_, rank);
    return link == nullptr ? none : *link;
  };
  std::vector<std::vector<std::byte>> messages;
  for (const int peer : peers) {
    handshake_writer writer;
    const auto* const found = find_link(to_owners_, peer);
    const auto& link = found == nullptr ? none : *found;
    const auto& old = link_before(true, peer);
    if (!(link.owned == old.owned && link.ghosts == old.ghosts)) {
      writer.reserve(2 * sizeof(edit) + (link.owned.size() + link.ghosts.size()) * 4);
      write_list(writer, link.owned, old.owned);
      write_list(writer, link.ghosts, old.ghosts);
    }
    messages.push_back(writer.take());
  }
  agreed_numbers numbers;
  if (!is_located_ && ranks_.size() <= max_ranks_that_tell) numbers = owned_and_needed();
  const auto count = static_cast<std::ptrdiff_t>(numbers.size() / 2);
  bool all_exist = count > 0;
  numbers.push_back(error ? 1 : 0);
  const auto received = messenger_->exchange(messages, numbers, [&](const agreed_numbers& largest) {
    const auto owned = largest.begin(), needed = owned + count;
    all_exist = all_exist && std::equal(owned, needed, needed, std::greater_equal<>());
    if (largest.back() == 0) return;
    agree_on_error_of_lowest_rank(ranks_, "a ghost graph", [&] {
      if (error) std::rethrow_exception(error);
    });
  });
  for (std::size_t i = 0; i < peers.size(); ++i) {
    ghost_link link = link_before(false, peers[i]);
    if (!received[i].empty()) {
      handshake_reader reader(received[i]);
      ghost_link changed{peers[i], read_list(reader, link.owned), {}};
      changed.ghosts = read_list(reader, link.ghosts);
      link = std::move(changed);
    }
    if (!link.owned.empty()) to_readers_.push_back(std::move(link));
  }
  if (const auto* const own = find_link(to_owners_, ranks_.rank()))
    to_readers_.insert(
        std::upper_bound(to_readers_.begin(), to_readers_.end(), *own,
                         [](const ghost_link& a, const ghost_link& b) { return a.rank < b.rank; }),
        *own);
  readers_ = ranks_of(to_readers_, ranks_.rank());
  return all_exist;
}

// A rank that gives ghosts by pairs (rank, element) does not know how many elements other ranks
// own, so owners check them. Locators have checked indices already, so that no agreement is needed.
void ghost_links::check_links(bool all_exist) {
  if (all_exist) return;
  const auto error = kept_error([&] {
    for (const auto& link : to_readers_) check_link(link);
  });
  const auto throw_error = [&] {
    if (error) std::rethrow_exception(error);
  };
  if (is_located_) return throw_error();
  messenger_->agree({error ? 1 : 0}, [&](const agreed_numbers& largest) {
    if (largest[0] != 0) agree_on_error_of_lowest_rank(ranks_, "a ghost graph", throw_error);
  });
}

void ghost_links::check_link(const ghost_link& link) const {
  for (std::size_t i = 0; i < link.owned.size(); ++i)
    if (link.owned[i] >= owned_)
      fail(errc::usage,
           "ghost {} of rank {} is element {} of rank {}, which owns {} elements, numbered from 0",
           link.ghosts[i], link.rank, link.owned[i], ranks_.rank(), owned_);
}

std::size_t ghost_links::memory_bytes() const noexcept {
  std::size_t bytes = sizeof(*this);
  for (const auto* links : {&to_owners_, &to_readers_})
    for (const auto& link : *links)
      bytes += sizeof(link) + link.owned.memory_bytes() + link.ghosts.memory_bytes();
  // A rank's link to itself is in both lists, and shares its memory.
  if (const auto* const own = find_link(to_owners_, ranks_.rank()))
    bytes -= own->owned.memory_bytes() + own->ghosts.memory_bytes();
  return bytes + messenger_->memory_bytes();
}

}  // namespace longshore::detail
