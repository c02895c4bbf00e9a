// Tests how ranks agree on plans, and what plans of a node share.
#include <longshore/exchange/detail/agreement/messenger.hpp>
#include <longshore/exchange/detail/movers/node_access.hpp>
#include <longshore/ghost/ghost_test.hpp>
#include <longshore/transport/spmd_test.hpp>

#include <algorithm>
#include <filesystem>

namespace longshore {
namespace {

using namespace testing;

// A plan of the first case, for a field in memory that other processes can map.
struct planned_case {
  explicit planned_case(team& team)
      : exchanged(ghost_cases(team.size()).front()),
        me(static_cast<std::size_t>(team.rank())),
        graph(team, exchanged.owned[me], std::span<const location>(exchanged.ghosts[me])),
        field(graph.owned(), graph.ghosts()),
        plan(graph, {}, field.view()) {}

  ghost_case exchanged;
  std::size_t me;
  ghost_graph graph;
  test_field<double, shared_allocator<std::byte>> field;
  ghost_exchange plan;
};

TEST(GhostAgreement, messages_of_any_length_and_the_largest_numbers_arrive) {
  spmd([](team& team) {
    const auto message = [](int from, int to, std::size_t scale) {
      return std::vector<std::byte>(static_cast<std::size_t>(from + 2 * to) % 4 * scale,
                                    static_cast<std::byte>(from * 16 + to));
    };
    for (const std::size_t scale : {0, 5, 300, 5000}) {
      std::vector<std::vector<std::byte>> messages;
      for (int r = 0; r < team.size(); ++r) messages.push_back(message(team.rank(), r, scale));
      bool has_agreed = false;
      const auto received = detail::exchange_with_all(
          team, messages, {team.rank(), -team.rank()}, [&](const detail::agreed_numbers& largest) {
            has_agreed = true;
            EXPECT_EQ(largest, (detail::agreed_numbers{team.size() - 1, 0}));
          });
      EXPECT_TRUE(has_agreed);
      for (int r = 0; r < team.size(); ++r)
        EXPECT_EQ(received[static_cast<std::size_t>(r)], message(r, team.rank(), scale));
    }
  });
}

// After a plan, processes of a node know that they can map each other's memory.
TEST(GhostAgreement, processes_of_a_node_read_long_messages_in_the_memory_of_their_sender) {
  spmd([](team& team) {
    const planned_case planned(team);
    auto& access = detail::node_access::of(team);
    const bool can_lend =
        !team.is_one_process() && std::any_of(access.reach().begin(), access.reach().end(),
                                              [](const auto& reach) { return reach.second; });
    const auto length = [](int from, int to, int turn) {
      return static_cast<std::size_t>(2000 * turn + 700 * from + 100 * to);
    };
    // In the last turn, the messages of a rank are longer together than what the rank lends. Each
    // message is shorter where there are many ranks.
    for (const int turn : {1, 2, 3, 4, 2800 / std::max(7, team.size())}) {
      std::vector<std::vector<std::byte>> messages;
      for (int r = 0; r < team.size(); ++r)
        messages.emplace_back(length(team.rank(), r, turn),
                              static_cast<std::byte>(team.rank() * 16 + r + turn));
      const auto received =
          detail::exchange_with_all(team, messages, {}, [](const detail::agreed_numbers&) {});
      for (int r = 0; r < team.size(); ++r)
        EXPECT_EQ(received[static_cast<std::size_t>(r)],
                  std::vector(length(r, team.rank(), turn),
                              static_cast<std::byte>(r * 16 + team.rank() + turn)));
      EXPECT_EQ(access.lent().memory_bytes() > 0, can_lend);
      EXPECT_LE(access.lent().memory_bytes(), 2 * detail::lent_memory::max_bytes);
    }
  });
}

// As in containers that hide their processes from each other.
TEST(GhostAgreement, ranks_that_cannot_map_each_other_send_messages_beside_ranks_that_are_new) {
  spmd([](team& team) {
    auto& access = detail::node_access::of(team);
    const auto kept = access.reach();
    const auto caches = access.caches();
    access.reach().clear();
    access.caches().clear();
    // Ranks 0 and 1 know that they are apart. All other pairs are new.
    if (team.size() > 1 && team.rank() < 2 && team.nodes().is_local(1 - team.rank()))
      access.reach()[1 - team.rank()] = false, access.caches()[1 - team.rank()] = {};
    const auto c = ghost_cases(team.size()).front();
    const auto graph = graph_of(team, c);
    test_field<double, shared_bytes> x(graph.owned(), graph.ghosts());
    ghost_exchange plan(graph, {}, x.view());
    for (std::uint64_t tag = 1; tag <= 2; ++tag) {
      x.fill(tag, static_cast<std::uint64_t>(team.rank()));
      plan.update();
      EXPECT_EQ(wrong_after_update(x, c, team.rank(), tag, double{}), 0u);
    }
    access.reach() = kept;
    access.caches() = caches;
  });
}

TEST(GhostAgreement, signals_return_to_the_pool_and_are_zero_again) {
  spmd([](team& team) {
    detail::signal_pool pool;
    auto first = pool.take(team, 3), second = pool.take(team, 500);
    auto* const place = first.get();
    EXPECT_TRUE(second.get() + 500 <= place || place + 3 <= second.get());
    place[2].ready = 7;
    first = {};
    const auto again = pool.take(team, 3);
    EXPECT_EQ(again.get(), place);
    EXPECT_EQ(place[2].ready, 0u);
    auto abandoned = pool.take(team, 1);
    auto* const lost = abandoned.get();
    (void)abandoned.release();
    EXPECT_NE(pool.take(team, 1).get(), lost);
  });
}

TEST(GhostAgreement, a_buffer_of_about_the_same_size_is_used_again) {
  spmd([](team& team) {
    detail::buffer_pool pool;
    auto first = pool.take(team, 5000);
    const auto* const place = first.data();
    const bool is_kept = first.handle().file >= 0;
    EXPECT_EQ(is_kept, !team.is_one_process() && team.nodes().ranks_on_my_node() > 1);
    pool.give_back(std::move(first));
    const auto longer = pool.take(team, 100'000), shorter = pool.take(team, 8);
    if (!is_kept) return;
    EXPECT_NE(longer.data(), place);
    EXPECT_NE(shorter.data(), place);
    EXPECT_EQ(pool.take(team, 4000).data(), place);
  });
}

TEST(GhostAgreement, a_cache_keeps_the_memory_that_was_mapped_last) {
  const std::size_t bytes = 4096;
  const shareable_memory first(detail::any_process, bytes), second(detail::any_process, bytes),
      long_memory(detail::any_process, 4 * bytes);
  if (first.handle().file < 0) GTEST_SKIP() << "this system cannot share memory";
  detail::mapped_memory_cache cache(false, 2 * bytes);
  const auto is_kept = [&](const shareable_memory& memory) {
    return cache.map(memory.handle()).owner.use_count() > 1;
  };
  EXPECT_TRUE(is_kept(first));
  EXPECT_TRUE(is_kept(second));
  EXPECT_FALSE(is_kept(long_memory));
  const shareable_memory third(detail::any_process, bytes);
  const std::weak_ptr<const detail::mapped_memory> oldest = cache.map(first.handle()).owner,
                                                   middle = cache.map(second.handle()).owner;
  EXPECT_TRUE(is_kept(third));
  EXPECT_TRUE(oldest.expired());
  EXPECT_FALSE(middle.expired());
  detail::mapped_memory_cache keeps_nothing(false);
  EXPECT_EQ(keeps_nothing.map(first.handle()).owner.use_count(), 1);
}

// A plan of direct reads takes its signals from the pool, and makes no file.
TEST(GhostAgreement, a_further_plan_opens_no_file) {
  spmd([](team& team) {
    if (team.is_one_process()) return;
    planned_case planned(team);
    const auto open_files = [] {
      const std::filesystem::directory_iterator files("/proc/self/fd");
      return std::distance(begin(files), end(files));
    };
    team.barrier();
    const auto before = open_files();
    std::vector<ghost_exchange> more;
    if (team.nodes().node_count() == 1)
      for (int i = 0; i < 5; ++i)
        more.emplace_back(planned.graph, ghost_options{}, planned.field.view());
    team.barrier();
    EXPECT_EQ(open_files(), before);
    for (auto& one : more) {
      planned.field.fill(3, planned.me);
      one.update();
      EXPECT_EQ(wrong_after_update(planned.field, planned.exchanged, team.rank(), 3, double{}), 0u);
    }
  });
}

}  // namespace
}  // namespace longshore
