// Ranks in different collective calls get an error that names two of them, on every transport. The
// tests run with LONGSHORE_CHECK=1, so that all calls are compared.
#include <longshore/core/error.hpp>
#include <longshore/transport/detail/collective_call.hpp>
#include <longshore/transport/detail/node_barrier.hpp>
#include <longshore/transport/spmd_test.hpp>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <string>
#include <vector>

namespace longshore {
namespace {

using testing::spmd;

struct call_of_a_rank {
  std::string text;  // as the error message shows it
  std::function<void(team&)> make;
};

template <class T>
call_of_a_rank reduce(std::string text, std::size_t count, reduction operation) {
  return {std::move(text), [=](team& team) {
            std::vector<T> values(count, T{1});
            team.allreduce(std::span(values), operation);
          }};
}

template <class T>
call_of_a_rank reduce_to(std::string text, reduction operation, int root) {
  return {std::move(text), [=](team& team) {
            T value{1};
            team.reduce(std::span(&value, 1), operation, root);
          }};
}

call_of_a_rank send(std::string text, std::size_t bytes, int root) {
  return {std::move(text), [=](team& team) {
            std::vector<std::byte> data(bytes);
            team.broadcast(data, root);
          }};
}

call_of_a_rank collect(std::string text, std::size_t bytes) {
  return {std::move(text), [=](team& team) {
            const std::vector<std::byte> mine(bytes);
            std::vector<std::byte> all(bytes * team.size());
            team.allgather(mine, all);
          }};
}

call_of_a_rank exchange(std::string text, std::size_t block_bytes) {
  return {std::move(text), [=](team& team) {
            const std::vector<std::byte> outgoing(block_bytes * team.size());
            std::vector<std::byte> incoming(outgoing.size());
            team.alltoall(outgoing, incoming);
          }};
}

call_of_a_rank exchange_elements(std::string text, std::size_t element_bytes) {
  return {std::move(text), [=](team& team) {
            const std::vector<std::size_t> counts(team.size(), 3);
            const std::vector<std::byte> outgoing(3 * element_bytes * counts.size());
            std::vector<std::byte> incoming(outgoing.size());
            team.alltoallv(outgoing.data(), counts, incoming.data(), counts, element_bytes);
          }};
}

const call_of_a_rank barrier = {"a barrier", [](team& team) { team.barrier(); }};
const call_of_a_rank allocation = {"the allocation of a segment",
                                   [](team& team) { (void)team.allocate(64); }};
const call_of_a_rank opening = {
    "the opening of channels", [](team& team) {
      const channel_end to{(team.rank() + 1) % team.size(), 64};
      const channel_end from{(team.rank() + team.size() - 1) % team.size(), 64};
      (void)team.open_channels({&to, 1}, {&from, 1}, 2);
    }};

struct pair_of_calls {
  std::string name;
  call_of_a_rank usual, odd;
};

// Each kind of call is paired with another kind, and each property of a call with another value.
const std::vector<pair_of_calls> pairs = {
    {"barrier_and_allreduce", barrier,
     reduce<double>("an allreduce (sum) of 1 floating-point number", 1, reduction::sum)},
    {"broadcast_and_barrier", send("a broadcast of 8 bytes from rank 0", 8, 0), barrier},
    {"barrier_and_broadcast", barrier, send("a broadcast of 1 byte from rank 0", 1, 0)},
    {"allgather_and_alltoall", collect("an allgather of 8 bytes per rank", 8),
     exchange("an alltoall of 8 bytes for each rank", 8)},
    {"alltoallv_and_allgather", exchange_elements("an alltoallv of elements of 4 bytes", 4),
     collect("an allgather of 12 bytes per rank", 12)},
    {"allreduce_types", reduce<std::int64_t>("an allreduce (max) of 2 integers", 2, reduction::max),
     reduce<double>("an allreduce (max) of 2 floating-point numbers", 2, reduction::max)},
    {"allreduce_operations",
     reduce<double>("an allreduce (max) of 1 floating-point number", 1, reduction::max),
     reduce<double>("an allreduce (min) of 1 floating-point number", 1, reduction::min)},
    {"allreduce_counts",
     reduce<double>("an allreduce (sum) of 3 floating-point numbers", 3, reduction::sum),
     reduce<double>("an allreduce (sum) of 4 floating-point numbers", 4, reduction::sum)},
    {"allreduce_of_many_and_of_no_values",
     reduce<double>("an allreduce (sum) of 100000 floating-point numbers", 100'000, reduction::sum),
     reduce<double>("an allreduce (sum) of 0 floating-point numbers", 0, reduction::sum)},
    {"reduction_and_allreduce",
     reduce_to<double>("a reduction (sum) of 1 floating-point number to rank 0", reduction::sum, 0),
     reduce<double>("an allreduce (sum) of 1 floating-point number", 1, reduction::sum)},
    {"reduction_roots",
     reduce_to<std::int64_t>("a reduction (max) of 1 integer to rank 0", reduction::max, 0),
     reduce_to<std::int64_t>("a reduction (max) of 1 integer to rank 1", reduction::max, 1)},
    {"broadcast_roots", send("a broadcast of 8 bytes from rank 0", 8, 0),
     send("a broadcast of 8 bytes from rank 1", 8, 1)},
    {"broadcast_sizes", send("a broadcast of 8 bytes from rank 0", 8, 0),
     send("a broadcast of 100000 bytes from rank 0", 100'000, 0)},
    {"broadcast_of_no_bytes", send("a broadcast of 8 bytes from rank 0", 8, 0),
     send("a broadcast of 0 bytes from rank 0", 0, 0)},
    {"allgather_sizes", collect("an allgather of 8 bytes per rank", 8),
     collect("an allgather of 16 bytes per rank", 16)},
    {"alltoall_sizes", exchange("an alltoall of 8 bytes for each rank", 8),
     exchange("an alltoall of 100000 bytes for each rank", 100'000)},
    {"alltoallv_elements", exchange_elements("an alltoallv of elements of 4 bytes", 4),
     exchange_elements("an alltoallv of elements of 8 bytes", 8)},
    {"allocation_and_barrier", allocation, barrier},
    {"channels_and_allocation", opening, allocation},
    {"barrier_and_channels", barrier, opening},
};

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::usage) << e.what();
    return e.what();
  }
  return "no error";
}

void expect_both_named(const std::string& message, const pair_of_calls& calls, int odd_rank,
                       int size) {
  EXPECT_NE(message.find(fmt::format("rank {} is in {}, its ", odd_rank, calls.odd.text)),
            std::string::npos)
      << message;
  bool names_another = false;
  for (int rank = 0; rank < size; ++rank)
    names_another |= rank != odd_rank &&
                     message.find(fmt::format("rank {} is in {}, its ", rank, calls.usual.text)) !=
                         std::string::npos;
  EXPECT_TRUE(names_another) << message;
}

class CollectiveCheck : public ::testing::TestWithParam<std::size_t> {};

TEST_P(CollectiveCheck, names_two_ranks_in_different_calls) {
  const pair_of_calls& calls = pairs[GetParam()];
  spmd([&](team& team) {
    if (team.size() == 1) return;
    // Each rank makes the odd call once, because the first rank of a node acts differently.
    for (int odd_rank = 0; odd_rank < team.size(); ++odd_rank) {
      const auto& mine = team.rank() == odd_rank ? calls.odd : calls.usual;
      const std::string message = message_of([&] { mine.make(team); });
      expect_both_named(message, calls, odd_rank, team.size());
      // All ranks have left the call, and the next collective call works.
      const int sum = team.allreduce_value(team.rank(), reduction::sum);
      EXPECT_EQ(sum, team.size() * (team.size() - 1) / 2);
    }
  });
}

TEST_P(CollectiveCheck, lets_equal_calls_pass) {
  const pair_of_calls& calls = pairs[GetParam()];
  spmd([&](team& team) {
    if (team.size() == 1 && calls.name.ends_with("_roots")) return;
    for (int round = 0; round < 3; ++round)
      for (const auto* call : {&calls.usual, &calls.odd}) call->make(team);
  });
}

INSTANTIATE_TEST_SUITE_P(of, CollectiveCheck, ::testing::Range(std::size_t{0}, pairs.size()),
                         [](const auto& chosen) { return pairs[chosen.param].name; });

TEST(CollectiveCall, has_a_fingerprint_that_depends_on_each_property) {
  const std::array calls = {
      detail::collective_call{},
      detail::collective_call{.kind = detail::collective::broadcast},
      detail::collective_call{.kind = detail::collective::broadcast, .root = 1},
      detail::collective_call{.kind = detail::collective::broadcast, .size = 1},
      detail::collective_call{.kind = detail::collective::allreduce_numbers},
      detail::collective_call{.kind = detail::collective::allreduce_integers},
      detail::collective_call{.kind = detail::collective::allreduce_numbers,
                              .operation = reduction::min},
      detail::collective_call{.kind = detail::collective::allreduce_numbers,
                              .operation = reduction::max},
      detail::collective_call{.kind = detail::collective::allreduce_numbers,
                              .size = std::uint64_t{1} << 40},
  };
  for (std::size_t i = 0; i < calls.size(); ++i)
    for (std::size_t j = 0; j < calls.size(); ++j)
      EXPECT_EQ(calls[i].fingerprint() == calls[j].fingerprint(), i == j)
          << calls[i].text() << " and " << calls[j].text();
}

TEST(NodeBarrier, counts_arrived_ranks_independently_of_their_calls) {
  constexpr detail::collective_call call{.kind = detail::collective::allocate};
  detail::node_barrier_state state{};
  for (int arrived = 0; arrived < 3; ++arrived) {
    EXPECT_EQ(state.arrived_ranks(), arrived);
    state.arrived.fetch_add(call.fingerprint() << detail::node_barrier_state::rank_bits | 1);
  }
}

TEST(CollectiveCall, has_an_english_ordinal_in_messages) {
  const auto message_with = [](std::uint64_t number) {
    return message_of([&] {
      detail::call_mismatch{true, {{}, 0, number}, {{.kind = detail::collective::allocate}, 1, 1}}
          .throw_error();
    });
  };
  for (const auto& [number, text] : {std::pair{1, "its 1st "},
                                     {2, "its 2nd "},
                                     {3, "its 3rd "},
                                     {4, "its 4th "},
                                     {11, "its 11th "},
                                     {12, "its 12th "},
                                     {21, "its 21st "},
                                     {113, "its 113th "}})
    EXPECT_NE(message_with(static_cast<std::uint64_t>(number)).find(text), std::string::npos)
        << message_with(static_cast<std::uint64_t>(number));
}

}  // namespace
}  // namespace longshore
