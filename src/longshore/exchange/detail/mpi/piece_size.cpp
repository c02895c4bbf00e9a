// Times the messages of a plan, whole and in pieces by turns, and keeps the choice for the team.
#include <longshore/exchange/detail/movers/posted_messages.hpp>
#include <longshore/machine/pages.hpp>
#include <longshore/transport/mpi/detail/eager_limit.hpp>
#include <longshore/transport/mpi/detail/team.hpp>
#include <longshore/transport/team.hpp>
#include <longshore/transport/waiter.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <map>
#include <memory>

namespace longshore::mpi {
namespace {

// The size of a piece, which Open MPI over TCP sends without asking the receiver. With any library,
// pieces are used only if they are faster.
constexpr std::size_t eager_piece_bytes = eager_bytes_between_hosts;
// Pieces must be faster by this factor, because their copies take cycles from other work.
constexpr double min_gain = 1.1;
constexpr int warmups = 1, trials = 5, exchanges_per_trial = 3;

struct kept_choices {
  std::map<int, std::size_t> by_size;  // the key is the bit width of the longest message
};

// Transfers all messages between scratch buffers.
void transfer(mpi::team& ranks, int tag, std::size_t piece, std::span<const detail::posted_end> to,
              std::span<const detail::posted_end> from, const std::array<pages, 2>& buffers,
              std::vector<MPI_Request>& requests) {
  requests.clear();
  const auto start = [&](std::span<const detail::posted_end> ends, std::byte* data,
                         const auto& call) {
    for (const auto& end : ends)
      for (std::size_t begin = 0; begin < end.bytes; begin += piece)
        check(call(data + begin, count(std::min(piece, end.bytes - begin), "a posted message"),
                   MPI_BYTE, end.peer, tag, ranks.comm(), &requests.emplace_back()),
              "MPI_Isend, MPI_Irecv");
  };
  start(from, buffers[1].data(), MPI_Irecv);
  start(to, buffers[0].data(), MPI_Isend);
  for (waiter wait(ranks, "a plan that measures messages"); !test_all(requests); wait.pause()) {
  }
}

}  // namespace

std::size_t choose_piece_bytes(longshore::team& any_team, std::span<const detail::posted_end> to,
                               std::span<const detail::posted_end> from) {
  auto& ranks = dynamic_cast<mpi::team&>(any_team);
  if (ranks.nodes().most_ranks_off_host() == 0) return whole_messages;
  std::size_t longest = 0;  // of all messages, because the buffers must hold all
  std::int64_t longest_off_host = 0;
  for (const auto& ends : {to, from})
    for (const auto& end : ends) {
      longest = std::max(longest, end.bytes);
      if (!ranks.nodes().is_on_host(end.peer))
        longest_off_host = std::max(longest_off_host, static_cast<std::int64_t>(end.bytes));
    }
  longest_off_host = ranks.allreduce_value(longest_off_host, reduction::max);
  if (longest_off_host <= static_cast<std::int64_t>(eager_piece_bytes)) return whole_messages;
  auto& known = ranks.attribute<kept_choices>().by_size;
  const auto size_class =
      static_cast<int>(std::bit_width(static_cast<std::uint64_t>(longest_off_host)));
  if (const auto found = known.find(size_class); found != known.end()) return found->second;

  // All messages share the buffers, because nobody reads what arrives. After a failure the buffers
  // are leaked, because requests still use them.
  auto buffers = std::make_unique<std::array<pages, 2>>(std::array{pages(longest), pages(longest)});
  std::vector<MPI_Request> requests;
  const int tag = ranks.take_message_tag();
  constexpr std::array sizes{whole_messages, eager_piece_bytes};
  std::array<double, 2> shortest;
  shortest.fill(std::numeric_limits<double>::infinity());
  const auto time = [&](std::size_t piece) {
    ranks.barrier();
    const double began = ranks.now();
    for (int i = 0; i < exchanges_per_trial; ++i)
      transfer(ranks, tag, piece, to, from, *buffers, requests);
    return ranks.allreduce_value(ranks.now() - began, reduction::max);
  };
  try {
    for (int trial = 0; trial < warmups + trials; ++trial)
      for (std::size_t k = 0; k < sizes.size(); ++k) {
        const double seconds = time(sizes[k]);
        if (trial >= warmups) shortest[k] = std::min(shortest[k], seconds);
      }
  } catch (...) {
    static_cast<void>(buffers.release());
    throw;
  }
  return known[size_class] =
             shortest[1] * min_gain < shortest[0] ? eager_piece_bytes : whole_messages;
}

std::size_t longest_posted_message() noexcept { return eager_bytes_between_hosts; }

}  // namespace longshore::mpi
