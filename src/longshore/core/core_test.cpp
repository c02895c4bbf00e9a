// Rounding, clocks, environment variables, messages of errors, random numbers and delayed notices.
#include <longshore/core/bytes.hpp>
#include <longshore/core/clock.hpp>
#include <longshore/core/delayed_notice.hpp>
#include <longshore/core/environment.hpp>
#include <longshore/core/error.hpp>
#include <longshore/core/name_lookup.hpp>
#include <longshore/core/random.hpp>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <future>
#include <new>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace longshore {
namespace {
enum class distance { faces = 1, edges };
}
template <>
inline constexpr enum_names<2> all_names<distance> = {
    .kind = "distance", .names = {"faces", "edges"}, .first = 1};

namespace {

TEST(NameLookup, finds_the_value_or_refuses_with_the_whole_list) {
  for (const auto value : values_of<distance>())
    EXPECT_EQ(from_name<distance>(name_of(value)), value);
  EXPECT_EQ(from_name<distance>("edges"), distance::edges);
  for (const char* wrong : {"", "face", "facess", "Faces"}) {
    try {
      (void)from_name<distance>(wrong);
      FAIL() << wrong << " was accepted";
    } catch (const error& e) {
      EXPECT_EQ(e.code(), errc::usage);
      EXPECT_EQ(std::string(e.what()),
                fmt::format("no distance is named '{}': it is one of faces, edges", wrong));
    }
  }
}

template <class Thrown>
std::string text_of(const Thrown& thrown) {
  return failure_text(std::make_exception_ptr(thrown));
}

TEST(Error, failure_text_begins_with_the_code_of_an_error_and_the_type_of_another_exception) {
  EXPECT_EQ(text_of(error(errc::timeout, "too late")), "timeout: too late");
  EXPECT_EQ(text_of(std::out_of_range("no such rank")),
            "the program threw std::out_of_range: no such rank");
  EXPECT_EQ(text_of(std::bad_alloc()), "out of memory: an allocation failed");
  EXPECT_EQ(text_of(program_failure("it returned 2")), "it returned 2");
  EXPECT_EQ(text_of("why"), "the program threw the text 'why'");
  EXPECT_EQ(text_of(std::string("why")), "the program threw the text 'why'");
  EXPECT_EQ(text_of(7), "the program threw int, which is no std::exception");
}

TEST(Error, messages_name_fields_by_their_place) {
  const std::array<std::string, 8> names{"1st",  "2nd",  "3rd",  "4th",
                                         "10th", "11th", "21st", "112th"};
  const std::array<std::size_t, 8> indices{0, 1, 2, 3, 9, 10, 20, 111};
  for (std::size_t i = 0; i < names.size(); ++i) EXPECT_EQ(detail::nth(indices[i]), names[i]);
}

TEST(DelayedNotice, is_printed_once_and_only_after_its_time) {
  ::testing::internal::CaptureStderr();
  {
    std::promise<void> asked;
    const delayed_notice soon(0, [&] {
      asked.set_value();
      return std::string("it takes long");
    });
    asked.get_future().wait();
  }
  {
    const delayed_notice late(1e6, [] { return std::string("this is never printed"); });
  }
  {
    std::promise<void> asked;
    const delayed_notice over(0, [&] {
      asked.set_value();
      return std::string();
    });
    asked.get_future().wait();
  }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "it takes long\n");
}

TEST(Environment, the_error_for_a_bad_value_has_variable_value_and_range) {
  for (const char* bad : {"ten", "1e", "-1", "1000001", "3 "}) {
    ::setenv("LONGSHORE_TEST_VALUE", bad, 1);
    try {
      (void)environment_number("LONGSHORE_TEST_VALUE", 0, 1e6);
      FAIL() << bad << " was accepted";
    } catch (const error& e) {
      EXPECT_EQ(e.code(), errc::usage);
      EXPECT_NE(std::string(e.what()).find("LONGSHORE_TEST_VALUE='" + std::string(bad) + "'"),
                std::string::npos)
          << e.what();
    }
  }
  ::setenv("LONGSHORE_TEST_VALUE", "2.5", 1);
  EXPECT_EQ(environment_number("LONGSHORE_TEST_VALUE", 0, 10), 2.5);
  EXPECT_THROW((void)environment_integer("LONGSHORE_TEST_VALUE", 0, 10), error);
  ::setenv("LONGSHORE_TEST_VALUE", "", 1);
  EXPECT_EQ(environment_integer("LONGSHORE_TEST_VALUE", 0, 10), std::nullopt);
}

TEST(Random, streams_of_one_seed_differ_and_are_reproducible) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t stream = 0; stream < 100; ++stream) {
    random_stream a(122222, stream), b(122222, stream);
    const auto first = a();
    EXPECT_EQ(first, b());
    seen.insert(first);
  }
  EXPECT_EQ(seen.size(), 100u);
}

TEST(Random, below_fills_its_range_evenly) {
  random_stream random(7);
  std::array<int, 10> counts{};
  for (int i = 0; i < 100000; ++i) ++counts[random.below(10)];
  // 27.9 is the 99.9 % point of chi-square with 9 degrees of freedom.
  double chi = 0;
  for (int n : counts) chi += (n - 10000.0) * (n - 10000.0) / 10000.0;
  EXPECT_LT(chi, 27.9);
}

TEST(HashOf, differs_for_each_text_and_continues_from_another_hash) {
  static_assert(hash_of("") == 0 && hash_of("a") == mix_bits('a'));
  const std::array<std::string_view, 6> texts = {"", "a", "b", "ab", "ba", "abc"};
  std::set<std::uint64_t> hashes;
  for (const auto text : texts) hashes.insert(hash_of(text));
  EXPECT_EQ(hashes.size(), texts.size());
  EXPECT_EQ(hash_of("bc", hash_of("a")), hash_of("abc"));
}

TEST(Random, shuffle_gives_a_permutation) {
  std::vector<int> items(1000);
  std::iota(items.begin(), items.end(), 0);
  random_stream random(1);
  shuffle(std::span<int>(items), random);
  EXPECT_FALSE(std::is_sorted(items.begin(), items.end()));
  std::sort(items.begin(), items.end());
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(items[i], i);
}

TEST(Bytes, round_up_reaches_the_next_multiple) {
  EXPECT_EQ(round_up(0, 64), 0u);
  EXPECT_EQ(round_up(1, 64), 64u);
  EXPECT_EQ(round_up(64, 64), 64u);
  EXPECT_EQ(round_up(65, 24), 72u);
}

TEST(Clock, is_monotonic) {
  double last = monotonic_seconds();
  for (int i = 0; i < 1000; ++i) {
    const double now = monotonic_seconds();
    ASSERT_GE(now, last);
    last = now;
  }
}

}  // namespace
}  // namespace longshore
