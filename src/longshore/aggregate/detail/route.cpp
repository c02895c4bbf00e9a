// Computes the links of a rank and the first step and tag of an item to each rank. All ranks
// compute the same numbers of links, so a sender can write the later links of an item into its tag.
#include <longshore/aggregate/detail/route.hpp>
#include <longshore/core/error.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>

namespace longshore::detail {
namespace {

// The number of bits that tell `values` values apart.
unsigned bits_for(std::size_t values) {
  return values <= 1 ? 0 : static_cast<unsigned>(std::bit_width(values - 1));
}

std::size_t tag_bytes_for(unsigned bits) {
  return bits == 0 ? 0 : bits <= 8 ? 1 : bits <= 16 ? 2 : 4;  // the sizes of integers
}

// The streams between groups, and the ranks that own the two ends of a stream.
struct streams_between {
  const rank_groups& groups;
  int per_pair;

  streams_between(const rank_groups& all_groups, stream_count count)
      : groups(all_groups),
        per_pair(count == stream_count::one
                     ? 1
                     : std::max(1, all_groups.smallest() / all_groups.count())) {}

  // The position in `group` of the rank that owns stream `j` to or from the group `other`. In a
  // group with more ranks than there are groups, the owners are evenly spread; in a smaller group
  // each rank owns several streams.
  [[nodiscard]] int owner(int group, int other, int j) const {
    const int ranks = groups.size_of(group);
    const int stride = std::max(1, ranks / groups.count());
    return (other * stride + j) % ranks;
  }
  [[nodiscard]] int stream_of(int destination) const {
    return groups.position_of(destination) % per_pair;
  }
};

std::shared_ptr<const rank_partition> groups_of_size(int ranks, int group_ranks) {
  if (ranks < 1 || group_ranks < 1)
    fail(errc::usage, "{} ranks cannot form groups of {}: give at least 1 of each", ranks,
         group_ranks);
  auto groups = std::make_shared<rank_partition>();
  for (int rank = 0; rank < ranks; ++rank) {
    if (rank % group_ranks == 0) groups->members.emplace_back();
    groups->group_of.push_back(rank / group_ranks);
    groups->position_of.push_back(rank % group_ranks);
    groups->members.back().push_back(rank);
  }
  return groups;
}

}  // namespace

rank_groups::rank_groups(int ranks, int group_ranks)
    : rank_groups(groups_of_size(ranks, group_ranks)) {}

std::span<const int> rank_groups::members(int group) const noexcept { return members_[group]; }

int rank_groups::smallest() const noexcept {
  std::size_t ranks = groups_->members.front().size();
  for (const auto& group : groups_->members) ranks = std::min(ranks, group.size());
  return static_cast<int>(ranks);
}

int rank_groups::largest() const noexcept {
  std::size_t ranks = 0;
  for (const auto& group : groups_->members) ranks = std::max(ranks, group.size());
  return static_cast<int>(ranks);
}

rank_groups choose_groups(const node_map& nodes, int ranks, int hops, int group_ranks) {
  if (group_ranks > 0) return rank_groups(ranks, group_ranks);
  if (hops < 2 || (nodes.node_count() > 1 && nodes.largest_node() > 1)) return rank_groups(nodes);
  const double size = hops == 2 ? std::sqrt(ranks) : std::cbrt(ranks);
  return rank_groups(ranks, std::max(1, static_cast<int>(std::lround(size))));
}

std::span<const route::step> route::first_steps() const noexcept { return first_steps_; }

std::vector<route::step> route::take_first_steps() noexcept { return std::move(first_steps_); }

route::route(const rank_groups& groups, int me, int hops, bool with_source, stream_count streams)
    : groups_(groups),
      me_(me),
      group_(groups.group_of(me)),
      position_(groups.position_of(me)),
      links_(static_cast<std::size_t>(std::clamp(hops, 1, 3))),
      first_steps_(static_cast<std::size_t>(groups.ranks())) {
  if (hops < 1 || hops > 3) fail(errc::usage, "a route cannot have {} hops: give 1, 2 or 3", hops);
  if (hops == 1) make_one_hop();
  if (hops == 2) make_two_hops();
  if (hops == 3) make_three_hops(streams);
  set_tag_sizes(with_source);
}

void route::make_one_hop() {
  links_[0].to.resize(first_steps_.size());
  std::iota(links_[0].to.begin(), links_[0].to.end(), 0);
  links_[0].from = links_[0].to;
  for (std::uint32_t rank = 0; rank < first_steps_.size(); ++rank)
    first_steps_[rank] = {0, rank, 0};
}

void route::make_two_hops() {
  const auto my_group = groups_.members(group_);
  const int ranks = groups_.size_of(group_);
  std::vector<std::uint32_t> link_to(my_group.size());
  for (int position = 0; position < ranks; ++position) {
    if (position == position_) continue;
    link_to[position] = static_cast<std::uint32_t>(links_[0].to.size());
    links_[0].to.push_back(my_group[position]);
  }
  links_[0].from = links_[0].to;
  // Numbers the second-hop links of all ranks of this group, in the order of groups and positions.
  std::vector<std::uint32_t> link_counts(my_group.size());
  for (int group = 0; group < groups_.count(); ++group)
    for (int position = 0; position < groups_.size_of(group); ++position) {
      const int relay = position % ranks, destination = groups_.members(group)[position];
      const std::uint32_t link = link_counts[relay]++;
      if (relay == position_) {
        links_[1].to.push_back(destination);
        first_steps_[destination] = {1, link, 0};
      } else {
        first_steps_[destination] = {0, link_to[relay], link};
      }
    }
  for (int group = 0; group < groups_.count(); ++group)
    links_[1].from.push_back(groups_.members(group)[position_ % groups_.size_of(group)]);
  // The rank at position 0 of the smallest group has the most links. If that group has s ranks,
  // this rank has links to positions 0, s, 2s, ... of each group.
  std::size_t max_links = 0;
  const int smallest = groups_.smallest();
  for (int group = 0; group < groups_.count(); ++group)
    max_links += static_cast<std::size_t>((groups_.size_of(group) + smallest - 1) / smallest);
  links_[1].link_bits = bits_for(max_links);
}

void route::make_three_hops(stream_count streams) {
  const streams_between between(groups_, streams);
  const auto my_group = groups_.members(group_);
  const int count = groups_.count();
  // Links between groups. Each stream is a link of the rank that owns the stream; link_of numbers
  // the links of each owner. The size of tags follows from the largest number of streams that a
  // rank owns.
  const auto stream_index = [&](int group, int j) {
    return static_cast<std::size_t>(group) * static_cast<std::size_t>(between.per_pair) +
           static_cast<std::size_t>(j);
  };
  std::vector<std::uint32_t> link_of(stream_index(count, 0)), link_counts(my_group.size());
  for (int group = 0; group < count; ++group) {
    if (group == group_) continue;  // no stream leads to the group itself
    for (int j = 0; j < between.per_pair; ++j) {
      const int relay = between.owner(group_, group, j);
      link_of[stream_index(group, j)] = link_counts[relay]++;
      if (relay == position_)
        links_[1].to.push_back(groups_.members(group)[between.owner(group, group_, j)]);
      if (between.owner(group_, group, j) == position_)
        links_[1].from.push_back(groups_.members(group)[between.owner(group, group_, j)]);
    }
  }
  const auto max_streams = static_cast<std::size_t>(count),
             min_ranks = static_cast<std::size_t>(groups_.smallest());
  links_[1].link_bits = bits_for((max_streams + min_ranks - 1) / min_ranks);
  // Links within the group: on the first hop to owners of streams, on the last hop to all ranks.
  std::vector<std::uint32_t> link_to(my_group.size());
  for (int position = 0; position < static_cast<int>(my_group.size()); ++position) {
    links_[2].to.push_back(my_group[position]);
    if (position == position_) continue;
    if (link_counts[position] > 0) {
      link_to[position] = static_cast<std::uint32_t>(links_[0].to.size());
      links_[0].to.push_back(my_group[position]);
    }
    if (link_counts[position_] > 0) links_[0].from.push_back(my_group[position]);
  }
  links_[2].from = links_[2].to;
  links_[2].link_bits = bits_for(static_cast<std::size_t>(groups_.largest()));
  for (int rank = 0; rank < groups_.ranks(); ++rank) {
    const auto last = static_cast<std::uint32_t>(groups_.position_of(rank));
    const int group = groups_.group_of(rank);
    if (group == group_) {
      first_steps_[rank] = {2, last, 0};
      continue;
    }
    const int j = between.stream_of(rank), relay = between.owner(group_, group, j);
    const std::uint32_t link = link_of[stream_index(group, j)];
    if (relay == position_)
      first_steps_[rank] = {1, link, last};
    else
      first_steps_[rank] = {0, link_to[relay], link | last << links_[1].link_bits};
  }
}

void route::set_tag_sizes(bool with_source) {
  const int last = hops() - 1;
  unsigned destination_bits = 0;
  for (int hop = last; hop >= 0; --hop) {
    links_[hop].destination_bits = destination_bits;
    destination_bits += links_[hop].link_bits;
  }
  if (with_source && last >= 1)
    links_[1].source_bits = bits_for(static_cast<std::size_t>(groups_.largest()));
  if (with_source && last == 2) links_[2].source_bits = bits_for(first_steps_.size());
  for (auto& link : links_) {
    const unsigned bits = link.destination_bits + link.source_bits;
    if (bits > 32)
      fail(errc::unsupported,
           "{} ranks in groups of up to {} need tags of {} bits on a hop, and 32 is the maximum: "
           "choose other hops or group_ranks, or leave with_source off",
           groups_.ranks(), groups_.largest(), bits);
    link.tag_bytes = tag_bytes_for(bits);
  }
}

}  // namespace longshore::detail
