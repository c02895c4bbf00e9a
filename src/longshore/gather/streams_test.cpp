// The streaming forms against oracles: what the table holds is a function of the index, and every update is counted once.
#include <longshore/core/error.hpp>
#include <longshore/gather/demand_test.hpp>
#include <longshore/gather/streams.hpp>
#include <longshore/transport/spmd_test.hpp>

#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <optional>

namespace longshore {
namespace {

using testing::asker;
using testing::mixed_value;
using testing::spmd;

// Calls body(table, buffer_items) for tables and buffers of several kinds. Collective.
template <class Body>
void for_each_table(team& team, const Body& body) {
  const auto with = [&](std::uint64_t n, auto distribution, std::size_t buffer_items) {
    SCOPED_TRACE(fmt::format("{} of {}, buffers of {}", decltype(distribution)::name, n, buffer_items));
    dist_array<std::int64_t, decltype(distribution)> table(team, n, distribution);
    body(table, buffer_items);
    team.barrier();
  };
  with(1, block{}, 7);
  with(300, cyclic{}, 7);
  with(300, block{}, 1024);
  with(64, block_cyclic{3}, 1);
}

// How often every rank together asks for element `index`.
std::int64_t asked_for(const testing::demand& wanted, int ranks, std::uint64_t n, std::uint64_t index) {
  std::int64_t count = 0;
  for (int rank = 0; rank < ranks; ++rank)
    for (const auto one : wanted.indices({rank, ranks, n})) count += static_cast<std::uint64_t>(one) == index;
  return count;
}

TEST(Updater, counts_every_item_once_over_several_uses) {
  spmd([](team& team) {
    for_each_table(team, [&](auto& table, std::size_t buffer_items) {
      updater add(table, op::add{}, {.buffer_items = buffer_items});
      for (const auto& wanted : testing::demands()) {
        SCOPED_TRACE(wanted.name);
        std::fill(table.local().begin(), table.local().end(), 0);
        team.barrier();
        const auto indices = wanted.indices({team.rank(), team.size(), table.size()});
        for (int use = 0; use < 3; ++use) {  // no barrier between uses: a fast rank's next use meets a slow rank's last
          for (const auto index : indices) add.update(index, use + 1);
          add.flush();
        }
        team.barrier();
        for (std::size_t k = 0; k < table.local().size(); ++k) {
          const std::uint64_t index = table.map().index_of(team.rank(), k);
          ASSERT_EQ(table.local()[k], (1 + 2 + 3) * asked_for(wanted, team.size(), table.size(), index)) << index;
        }
      }
    });
  });
}

TEST(Scatterer, every_element_holds_what_somebody_wrote_for_it) {
  spmd([](team& team) {
    for_each_table(team, [&](auto& table, std::size_t buffer_items) {
      scatterer into(table, {.buffer_items = buffer_items});
      for (const auto& wanted : testing::demands()) {
        SCOPED_TRACE(wanted.name);
        std::fill(table.local().begin(), table.local().end(), -1);
        team.barrier();
        for (const auto index : wanted.indices({team.rank(), team.size(), table.size()}))
          into.copy(index, index * team.size() + team.rank());
        into.flush();
        team.barrier();
        for (std::size_t k = 0; k < table.local().size(); ++k) {
          const auto index = static_cast<std::int64_t>(table.map().index_of(team.rank(), k));
          const std::int64_t found = table.local()[k];
          if (asked_for(wanted, team.size(), table.size(), static_cast<std::uint64_t>(index)) == 0) {
            ASSERT_EQ(found, -1) << index;
            continue;
          }
          ASSERT_EQ(found / team.size(), index) << found;
          const auto theirs = wanted.indices({static_cast<int>(found % team.size()), team.size(), table.size()});
          ASSERT_NE(std::find(theirs.begin(), theirs.end(), index), theirs.end()) << found << " for " << index;
        }
      }
    });
  });
}

TEST(Gatherer, every_place_gets_its_element_over_several_uses) {
  spmd([](team& team) {
    for_each_table(team, [&](auto& table, std::size_t buffer_items) {
      for (std::size_t k = 0; k < table.local().size(); ++k)
        table.local()[k] = -static_cast<std::int64_t>(table.map().index_of(team.rank(), k)) - 1;
      team.barrier();
      gatherer from(table, {.buffer_items = buffer_items});
      for (const auto& wanted : testing::demands())
        for (int use = 0; use < 2; ++use) {
          const auto indices = wanted.indices({team.rank(), team.size(), table.size()});
          std::vector<std::int64_t> out(indices.size());
          for (std::size_t i = 0; i < indices.size(); ++i) from.copy(&out[i], indices[i]);
          from.flush();
          for (std::size_t i = 0; i < indices.size(); ++i)
            ASSERT_EQ(out[i], -indices[i] - 1) << wanted.name << ", " << i << " in use " << use;
        }
    });
  });
}

TEST(Streams, carry_elements_of_any_size) {
  spmd([](team& team) {
    const auto check = [&]<class T>(T) {
      dist_array<T, cyclic> table(team, 500);
      const auto value = [](std::int64_t index) { return mixed_value<T>(static_cast<std::uint64_t>(index), 1, 2); };
      scatterer into(table, {.buffer_items = 16});
      for (std::int64_t i = team.rank(); i < 500; i += team.size()) into.copy(499 - i, value(499 - i));
      into.flush();
      team.barrier();
      gatherer from(table, {.buffer_items = 16});
      std::vector<T> out(1000);
      for (std::int64_t i = 0; i < 1000; ++i) from.copy(&out[static_cast<std::size_t>(i)], i * 7 % 500);
      from.flush();
      for (std::int64_t i = 0; i < 1000; ++i) {
        const T right = value(i * 7 % 500);
        ASSERT_EQ(std::memcmp(&out[static_cast<std::size_t>(i)], &right, sizeof(T)), 0) << i;
      }
      team.barrier();
    };
    check(std::uint8_t{});
    check(std::int16_t{});
    check(std::array<std::uint32_t, 3>{});
    check(std::array<std::uint64_t, 3>{});
  });
}

TEST(Streams, an_index_out_of_range_is_named_and_the_stream_goes_on) {
  spmd([](team& team) {
    dist_array<std::int64_t, cyclic> table(team, 100);
    updater add(table);
    for (const std::int64_t bad : {100, -1}) {
      try {
        add.update(bad, 1);
        ADD_FAILURE() << bad;
      } catch (const error& e) {
        EXPECT_EQ(e.code(), errc::usage);
        EXPECT_NE(std::string(e.what()).find(std::to_string(bad)), std::string::npos) << e.what();
        EXPECT_NE(std::string(e.what()).find("updater"), std::string::npos) << e.what();
      }
    }
    add.update(99, 5);
    add.flush();
    team.barrier();
    const location last = table.map().owner_offset(99);
    EXPECT_TRUE(last.rank != team.rank() || table.local()[last.offset] == 5 * team.size());
    team.barrier();
  });
}

// An engine of nothing but a deque per rank would do for one rank: the streams use push, drain and advance, and no more.
class loopback_engine {
 public:
  loopback_engine(team&, std::size_t) {}
  template <class Item>
  bool push(int, const Item& item) {
    held_.emplace_back(reinterpret_cast<const std::byte*>(&item), reinterpret_cast<const std::byte*>(&item + 1));
    return true;
  }
  template <class Item, class F>
  std::size_t drain(F f) {
    const std::size_t count = held_.size();
    for (; !held_.empty(); held_.pop_front()) f(0, *reinterpret_cast<const Item*>(held_.front().data()));
    return count;
  }
  bool advance(bool done) { return !done || !held_.empty(); }

 private:
  std::deque<std::vector<std::byte>> held_;
};

TEST(Streams, take_any_engine_that_pushes_drains_and_advances) {
  spmd([](team& team) {
    dist_array<std::int64_t, cyclic> table(team, 10);
    updater<std::int64_t, cyclic, op::max, loopback_engine> largest(table);
    largest.update(team.rank() % 10, 4);  // the own element where there are up to 10 ranks
    largest.flush();
    EXPECT_EQ(table.local()[0], 4);
    team.barrier();
  });
}

}  // namespace
}  // namespace longshore
