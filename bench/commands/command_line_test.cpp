// Accepted command lines, and the messages for refused ones.
#include <longshore/core/error.hpp>

#include "commands/command_line.hpp"
#include "commands/parse_levels.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

namespace longshore::bench {
namespace {

pattern sample_pattern() {
  pattern sample{"gather", "fetches", {}, {"longshore-bench gather --strategy agp"}, {}, {}};
  sample.factors = {
      {.name = "strategy",
       .allowed = {"agp", "exstack", "exstack2", "conveyor"},
       .defaults = "agp,exstack",
       .help = "how"},
      {.name = "requests", .type = factor::kind::integer, .defaults = {"1000"}, .help = "how many"},
      {.name = "task-count",
       .type = factor::kind::integer,
       .defaults = {},
       .help = "how many",
       .low = 1,
       .high = 64},
      {.name = "periodic",
       .type = factor::kind::triple,
       .defaults = {"1,1,1"},
       .help = "around",
       .low = 0,
       .high = 1},
  };
  return sample;
}

const std::vector<pattern>& patterns() {
  static const std::vector<pattern> patterns{sample_pattern(),
                                             {.name = "halo",
                                              .help = "exchanges",
                                              .factors = {},
                                              .examples = {},
                                              .why_not = {},
                                              .make = {},
                                              .times_phases = true}};
  return patterns;
}

request parse(std::vector<const char*> words) {
  for (const char* name : {"LONGSHORE_TRANSPORT", "LONGSHORE_RANKS", "LONGSHORE_RANKS_PER_NODE"})
    unsetenv(name);
  words.insert(words.begin(), "longshore-bench");
  return parse_command_line(static_cast<int>(words.size()), words.data(), patterns());
}

// The message of the usage error that these words cause.
std::string refusal(const std::vector<const char*>& words) {
  try {
    static_cast<void>(parse(words));
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::usage);
    EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos) << "more than one line";
    return e.what();
  }
  return "(accepted)";
}

void expect_refusal(const std::vector<const char*>& words,
                    const std::vector<const char*>& expected_words) {
  const std::string message = refusal(words);
  for (const char* part : expected_words)
    EXPECT_NE(message.find(part), std::string::npos) << "'" << part << "' is not in: " << message;
}

TEST(CommandLine, lists_become_levels_with_their_types) {
  const auto asked = parse({"gather", "--strategy", "exstack,agp", "--requests=5,10",
                            "--task-count", "3", "--periodic", "1,0,1,0,0,0"});
  ASSERT_EQ(asked.requested, request::action::measure);
  EXPECT_EQ(asked.measured->name, "gather");
  ASSERT_EQ(asked.factors.size(), 4U);
  EXPECT_EQ(json(asked.factors[0].levels), json::parse(R"(["exstack","agp"])"));
  EXPECT_EQ(json(asked.factors[1].levels), json::parse("[5,10]"));
  EXPECT_EQ(json(asked.factors[2].levels), json::parse("[3]"));
  EXPECT_EQ(json(asked.factors[3].levels), json::parse("[[1,0,1],[0,0,0]]"));
}

TEST(CommandLine, defaults_hold_where_nothing_is_given) {
  unsetenv("LONGSHORE_PIN");
  const auto asked = parse({"gather"});
  EXPECT_EQ(json(asked.factors[0].levels), json::parse(R"(["agp","exstack"])"));
  EXPECT_TRUE(asked.factors[2].levels.empty());
  EXPECT_EQ(asked.options.repetitions, 10);
  EXPECT_EQ(asked.options.warmup, 1);
  EXPECT_EQ(asked.options.seed, 122222U);
  EXPECT_EQ(asked.options.verify, verification::all);
  EXPECT_TRUE(asked.options.shuffle);
  EXPECT_FALSE(asked.json_file);
  EXPECT_TRUE(asked.launch.pin);
}

TEST(CommandLine, common_options_are_understood) {
  const auto asked = parse({"gather", "--transport", "threads", "--ranks", "3", "--ranks-per-node",
                            "2", "--repetitions", "4", "--warmup", "0", "--seed", "7", "--json",
                            "-", "--no-verify", "--no-shuffle", "--iterations", "9"});
  EXPECT_EQ(asked.launch.transport, "threads");
  EXPECT_EQ(asked.launch.ranks, 3);
  EXPECT_EQ(asked.launch.ranks_per_node, 2);
  EXPECT_EQ(asked.options.repetitions, 4);
  EXPECT_EQ(asked.options.warmup, 0);
  EXPECT_EQ(asked.options.iterations, 9);
  EXPECT_EQ(asked.options.seed, 7U);
  EXPECT_EQ(asked.json_file, "-");
  EXPECT_EQ(asked.options.verify, verification::no);
  EXPECT_FALSE(asked.options.shuffle);
}

TEST(CommandLine, an_option_given_again_makes_its_list_longer) {
  const auto asked = parse({"gather", "--strategy", "agp", "--strategy", "conveyor"});
  EXPECT_EQ(json(asked.factors[0].levels), json::parse(R"(["agp","conveyor"])"));
  expect_refusal({"gather", "--ranks", "2", "--ranks", "3"}, {"--ranks", "2 times", "2, 3"});
}

TEST(CommandLine, an_unknown_pattern_is_answered_with_the_known_ones) {
  expect_refusal({"gathre"}, {"'gathre'", "gather, halo", "did you mean 'gather'?"});
  expect_refusal({}, {"gather, halo"});
  expect_refusal({"--ranks", "2"}, {"--ranks", "the pattern comes first"});
}

TEST(CommandLine, phases_are_timed_on_request_and_only_of_patterns_that_can) {
  EXPECT_FALSE(parse({"halo"}).options.phases);
  EXPECT_TRUE(parse({"halo", "--phases"}).options.phases);
  EXPECT_NE(parse({"halo", "--help"}).text.find("--phases"), std::string::npos);
  expect_refusal({"halo", "--phase"}, {"did you mean '--phases'?"});
  expect_refusal({"gather", "--phases"}, {"--phases is no option of gather"});
  EXPECT_EQ(parse({"gather", "--help"}).text.find("--phases"), std::string::npos);
}

TEST(CommandLine, an_unknown_option_is_answered_with_a_similar_one) {
  expect_refusal({"gather", "--stratgey", "agp"}, {"--stratgey", "did you mean '--strategy'?"});
  expect_refusal({"gather", "--rank", "2"}, {"--rank ", "did you mean '--ranks'?"});
  expect_refusal({"gather", "--zzz=1"}, {"--zzz is no option of gather"});
  expect_refusal({"gather", "agp"}, {"'agp'", "without an option"});
}

TEST(CommandLine, an_unknown_level_is_answered_with_the_allowed_ones) {
  expect_refusal(
      {"gather", "--strategy", "exstak"},
      {"--strategy", "'exstak'", "agp, exstack, exstack2, conveyor", "did you mean 'exstack'?"});
  expect_refusal({"gather", "--strategy", "agp,convey"},
                 {"'convey' in 'agp,convey'", "did you mean 'conveyor'?"});
  expect_refusal({"gather", "--transport", "mip"},
                 {"--transport", "'mip'", "threads, mpi, shmem, ucx"});
}

TEST(CommandLine, numbers_that_make_no_sense_are_refused) {
  for (const char* number : {"-5", "0", "1000000000000000000000000000000", "1e6", "0x10", "1.5",
                             "five", " 5", "+5", "5 "})
    expect_refusal({"gather", "--requests", number},
                   {"--requests", number, "a whole number from 1 to 1099511627776"});
  expect_refusal({"gather", "--task-count", "65"}, {"--task-count", "'65'", "from 1 to 64"});
  expect_refusal({"gather", "--periodic", "1,2,1"},
                 {"--periodic", "'2' in '1,2,1'", "from 0 to 1"});
  expect_refusal({"gather", "--ranks", "0"}, {"--ranks", "'0'", "from 1 to"});
  expect_refusal({"gather", "--ranks", "99999999999999999999"},
                 {"--ranks", "'99999999999999999999'"});
  expect_refusal({"gather", "--repetitions", "-1"}, {"--repetitions", "'-1'"});
  expect_refusal({"gather", "--verify", "end"}, {"--verify", "'end'", "did you mean 'ends'"});
  expect_refusal({"gather", "--verify", "all", "--no-verify"}, {"--verify all", "contradict"});
  expect_refusal({"gather", "--warmup", "-1"}, {"--warmup", "'-1'", "from 0"});
  expect_refusal({"gather", "--seed", "-1"}, {"--seed", "'-1'", "from 0"});
}

TEST(CommandLine, broken_lists_are_refused) {
  expect_refusal({"gather", "--strategy", "agp,"}, {"--strategy", "'agp,'", "empty level"});
  expect_refusal({"gather", "--strategy", ",agp"}, {"',agp'", "empty level"});
  expect_refusal({"gather", "--strategy", "agp,,exstack"}, {"empty level"});
  expect_refusal({"gather", "--strategy", ""}, {"--strategy", "nothing is given", "agp, exstack"});
  expect_refusal({"gather", "--strategy"}, {"--strategy", "value is missing"});
  expect_refusal({"gather", "--strategy", "agp,agp"}, {"--strategy", "agp twice"});
  expect_refusal({"gather", "--requests", "5,05"}, {"5 twice"});
  expect_refusal({"gather", "--periodic", "1,1"}, {"--periodic", "'1,1' has 2 numbers", "X,Y,Z"});
  expect_refusal({"gather", "--periodic", "1,1,1,1,1,1"}, {"1,1,1] twice"});
  expect_refusal({"gather", "--ranks", "2,4"}, {"--ranks", "'2,4' is a list"});
  expect_refusal({"gather", "--json", ""}, {"--json", "name of a file"});
}

TEST(CommandLine, too_many_combinations_are_refused) {
  const auto numbers_up_to = [](int last) {
    std::string list = "1";
    for (int i = 2; i <= last; ++i) list.append(1, ',').append(std::to_string(i));
    return list;
  };
  const std::string many = numbers_up_to(1000), tasks = numbers_up_to(64);
  expect_refusal({"gather", "--strategy", "agp,exstack", "--requests", many.c_str(), "--task-count",
                  tasks.c_str()},
                 {"100000", "--task-count"});
}

TEST(CommandLine, help_lists_every_option_and_an_example) {
  const auto asked = parse({"gather", "--help"});
  ASSERT_EQ(asked.requested, request::action::print);
  for (const char* word :
       {"--strategy", "--requests", "--task-count", "--transport", "--ranks-per-node", "--json",
        "--no-verify", "agp, exstack, exstack2, conveyor", "longshore-bench gather --strategy agp",
        "Exit status"})
    EXPECT_NE(asked.text.find(word), std::string::npos) << word;
  EXPECT_NE(parse({"--help"}).text.find("gather"), std::string::npos);
  EXPECT_EQ(parse({"--list"}).requested, request::action::list);
  expect_refusal({"--list", "gather"}, {"--list stands alone"});
}

TEST(CommandLine, settings_of_the_environment_are_checked) {
  setenv("LONGSHORE_TIMEOUT", "soon", 1);
  expect_refusal({"gather"}, {"LONGSHORE_TIMEOUT", "'soon'"});
  setenv("LONGSHORE_TIMEOUT", "5", 1);
  setenv("LONGSHORE_PIN", "0", 1);
  const auto asked = parse({"gather"});
  EXPECT_EQ(asked.launch.timeout_seconds, 5);
  EXPECT_FALSE(asked.launch.pin);
  unsetenv("LONGSHORE_TIMEOUT");
  unsetenv("LONGSHORE_PIN");
}

TEST(Suggestion, is_made_for_slips_and_not_for_other_words) {
  const std::vector<std::string> known{"persistent", "pairwise", "waitall", "put"};
  EXPECT_EQ(nearest_word("presistent", known), "persistent");
  EXPECT_EQ(nearest_word("persist", known), "persistent");
  EXPECT_EQ(nearest_word("wait-all", known), "waitall");
  EXPECT_EQ(nearest_word("pt", known), "put");
  EXPECT_EQ(nearest_word("banana", known), "");
  EXPECT_EQ(suggestion("banana", known), "");
}

}  // namespace
}  // namespace longshore::bench
