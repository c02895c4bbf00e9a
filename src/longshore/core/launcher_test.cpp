#include <longshore/core/error.hpp>
#include <longshore/core/launcher.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace longshore {
namespace {

// Only the given variables of launchers are set. The test's own variables come back.
class Launcher : public testing::Test {
 protected:
  Launcher() {
    for (const char* name :
         {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMI_SIZE", "PMIX_RANK",
          "MPI_LOCALRANKID", "SMPI_RANK", "SMPI_GLOBAL_SIZE", "SLURM_PROCID", "SLURM_NTASKS",
          "SLURM_STEP_NUM_TASKS", "ENVIRONMENT"}) {
      const char* value = std::getenv(name);
      before_.emplace_back(name, value == nullptr ? "" : value);
      unsetenv(name);
    }
  }
  ~Launcher() override {
    for (const auto& [name, value] : before_)
      if (value.empty())
        unsetenv(name.c_str());
      else
        setenv(name.c_str(), value.c_str(), 1);
  }
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;

  static void set(const std::vector<std::pair<std::string, std::string>>& variables) {
    for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
  }

 private:
  std::vector<std::pair<std::string, std::string>> before_;
};

TEST_F(Launcher, nothing_started_a_process_without_variables) {
  EXPECT_FALSE(launched());
  EXPECT_NO_THROW(require_launch_of("MPI", 1));
}

TEST_F(Launcher, rank_and_count_come_from_each_kind_of_launcher) {
  for (const auto& [rank, count] : std::vector<std::pair<std::string, std::string>>{
           {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
           {"PMI_RANK", "PMI_SIZE"},
           {"SLURM_PROCID", "SLURM_NTASKS"},
           {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"}}) {
    set({{rank, "3"}, {count, "4"}});
    const auto processes = launched();
    ASSERT_TRUE(processes) << count;
    EXPECT_EQ(processes->rank, 3) << count;
    EXPECT_EQ(processes->count, 4) << count;
    EXPECT_EQ(processes->variable, count);
    EXPECT_THROW(require_launch_of("MPI", 1), error) << count;
    EXPECT_NO_THROW(require_launch_of("MPI", 4)) << count;
    unsetenv(rank.c_str());
    unsetenv(count.c_str());
  }
  set({{"PMIX_RANK", "2"}});
  ASSERT_TRUE(launched());
  EXPECT_EQ(launched()->rank, 2);
  EXPECT_EQ(launched()->count, 0);
  EXPECT_NO_THROW(require_launch_of("MPI", 1));
}

TEST_F(Launcher, the_launcher_that_started_this_process_counts) {
  set({{"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "2"}, {"OMPI_COMM_WORLD_SIZE", "1"}});
  EXPECT_EQ(launched()->count, 1);
}

TEST_F(Launcher, a_single_task_and_the_script_of_a_batch_job_are_no_launch) {
  set({{"SLURM_PROCID", "0"},
       {"SLURM_NTASKS", "1"},
       {"PMI_RANK", "0"},
       {"PMI_SIZE", "1"},
       {"PMIX_RANK", "0"}});
  EXPECT_FALSE(launched());
  set({{"PMI_SIZE", "4"}});  // mpiexec in that shell
  ASSERT_TRUE(launched());
  EXPECT_EQ(launched()->count, 4);
  for (const char* name : {"PMI_RANK", "PMI_SIZE", "PMIX_RANK"}) unsetenv(name);
  set({{"SLURM_NTASKS", "4"}, {"ENVIRONMENT", "BATCH"}});
  EXPECT_FALSE(launched());
}

TEST_F(Launcher, a_variable_that_is_no_number_tells_nothing) {
  set({{"PMI_SIZE", "four"}, {"PMI_RANK", "-1"}});
  EXPECT_FALSE(launched());
}

}  // namespace
}  // namespace longshore
