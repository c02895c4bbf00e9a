// Profiles survive writing and reading. Damaged lines, foreign lines and other files do no harm.
#include <longshore/core/error.hpp>
#include <longshore/gather/detail/tuning/profile.hpp>

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <thread>

namespace longshore::detail {
namespace {

namespace fs = std::filesystem;

profile_key key_of(int ranks) {
  return {.operation = "gather",
          .table = "L2",
          .element_bytes = 8,
          .layout = {ranks, ranks, 1, false},
          .combine = false};
}

std::vector<timed_choice> some_times(double seconds) {
  return {{{gather_strategy::exstack, 4096, 0}, 1000, seconds, 9},
          {{gather_strategy::conveyor, 1024, 2}, 1000, 2 * seconds, 3}};
}

bool equal(const std::vector<timed_choice>& a, const std::vector<timed_choice>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const timed_choice& x, const timed_choice& y) {
                      return x.choice == y.choice && x.requests == y.requests &&
                             x.seconds == y.seconds && x.turns == y.turns;
                    });
}

std::string content(const fs::path& file) {
  std::ifstream in(file);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

void write(const fs::path& file, const std::string& text) { std::ofstream(file) << text; }

class ProfileFile : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = ::testing::TempDir() + "longshore-profile-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder = name;
  }
  void TearDown() override { fs::remove_all(folder); }
  fs::path folder;
};

TEST(Profile, text_that_was_written_is_read_again) {
  tuning_profile one("machine1");
  one.put(key_of(2), some_times(0.25));
  one.put(key_of(4), some_times(1e-6));
  tuning_profile other("machine1");
  ASSERT_TRUE(other.read(one.text()));
  EXPECT_TRUE(equal(other.find(key_of(2)), some_times(0.25)));
  EXPECT_TRUE(equal(other.find(key_of(4)), some_times(1e-6)));
  EXPECT_TRUE(other.find(key_of(3)).empty());
  EXPECT_EQ(other.text(), one.text());
}

TEST(Profile, keys_that_differ_in_any_part_are_different) {
  tuning_profile profile("m");
  profile.put(key_of(2), some_times(1));
  const auto unknown = [&](auto change) {
    profile_key other = key_of(2);
    change(other);
    return profile.find(other).empty();
  };
  EXPECT_TRUE(unknown([](profile_key& k) { k.operation = "update"; }));
  EXPECT_TRUE(unknown([](profile_key& k) { k.table = "memory"; }));
  EXPECT_TRUE(unknown([](profile_key& k) { k.element_bytes = 16; }));
  EXPECT_TRUE(unknown([](profile_key& k) { k.layout.nodes = 1; }));
  EXPECT_TRUE(unknown([](profile_key& k) { k.layout.node_ranks = 2; }));
  EXPECT_TRUE(unknown([](profile_key& k) { k.layout.all_reachable = true; }));
  EXPECT_TRUE(unknown([](profile_key& k) { k.combine = true; }));
  EXPECT_FALSE(unknown([](profile_key&) {}));
}

TEST(Profile, lines_of_another_machine_are_kept_and_not_used) {
  tuning_profile machine1("m1");
  machine1.put(key_of(2), some_times(1));
  tuning_profile machine2("m2");
  ASSERT_TRUE(machine2.read(machine1.text()));
  EXPECT_TRUE(machine2.find(key_of(2)).empty());
  machine2.put(key_of(2), some_times(3));
  tuning_profile again("m1");
  ASSERT_TRUE(again.read(machine2.text()));
  EXPECT_TRUE(equal(again.find(key_of(2)), some_times(1)));
}

TEST(Profile, a_new_measurement_replaces_the_old_one) {
  tuning_profile profile("m");
  profile.put(key_of(2), some_times(1));
  profile.put(key_of(2), some_times(2));
  EXPECT_TRUE(equal(profile.find(key_of(2)), some_times(2)));
}

TEST(Profile, damage_loses_only_the_measurement_that_it_hits) {
  tuning_profile whole("m");
  whole.put(key_of(2), some_times(1));
  whole.put(key_of(4), some_times(2));
  const std::string text = whole.text();
  const std::size_t second_key = text.find(" 4 4 1 ");
  ASSERT_NE(second_key, std::string::npos);
  for (std::size_t cut = 0; cut < text.size(); ++cut) {
    tuning_profile read("m");
    read.read(text.substr(0, cut));
    EXPECT_TRUE(read.find(key_of(4)).empty()) << "cut at " << cut;
    const auto first = read.find(key_of(2));
    EXPECT_TRUE(first.empty() || equal(first, some_times(1))) << "cut at " << cut;
    EXPECT_TRUE(cut < second_key || !first.empty()) << "cut at " << cut;
  }
  for (const char* nonsense : {"-1", "0", "nan", "1e400", "x", "auto", "99999999999999999999"}) {
    std::string bad = text;
    const std::size_t at = bad.rfind("conveyor 1024");
    bad.replace(at + 9, 4, nonsense);
    tuning_profile read("m");
    EXPECT_TRUE(read.read(bad));
    EXPECT_TRUE(read.find(key_of(4)).empty()) << nonsense;
    EXPECT_FALSE(read.find(key_of(2)).empty()) << nonsense;
  }
  std::string automatic = text;
  automatic.replace(automatic.rfind("conveyor"), 8, "auto");
  tuning_profile read("m");
  EXPECT_TRUE(read.read(automatic));
  EXPECT_TRUE(read.find(key_of(4)).empty());
}

TEST(Profile, text_that_is_not_a_profile_of_this_version_is_refused) {
  tuning_profile profile("m");
  profile.put(key_of(2), some_times(1));
  const std::string text = profile.text();
  tuning_profile other("m");
  EXPECT_FALSE(other.read(""));
  EXPECT_FALSE(other.read("#!/bin/sh\n"));
  EXPECT_FALSE(other.read("longshore-gather-profile 2" + text.substr(text.find('\n'))));
  EXPECT_TRUE(other.find(key_of(2)).empty());
  EXPECT_TRUE(other.read(text));
}

TEST_F(ProfileFile, is_created_with_its_folders_and_read_again) {
  const fs::path file = folder / "cache" / "longshore" / "p";
  tuning_profile profile("m");
  profile.put(key_of(2), some_times(1));
  EXPECT_EQ(write_profile(file, profile), std::nullopt);
  tuning_profile read("m");
  read_profile(file, read);
  EXPECT_TRUE(equal(read.find(key_of(2)), some_times(1)));
  EXPECT_EQ(std::distance(fs::directory_iterator(file.parent_path()), {}), 1)
      << "the temporary file is gone";
}

TEST_F(ProfileFile, keeps_measurements_of_others) {
  const fs::path file = folder / "p";
  tuning_profile one("m"), other("m"), elsewhere("n");
  one.put(key_of(2), some_times(1));
  other.put(key_of(4), some_times(2));
  elsewhere.put(key_of(8), some_times(3));
  for (const auto* profile : {&one, &other, &elsewhere})
    EXPECT_EQ(write_profile(file, *profile), std::nullopt);
  tuning_profile read("m");
  read_profile(file, read);
  EXPECT_FALSE(read.find(key_of(2)).empty());
  EXPECT_FALSE(read.find(key_of(4)).empty());
  EXPECT_NE(content(file).find("\nn gather"), std::string::npos);
}

TEST_F(ProfileFile, stays_intact_if_several_threads_write_at_once) {
  const fs::path file = folder / "p";
  std::vector<std::thread> writers;
  std::atomic<int> failures{0}, damaged{0};
  for (int w = 0; w < 4; ++w)
    writers.emplace_back([&, w] {
      for (int i = 0; i < 50; ++i) {
        tuning_profile mine("m");
        mine.put(key_of(w + 1), some_times(i + 1));
        failures += write_profile(file, mine).has_value();
        tuning_profile read("m");
        damaged += !read.read(content(file));
      }
    });
  for (auto& writer : writers) writer.join();
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(damaged, 0);
  tuning_profile read("m");
  read_profile(file, read);
  EXPECT_FALSE(read.find(key_of(1)).empty() && read.find(key_of(2)).empty() &&
               read.find(key_of(3)).empty() && read.find(key_of(4)).empty());
}

TEST_F(ProfileFile, never_overwrites_a_file_that_is_not_a_profile) {
  const fs::path file = folder / "thesis.txt";
  write(file, "years of work\n");
  tuning_profile profile("m");
  profile.put(key_of(2), some_times(1));
  EXPECT_NE(write_profile(file, profile).value_or("").find("thesis.txt"), std::string::npos);
  EXPECT_EQ(content(file), "years of work\n");
  EXPECT_TRUE(write_profile(folder, profile).has_value()) << "a folder";
  write(file, "longshore-gather-profile 0\nold\n");
  EXPECT_EQ(write_profile(file, profile), std::nullopt);
  EXPECT_EQ(content(file), profile.text());
}

TEST_F(ProfileFile, an_unwritable_path_is_reported) {
  tuning_profile profile("m");
  profile.put(key_of(2), some_times(1));
  write(folder / "file", "");
  EXPECT_TRUE(write_profile(folder / "file" / "p", profile).has_value())
      << "a folder that is a file";
  EXPECT_TRUE(write_profile("/proc/longshore/p", profile).has_value());
  if (::geteuid() != 0) {
    fs::permissions(folder, fs::perms::owner_read | fs::perms::owner_exec);
    EXPECT_TRUE(write_profile(folder / "p", profile).has_value());
    fs::permissions(folder, fs::perms::owner_all);
  }
  tuning_profile read("m");
  read_profile(folder / "nothing", read);
  EXPECT_TRUE(read.find(key_of(2)).empty());
}

TEST(ProfileLocation, follows_the_environment) {
  const auto location_with = [](const char* profile, const char* cache, const char* home) {
    const auto set = [](const char* name, const char* value) {
      if (value == nullptr)
        ::unsetenv(name);
      else
        ::setenv(name, value, 1);
    };
    set("LONGSHORE_PROFILE", profile);
    set("XDG_CACHE_HOME", cache);
    set("HOME", home);
    return locate_profile("abc");
  };
  EXPECT_TRUE(location_with("off", "/c", "/h").off);
  EXPECT_EQ(location_with("/some/file", "/c", "/h").file, "/some/file");
  EXPECT_EQ(location_with(nullptr, "/c", "/h").file, "/c/longshore/gather-abc.profile");
  EXPECT_EQ(location_with(nullptr, "relative", "/h").file,
            "/h/.cache/longshore/gather-abc.profile");
  EXPECT_EQ(location_with(nullptr, nullptr, "/h").file, "/h/.cache/longshore/gather-abc.profile");
  EXPECT_TRUE(location_with(nullptr, nullptr, nullptr).file.empty());
}

TEST(MachineDescription, differs_between_transports_and_library_versions) {
  const std::string here = machine_description("mpi", "Open MPI 4.1.4");
  EXPECT_EQ(here, machine_description("mpi", "Open MPI 4.1.4"));
  EXPECT_NE(machine_id(here), machine_id(machine_description("mpi", "Open MPI 4.1.5")));
  EXPECT_NE(machine_id(here), machine_id(machine_description("threads", "")));
  EXPECT_EQ(machine_id(here).find(' '), std::string::npos);
}

}  // namespace
}  // namespace longshore::detail
