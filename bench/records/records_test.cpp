// Records and the table.
#include <longshore/core/error.hpp>

#include "records/recorder.hpp"
#include "records/table.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace longshore::bench {
namespace {

class RecordFile : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = std::filesystem::temp_directory_path() / "longshore-records-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    path_ = folder_ / "records.json";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::vector<json> lines() const {
    std::ifstream in(path_);
    std::vector<json> records;
    for (std::string line; std::getline(in, line);) records.push_back(json::parse(line));
    return records;
  }

  std::filesystem::path folder_, path_;
};

variant_result sample_result(const char* strategy, double rate, bool verified = true) {
  variant_result result;
  result.levels = json{{"strategy", strategy}, {"requests", 100}};
  result.verified = verified;
  result.repetitions = 3;
  result.iterations = 8;
  result.seconds = {.median = 1 / rate,
                    .p10 = 0.9 / rate,
                    .p90 = 1.1 / rate,
                    .best = 0.8 / rate,
                    .mean_over_ranks_median = 1 / rate,
                    .phases = {}};
  result.probe_seconds = 2e-6;
  result.cache_line = cache_line_seconds{.median = 8e-8, .p10 = 7e-8, .p90 = 9e-8};
  result.moved = {1, 2, 3, 4};
  result.metrics = {{"rate", rate, "1/s"}, {"latency", 1 / rate, "s", false}};
  return result;
}

TEST_F(RecordFile, holds_samples_and_results_as_documented) {
  record_file file(path_.string());
  recorder written("gather", file, false);
  repetition seconds{.max = 3,
                     .median = 2,
                     .min = 1,
                     .mean = 2,
                     .phases = {{"exchange", 0.5}},
                     .phase_minima = {0.5}};
  written.sample(json{{"strategy", "agp"}}, 4, 7, seconds);
  auto result = sample_result("agp", 2);
  result.metrics.push_back(per_node("bandwidth", 2, "GB/s"));
  written.result(result);
  written.skipped({json{{"strategy", "auto"}}, "not yet"});
  file.write_last(end_record({1, 0, 1}));
  // Another rank may not know yet that the file has ended.
  file.write(json{{"record", "sample"}});
  const auto records = lines();
  ASSERT_EQ(records.size(), 4U);
  EXPECT_EQ(records[0], json::parse(R"({"record":"sample","pattern":"gather",
    "variant":{"strategy":"agp"},"repetition":4,"position":7,
    "seconds":{"max":3.0,"median":2.0,"min":1.0},"phases":{"exchange":0.5}})"));
  EXPECT_EQ(records[1], json::parse(R"({"record":"result","pattern":"gather",
    "variant":{"strategy":"agp","requests":100},"verified":true,
    "repetitions":3,"iterations":8,"made":"once",
    "seconds":{"median":0.5,"p10":0.45,"p90":0.55},"pulse_seconds":2e-6,
    "cache_line_seconds":{"median":8e-8,"p10":7e-8,"p90":9e-8},
    "traffic":{"messages":1,"payload_bytes":2,"wire_bytes":3,"offnode_bytes":4},
    "metrics":{"rate":{"value":2.0,"unit":"1/s","better":"higher"},
    "latency":{"value":0.5,"unit":"s","better":"lower"},
    "bandwidth":{"value":2.0,"unit":"GB/s","better":"higher","per":"node"}}})"));
  EXPECT_EQ(records[2], json::parse(R"({"record":"result","pattern":"gather",
    "variant":{"strategy":"auto"},"skipped":"not yet"})"));
  EXPECT_EQ(records[3],
            json::parse(R"({"record":"end","status":"ok","results":1,"wrong":0,"skipped":1})"));
}

TEST_F(RecordFile, holds_the_phases_that_were_asked_for) {
  record_file file(path_.string());
  recorder written("halo", file, false);
  auto result = sample_result("agp", 2);
  result.seconds.phases = {{"pack", 0.2}};
  result.median_phase_minima = {{"pack", 0.1}};
  written.result(result);
  result.median_phase_means = {{"pack", 0.15}};
  written.result(result);
  const auto records = lines();
  EXPECT_FALSE(records[0].contains("phases_mean"));
  EXPECT_EQ(records[1].at("phases"), json::parse(R"({"pack":0.2})"));
  EXPECT_EQ(records[1].at("phases_least"), json::parse(R"({"pack":0.1})"));
  EXPECT_EQ(records[1].at("phases_mean"), json::parse(R"({"pack":0.15})"));
}

TEST_F(RecordFile, is_readable_after_every_line) {
  record_file file(path_.string());
  for (std::size_t i = 0; i < 5; ++i) {
    file.write(json{{"record", "sample"}, {"repetition", i}});
    EXPECT_EQ(lines().size(), i + 1);
  }
}

TEST_F(RecordFile, holds_whole_lines_when_the_disk_is_full) {
  const rlimit small{100, 100};
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto old = std::signal(SIGXFSZ, SIG_IGN);
  record_file file(path_.string());
  rlimit limit = small;
  limit.rlim_max = before.rlim_max;
  setrlimit(RLIMIT_FSIZE, &limit);
  file.write(json{{"fits", 1}});
  EXPECT_THROW(file.write(json{{"does not fit", std::string(200, 'x')}}), error);
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, old);
  EXPECT_EQ(lines().size(), 1U);
}

TEST_F(RecordFile, that_cannot_be_opened_is_a_usage_error_and_without_a_name_nothing_is_written) {
  EXPECT_THROW(record_file{(folder_ / "missing" / "x").string()}, error);
  record_file none{std::nullopt};
  none.write(json{{"a", 1}});
}

TEST_F(RecordFile, has_one_writer_at_a_time) {
  {
    record_file first(path_.string());
    first.write(json{{"a", 1}});
    EXPECT_THROW(record_file{path_.string()}, error);
    EXPECT_EQ(lines().size(), 1U);
  }
  record_file next(path_.string());
  EXPECT_EQ(lines().size(), 0U);
}

TEST_F(RecordFile, is_utf8_whatever_the_environment_holds) {
  record_file file(path_.string());
  file.write(json{{"text", "a\xff"}});
  EXPECT_EQ(lines().at(0).at("text"), "a\xef\xbf\xbd");
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(Table, marks_the_best_right_result_of_each_group_in_the_order_of_the_command_line) {
  std::vector<table_row> rows{sample_result("slow", 2), sample_result("fast", 4),
                              sample_result("wrong", 100, false)};
  for (std::size_t i = 0; i < rows.size(); ++i)
    std::get<variant_result>(rows[i]).index = rows.size() - i;
  rows.emplace_back(
      skipped_variant{json{{"strategy", "auto"}, {"requests", 100}}, "not in this build"});
  rows.emplace_back(
      skipped_variant{json{{"strategy", "tbb"}, {"requests", 100}}, "not in this build"});
  const auto lines = lines_of(table(rows, false));
  ASSERT_EQ(lines.size(), 7U);
  EXPECT_EQ(lines[0], "requests=100");
  EXPECT_EQ(lines[1], "   strategy  rate 1/s  latency s   median      p10      p90  verified");
  EXPECT_EQ(lines[2], "   wrong        100.0    0.01000  10.0 ms  9.00 ms  11.0 ms     WRONG");
  EXPECT_EQ(lines[3], "*  fast         4.000     0.2500   250 ms   225 ms   275 ms       yes");
  EXPECT_EQ(lines[4], "   slow         2.000     0.5000   500 ms   450 ms   550 ms       yes");
  EXPECT_EQ(lines[5],
            "* best rate among those that differ only in strategy, or within its p10 to p90");
  EXPECT_EQ(lines[6], "skipped: not in this build (strategy=auto requests=100, and 1 more)");
}

TEST(Table, marks_all_results_that_the_spread_of_the_best_does_not_tell_apart) {
  auto best = sample_result("best", 4);
  best.seconds.p90 = 10;  // an outlier hides no difference
  const std::vector<table_row> rows{best, sample_result("near", 3.9), sample_result("same", 4),
                                    sample_result("slow", 3)};
  std::string marks;
  for (const auto& line : lines_of(table(rows, false))) marks += line.front();
  EXPECT_EQ(marks, "r *** *");  // the constant factor, the headings, the rows, the legend
}

TEST(Table, is_plain_without_colour_and_names_unverified_results) {
  auto unverified = sample_result("a", 1);
  unverified.verified.reset();
  unverified.warning = "too short";
  const std::vector<table_row> rows{unverified, sample_result("b", 2)};
  const auto plain = table(rows, false), coloured = table(rows, true);
  EXPECT_EQ(plain.find('\x1b'), std::string::npos);
  EXPECT_NE(coloured.find('\x1b'), std::string::npos);
  EXPECT_NE(plain.find("unverified"), std::string::npos);
  EXPECT_NE(plain.find("warning: too short (strategy=a requests=100)"), std::string::npos);
}

TEST(Table, has_a_column_for_each_kind_of_figure) {
  auto copy = sample_result("copy", 5), pingpong = sample_result("pingpong", 1);
  copy.levels = json{{"kernel", "copy"}};
  pingpong.levels = json{{"kernel", "pingpong"}};
  pingpong.metrics = {{"latency_us", 1.5, "us", false}};
  const auto lines = lines_of(table(std::vector<table_row>{copy, pingpong}, false));
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0].substr(0, 48), "  kernel    rate 1/s  latency_us us  latency s  ");
  EXPECT_EQ(lines[1].substr(0, 46), "  copy         5.000              -     0.2000");
  EXPECT_EQ(lines[2].substr(0, 46), "  pingpong         -          1.500          -");
}

TEST(Table, shows_whether_a_figure_is_per_node_or_per_rank) {
  auto copy = sample_result("copy", 5);
  copy.metrics = {
      per_node("bandwidth", 5, "GB/s"), per_rank("rank_bandwidth", 1, "GB/s"), {"all", 9, "GB/s"}};
  const auto lines = lines_of(table(std::vector<table_row>{copy}, false));
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_NE(
      lines[1].find("  bandwidth GB/s per node  rank_bandwidth GB/s per rank  all GB/s  median"),
      std::string::npos);
}

TEST(Table, shows_the_means_of_phases_that_were_timed) {
  auto timed = sample_result("timed", 4);
  timed.median_phase_means = {{"pack", 0.002}, {"wait", 3e-6}};
  const auto lines = lines_of(table(std::vector<table_row>{sample_result("not", 5), timed}, false));
  ASSERT_EQ(lines.size(), 6U);
  EXPECT_NE(lines[1].find("     p90     pack     wait  verified"), std::string::npos) << lines[1];
  EXPECT_NE(lines[2].find("  220 ms        -        -       yes"), std::string::npos) << lines[2];
  EXPECT_NE(lines[3].find("  275 ms  2.00 ms  3.00 us       yes"), std::string::npos) << lines[3];
  EXPECT_EQ(lines[4], "pack, wait: means over the ranks, in repetitions of their own");
}

TEST(Table, rounds_numbers_for_people) {
  EXPECT_EQ(seconds_text(0), "0.00 ns");
  EXPECT_EQ(seconds_text(1.2345e-7), "123 ns");
  EXPECT_EQ(seconds_text(9.999e-5), "100.0 us");
  EXPECT_EQ(seconds_text(0.0125), "12.5 ms");
  EXPECT_EQ(seconds_text(12), "12.0 s");
  EXPECT_EQ(number_text(1.23456), "1.235");
  EXPECT_EQ(number_text(0.0123456), "0.01235");
  EXPECT_EQ(number_text(123456), "123456");
  EXPECT_EQ(number_text(1.5e9), "1.500e+09");
}

}  // namespace
}  // namespace longshore::bench
