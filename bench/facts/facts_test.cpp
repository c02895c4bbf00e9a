// Facts about machine and environment, read from invented files.
#include "facts/environment.hpp"
#include "facts/program.hpp"
#include "facts/system.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace longshore::bench {
namespace {

class MachineFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = std::filesystem::temp_directory_path() / "longshore-facts-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    root_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }

  std::filesystem::path root_;
};

TEST_F(MachineFiles, give_processors_memory_and_system) {
  write("proc/cpuinfo",
        "processor\t: 0\nmodel name\t: Example CPU 9999\nflags\t\t: fpu hypervisor avx2\n");
  write("proc/meminfo", "MemTotal:       2048 kB\nMemFree: 1 kB\n");
  write("etc/os-release", "NAME=\"X\"\nPRETTY_NAME=\"Example Linux 1\"\nIMAGE_VERSION=2026-05\n");
  write("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
  write("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
  for (int cpu = 0; cpu < 8; ++cpu) {  // two sockets of two cores of two threads
    const std::string folder = "sys/devices/system/cpu/cpu" + std::to_string(cpu);
    write(folder + "/topology/physical_package_id", std::to_string(cpu / 4) + "\n");
    write(folder + "/topology/core_id", std::to_string(cpu / 2 % 2) + "\n");
    write(folder + "/cpufreq/scaling_governor", cpu == 7 ? "powersave\n" : "performance\n");
  }
  write("sys/devices/system/cpu/cpufreq/x", "");
  write("sys/devices/system/node/node0/x", "");
  write("sys/devices/system/node/node1/x", "");
  const json facts = system_facts(root_);
  EXPECT_EQ(facts.at("cpu"), "Example CPU 9999");
  EXPECT_EQ(facts.at("sockets"), 2);
  EXPECT_EQ(facts.at("cores"), 4);
  EXPECT_EQ(facts.at("logical_cpus"), 8);
  EXPECT_EQ(facts.at("numa_nodes"), 2);
  EXPECT_EQ(facts.at("governor"), "performance,powersave");
  EXPECT_EQ(facts.at("memory_bytes"), 2048 * 1024);
  EXPECT_EQ(facts.at("os"), "Example Linux 1");
  EXPECT_EQ(facts.at("image"), "2026-05");
  EXPECT_EQ(facts.at("transparent_huge_pages"), "madvise");
  EXPECT_EQ(facts.at("clock_source"), "tsc");
  EXPECT_EQ(facts.at("virtualised"), true);
}

TEST_F(MachineFiles, if_missing_give_null_and_no_error) {
  const json facts = system_facts(root_);
  for (const char* name :
       {"cpu", "sockets", "cores", "logical_cpus", "numa_nodes", "governor", "memory_bytes", "os",
        "image", "transparent_huge_pages", "clock_source", "virtualised"})
    EXPECT_TRUE(facts.at(name).is_null()) << name;
}

TEST(Environment, is_recorded_by_an_allow_list_and_secrets_are_masked) {
  const char* const environment[] = {"OMPI_MCA_btl=self,vader",
                                     "UCX_RNDV_THRESH=256K",
                                     "FI_PROVIDER=cxi",
                                     "MPICH_OFI_NIC_POLICY=NUMA",
                                     "LONGSHORE_TIMEOUT=5",
                                     "OMP_NUM_THREADS=4",
                                     "SLURM_JOB_ID=77",
                                     "SLURM_JWT=eyJ",
                                     "UCX_AUTH_TOKEN=abc",
                                     "OMPI_MCA_some_Password=hunter",
                                     "LONGSHORE_API_KEY=xyz",
                                     "HOME=/home/me",
                                     "AWS_SECRET_ACCESS_KEY=zzz",
                                     "OMPI_COMM_WORLD_RANK=0",
                                     "OMPI_MCA_orte_precondition_transports=15b8-cdd8",
                                     "PMIX_SERVER_URI4=tcp://127.0.0.1:49027",
                                     "I_MPI_HYDRA_UUID=f4080000-bacd",
                                     "SLURM_STEP_ID=3",
                                     "SLURM_STEPID=3",
                                     nullptr};
  EXPECT_EQ(recorded_environment(environment), json::parse(R"x({
    "FI_PROVIDER":"cxi","LONGSHORE_API_KEY":"(masked)","LONGSHORE_TIMEOUT":"5",
    "MPICH_OFI_NIC_POLICY":"NUMA","OMPI_MCA_btl":"self,vader",
    "OMPI_MCA_some_Password":"(masked)","OMP_NUM_THREADS":"4","SLURM_JOB_ID":"77",
    "SLURM_JWT":"(masked)",
    "UCX_AUTH_TOKEN":"(masked)","UCX_RNDV_THRESH":"256K"
})x"));
  EXPECT_EQ(recorded_environment(nullptr), json::object());
}

TEST(Environment, gives_modules_as_a_list_or_null) {
  unsetenv("LOADEDMODULES");
  EXPECT_TRUE(loaded_modules().is_null());
  setenv("LOADEDMODULES", "craype/2.7:cray-mpich/8.1::gcc/12", 1);
  EXPECT_EQ(loaded_modules(), json::parse(R"(["craype/2.7","cray-mpich/8.1","gcc/12"])"));
  unsetenv("LOADEDMODULES");
}

TEST(Program, names_its_version_and_compiler) {
  const json facts = program_facts();
  EXPECT_EQ(facts.at("name"), "longshore-bench");
  EXPECT_FALSE(facts.at("version").get<std::string>().empty());
  EXPECT_FALSE(facts.at("compiler").get<std::string>().empty());
  const json git = facts.at("git");
  EXPECT_TRUE(git.is_null() || git.get<std::string>().size() >= 40) << git;
  EXPECT_EQ(git.is_null(), facts.at("git_dirty").is_null());
}

}  // namespace
}  // namespace longshore::bench
