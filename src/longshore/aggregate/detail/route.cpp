#include <longshore/aggregate/detail/route.hpp>
#include <longshore/core/error.hpp>

#include <algorithm>
#include <bit>
#include <numeric>

namespace longshore::detail {
namespace {

unsigned bits_for(std::size_t values) {
  return values <= 1 ? 0 : static_cast<unsigned>(std::bit_width(values - 1));
}

std::size_t bytes_for(unsigned bits) { return bits == 0 ? 0 : bits <= 8 ? 1 : bits <= 16 ? 2 : 4; }

// The streams between groups: which ranks own their two ends.
struct streams_between {
  const rank_groups& groups;
  int per_pair;

  streams_between(const rank_groups& of, stream_count count)
      : groups(of),
        per_pair(count == stream_count::one ? 1 : std::max(1, of.smallest() / of.count())) {}

  // The place in group `at` of the rank that owns stream `j` to or from group `other`. In a group
  // with more ranks than there are groups the owners are evenly spread; in a smaller group each
  // rank owns several streams.
  [[nodiscard]] int owner(int at, int other, int j) const {
    const int ranks = groups.size_of(at);
    const int stride = std::max(1, ranks / groups.count());
    return (other * stride + j) % ranks;
  }
  [[nodiscard]] int stream_of(int destination) const {
    return groups.place_of(destination) % per_pair;
  }
};

}  // namespace

rank_groups::rank_groups(const node_map& nodes, int ranks)
    : members_(static_cast<std::size_t>(nodes.node_count())) {
  for (int rank = 0; rank < ranks; ++rank) {
    group_of_.push_back(nodes.node_of(rank));
    place_of_.push_back(nodes.local_index(rank));
    members_[nodes.node_of(rank)].push_back(rank);
  }
}

rank_groups::rank_groups(int ranks, int group_ranks) {
  if (ranks < 1 || group_ranks < 1)
    fail(errc::usage, "{} ranks cannot form groups of {}: give at least 1 of each", ranks,
         group_ranks);
  for (int rank = 0; rank < ranks; ++rank) {
    if (rank % group_ranks == 0) members_.emplace_back();
    group_of_.push_back(rank / group_ranks);
    place_of_.push_back(rank % group_ranks);
    members_.back().push_back(rank);
  }
}

int rank_groups::smallest() const noexcept {
  std::size_t least = members_.front().size();
  for (const auto& group : members_) least = std::min(least, group.size());
  return static_cast<int>(least);
}

int rank_groups::largest() const noexcept {
  std::size_t most = 0;
  for (const auto& group : members_) most = std::max(most, group.size());
  return static_cast<int>(most);
}

route::route(const rank_groups& groups, int me, int hops, bool with_source, stream_count streams)
    : groups_(groups),
      me_(me),
      group_(groups.group_of(me)),
      place_(groups.place_of(me)),
      links_(static_cast<std::size_t>(std::clamp(hops, 1, 3))),
      first_(static_cast<std::size_t>(groups.ranks())) {
  if (hops < 1 || hops > 3) fail(errc::usage, "a route cannot have {} hops: give 1, 2 or 3", hops);
  if (hops == 1) one_hop();
  if (hops == 2) two_hops();
  if (hops == 3) three_hops(streams);
  give_tag_sizes(with_source);
}

void route::one_hop() {
  links_[0].to.resize(first_.size());
  std::iota(links_[0].to.begin(), links_[0].to.end(), 0);
  links_[0].from = links_[0].to;
  for (std::uint32_t rank = 0; rank < first_.size(); ++rank) first_[rank] = {0, rank, 0};
}

void route::two_hops() {
  const auto mine = groups_.members(group_);
  const int ranks = groups_.size_of(group_);
  std::vector<std::uint32_t> link_to(mine.size());
  for (int place = 0; place < ranks; ++place) {
    if (place == place_) continue;
    link_to[place] = static_cast<std::uint32_t>(links_[0].to.size());
    links_[0].to.push_back(mine[place]);
  }
  links_[0].from = links_[0].to;
  // Numbers the second-hop links of all ranks of this group, in the order of groups and places.
  std::vector<std::uint32_t> links_of(mine.size());
  for (int group = 0; group < groups_.count(); ++group)
    for (int place = 0; place < groups_.size_of(group); ++place) {
      const int relay = place % ranks, destination = groups_.members(group)[place];
      const std::uint32_t link = links_of[relay]++;
      if (relay == place_) {
        links_[1].to.push_back(destination);
        first_[destination] = {1, link, 0};
      } else {
        first_[destination] = {0, link_to[relay], link};
      }
    }
  for (int group = 0; group < groups_.count(); ++group)
    links_[1].from.push_back(groups_.members(group)[place_ % groups_.size_of(group)]);
  // Place 0 of the smallest group has the most links: in each group, one for each place that is a
  // multiple of the smallest group's size.
  std::size_t max_links = 0;
  const int least = groups_.smallest();
  for (int group = 0; group < groups_.count(); ++group)
    max_links += static_cast<std::size_t>((groups_.size_of(group) + least - 1) / least);
  links_[1].link_bits = bits_for(max_links);
}

void route::three_hops(stream_count streams) {
  const streams_between between(groups_, streams);
  const auto mine = groups_.members(group_);
  const int count = groups_.count();
  // Links between groups. For all ranks of this group: which link of its owner a stream is. The
  // size of tags follows from the largest number of streams that a rank owns.
  const auto stream_index = [&](int group, int j) {
    return static_cast<std::size_t>(group) * static_cast<std::size_t>(between.per_pair) +
           static_cast<std::size_t>(j);
  };
  std::vector<std::uint32_t> link_of(stream_index(count, 0)), link_counts(mine.size());
  for (int group = 0; group < count; ++group)
    for (int j = 0; j < between.per_pair && group != group_; ++j) {
      const int relay = between.owner(group_, group, j);
      link_of[stream_index(group, j)] = link_counts[relay]++;
      if (relay == place_)
        links_[1].to.push_back(groups_.members(group)[between.owner(group, group_, j)]);
      if (between.owner(group_, group, j) == place_)
        links_[1].from.push_back(groups_.members(group)[between.owner(group, group_, j)]);
    }
  const auto max_streams = static_cast<std::size_t>(count),
             min_ranks = static_cast<std::size_t>(groups_.smallest());
  links_[1].link_bits = bits_for((max_streams + min_ranks - 1) / min_ranks);
  // Links within the group: on the first hop to owners of streams, on the last hop to all ranks.
  std::vector<std::uint32_t> link_to(mine.size());
  for (int place = 0; place < static_cast<int>(mine.size()); ++place) {
    links_[2].to.push_back(mine[place]);
    if (place == place_) continue;
    if (link_counts[place] > 0) {
      link_to[place] = static_cast<std::uint32_t>(links_[0].to.size());
      links_[0].to.push_back(mine[place]);
    }
    if (link_counts[place_] > 0) links_[0].from.push_back(mine[place]);
  }
  links_[2].from = links_[2].to;
  links_[2].link_bits = bits_for(static_cast<std::size_t>(groups_.largest()));
  for (int rank = 0; rank < groups_.ranks(); ++rank) {
    const auto last = static_cast<std::uint32_t>(groups_.place_of(rank));
    const int group = groups_.group_of(rank);
    if (group == group_) {
      first_[rank] = {2, last, 0};
      continue;
    }
    const int j = between.stream_of(rank), relay = between.owner(group_, group, j);
    const std::uint32_t link = link_of[stream_index(group, j)];
    if (relay == place_)
      first_[rank] = {1, link, last};
    else
      first_[rank] = {0, link_to[relay], link | last << links_[1].link_bits};
  }
}

void route::give_tag_sizes(bool with_source) {
  const int last = hops() - 1;
  unsigned destination_bits = 0;
  for (int hop = last; hop >= 0; --hop) {
    links_[hop].destination_bits = destination_bits;
    destination_bits += links_[hop].link_bits;
  }
  if (with_source && last >= 1)
    links_[1].source_bits = bits_for(static_cast<std::size_t>(groups_.largest()));
  if (with_source && last == 2) links_[2].source_bits = bits_for(first_.size());
  for (auto& link : links_) {
    const unsigned bits = link.destination_bits + link.source_bits;
    if (bits > 32)
      fail(errc::unsupported,
           "{} ranks in groups of up to {} need tags of {} bits on a hop, and 32 is the maximum: "
           "choose other hops or group_ranks, or leave with_source off",
           groups_.ranks(), groups_.largest(), bits);
    link.tag_bytes = bytes_for(bits);
  }
}

}  // namespace longshore::detail
