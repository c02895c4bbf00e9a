// An error of one rank becomes an error of all ranks, which can continue with the same next call.
#include <longshore/transport/agree_on_arguments.hpp>
#include <longshore/transport/agree_on_errors.hpp>
#include <longshore/transport/detail/is_same_on_all_ranks.hpp>
#include <longshore/transport/spmd_test.hpp>

#include <gtest/gtest.h>

#include <array>
#include <stdexcept>
#include <string>

namespace longshore {
namespace {

using testing::spmd;

// The error code that this rank sees; errc{} without an error.
template <class Step>
errc code_of(team& ranks, const Step& step) {
  try {
    agree_on_errors(ranks, "a test", step);
  } catch (const error& e) {
    return e.code();
  } catch (const std::runtime_error&) {
    return errc::transport;
  }
  return errc{};
}

TEST(AgreeOnErrors, throws_nothing_if_no_rank_fails) {
  spmd([](team& team) {
    int calls = 0;
    EXPECT_EQ(code_of(team, [&] { ++calls; }), errc{});
    EXPECT_EQ(calls, 1);
  });
}

TEST(AgreeOnErrors, an_error_of_one_rank_throws_on_all_and_they_can_go_on) {
  spmd([](team& team) {
    for (int faulty = 0; faulty < team.size(); ++faulty) {
      const bool is_faulty = team.rank() == faulty;
      EXPECT_EQ(code_of(team, [&] { is_faulty ? fail(errc::usage, "a bad number") : void(); }),
                is_faulty ? errc::usage : errc::peer_failed);
      EXPECT_EQ(code_of(team, [&] { is_faulty ? fail(errc::out_of_memory, "too much") : void(); }),
                errc::out_of_memory);
      EXPECT_EQ(code_of(team, [&] { is_faulty ? throw std::bad_alloc() : void(); }),
                errc::out_of_memory);
      EXPECT_EQ(code_of(team, [&] { is_faulty ? throw std::runtime_error("odd") : void(); }),
                is_faulty ? errc::transport : errc::peer_failed);
      team.barrier();
    }
  });
}

TEST(AgreeOnErrors, names_the_lowest_of_several_failed_ranks) {
  spmd([](team& team) {
    if (team.size() < 3) return;
    try {
      agree_on_errors(team, "a test", [&] {
        if (team.rank() == 1) fail(errc::usage, "the first");
        if (team.rank() == 2) fail(errc::out_of_memory, "the second");
      });
      ADD_FAILURE() << "no error";
    } catch (const error& e) {
      const std::string text = team.rank() == 1   ? "the first"
                               : team.rank() == 2 ? "the second"
                                                  : "rank 1 failed: the first";
      EXPECT_NE(std::string(e.what()).find(text), std::string::npos) << e.what();
    }
  });
}

TEST(AgreeOnErrors, all_ranks_throw_the_error_of_the_lowest_rank_with_its_text) {
  spmd([](team& team) {
    agree_on_error_of_lowest_rank(team, "a test", [] {});
    for (int faulty = 0; faulty < team.size(); ++faulty) try {
        agree_on_error_of_lowest_rank(team, "a test", [&] {
          if (team.rank() >= faulty) fail(errc::unsupported, "rank {} has it", team.rank());
        });
        ADD_FAILURE() << "no error";
      } catch (const error& e) {
        EXPECT_EQ(e.code(), errc::unsupported);
        EXPECT_EQ(std::string(e.what()), "rank " + std::to_string(faulty) + " has it");
      }
    try {
      agree_on_error_of_lowest_rank(team, "a test", [&] {
        if (team.rank() == team.size() - 1) throw std::bad_alloc();
      });
      ADD_FAILURE() << "no error";
    } catch (const error& e) {
      EXPECT_EQ(e.code(), errc::out_of_memory);
    }
  });
}

TEST(IsSameOnAllRanks, holds_if_every_rank_passes_the_same_bytes) {
  spmd([](team& team) {
    const bool last = team.rank() == team.size() - 1;
    using text = std::array<char, 12>;
    EXPECT_TRUE(detail::is_same_on_all_ranks(team, text{"one"}));
    EXPECT_EQ(detail::is_same_on_all_ranks(team, last ? text{"onother"} : text{"one"}),
              team.size() == 1);
    EXPECT_EQ(detail::is_same_on_all_ranks(team, last ? -1 : 7), team.size() == 1);
    team.barrier();
  });
}

}  // namespace
}  // namespace longshore
