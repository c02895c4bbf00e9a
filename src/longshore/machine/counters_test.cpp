// Counters of the kernel and the processor: known events are counted, refused counters have a
// reason and no value, and counters that shared a register are scaled.
#include <longshore/machine/event_counters.hpp>
#include <longshore/machine/pages.hpp>
#include <longshore/machine/resource_usage.hpp>

#include <gtest/gtest.h>

#include <linux/filter.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <thread>

namespace longshore {
namespace {

// Events of the kernel can be counted wherever perf_event_open is allowed, also in virtual
// machines.
constexpr std::array<counted_event, 2> software{{
    {"page_faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
    {"task_clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
}};
constexpr counted_event nonsense{"nonsense", PERF_TYPE_HARDWARE, 12345};
// many more pages than the start of a thread touches, also under a sanitizer
constexpr std::size_t page_count = 3000;

void touch(const pages& memory) {
  madvise(memory.data(), memory.size_bytes(), MADV_NOHUGEPAGE);
  for (std::size_t at = 0; at < memory.size_bytes(); at += page_bytes())
    static_cast<volatile std::byte*>(memory.data())[at] = std::byte{1};
}

void touch_fresh_pages() { touch(pages(page_count * page_bytes())); }

TEST(ResourceUsage, counts_sleeping_as_voluntary_switch_and_touching_as_fault) {
  const resource_usage thread_before = thread_usage(), process_before = process_usage();
  // Sleeps twice as often as expected below: a sleep without a switch of the kernel does not count.
  for (int i = 0; i < 40; ++i) std::this_thread::sleep_for(std::chrono::microseconds(500));
  touch_fresh_pages();
  const resource_usage thread = thread_usage() - thread_before,
                       process = process_usage() - process_before;
  EXPECT_GE(thread.voluntary_switches, 20u);
  EXPECT_GE(thread.faults.minor, page_count);
  EXPECT_GE(process.voluntary_switches, thread.voluntary_switches);
  EXPECT_GE(process.faults.minor, thread.faults.minor);
}

TEST(ResourceUsage, touching_pages_again_causes_no_faults) {
  const pages memory(page_count * page_bytes());
  touch(memory);
  const resource_usage before = thread_usage();
  touch(memory);
  EXPECT_LT((thread_usage() - before).faults.minor, 10u);
}

TEST(ResourceUsage, of_a_thread_excludes_other_threads_but_of_the_process_includes_them) {
  const resource_usage thread_before = thread_usage(), process_before = process_usage();
  std::thread(touch_fresh_pages).join();
  EXPECT_LT((thread_usage() - thread_before).faults.minor, page_count);
  EXPECT_GE((process_usage() - process_before).faults.minor, page_count);
}

TEST(ResourceUsage, can_be_added) {
  resource_usage sum{{1, 2}, 3, 4};
  sum += {{10, 20}, 30, 40};
  EXPECT_EQ(sum.faults.minor, 11u);
  EXPECT_EQ(sum.faults.major, 22u);
  EXPECT_EQ(sum.voluntary_switches, 33u);
  EXPECT_EQ(sum.involuntary_switches, 44u);
}

TEST(EventCounters, count_this_thread_and_the_threads_that_it_starts) {
  const event_counters counters(software);
  if (!counters.why_not(0).empty()) GTEST_SKIP() << counters.why_not(0);
  const auto before = counters.read();
  touch_fresh_pages();
  const auto alone = counters.read();
  std::thread(touch_fresh_pages).join();
  const auto together = counters.read();
  EXPECT_GE(*count_between(*before[0], *alone[0]), page_count);
#ifndef __SANITIZE_THREAD__  // whose own memory causes faults, too
  EXPECT_LT(*count_between(*before[0], *alone[0]), 2 * page_count);
#endif
  EXPECT_GE(*count_between(*alone[0], *together[0]), page_count)
      << "a later thread is counted, too";
  EXPECT_GT(*count_between(*before[1], *together[1]), 0);
  EXPECT_EQ(counted_share(*before[0], *together[0]), 1);
}

TEST(EventCounters, have_a_reason_and_no_value_if_refused) {
  const event_counters counters(std::array{nonsense, software[0]});
  ASSERT_EQ(counters.size(), 2u);
  EXPECT_STREQ(counters.name(0), "nonsense");
  EXPECT_NE(counters.why_not(0).find("not supported"), std::string::npos) << counters.why_not(0);
  EXPECT_FALSE(counters.read()[0].has_value());
  EXPECT_EQ(counters.read()[1].has_value(), counters.why_not(1).empty())
      << "a refusal does not affect other events";
}

TEST(EventCounters, of_the_processor_count_or_have_a_reason) {
  const event_counters counters;
  const auto before = counters.read();
  touch_fresh_pages();
  const auto after = counters.read();
  for (std::size_t i = 0; i < counters.size(); ++i) {
    EXPECT_EQ(before[i].has_value(), counters.why_not(i).empty()) << counters.name(i);
    if (before[i] && std::string_view(counters.name(i)) == "instructions") {
      EXPECT_GT(*count_between(*before[i], *after[i]), page_count);
    }
  }
}

// Makes perf_event_open fail with this error in the calling thread, as containers do.
bool forbid_perf_events(int error_number) {
  std::array<sock_filter, 4> program{{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<unsigned>(error_number)),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

TEST(EventCounters, tell_the_refusal_of_the_kernel) {
  for (const auto& [error_number, word] :
       {std::pair{EPERM, "refused"}, std::pair{ENOSYS, "no perf_event_open"}}) {
    bool forbidden = false;
    std::string why;
    bool has_value = true;
    std::thread([&, number = error_number] {  // the filter lives as long as its thread
      forbidden = forbid_perf_events(number);
      const event_counters counters(software);
      why = counters.why_not(0);
      has_value = counters.read()[0].has_value();
    })
        .join();
    if (!forbidden) GTEST_SKIP() << "this kernel has no filters for system calls";
    EXPECT_NE(why.find(word), std::string::npos) << why;
    EXPECT_FALSE(has_value);
  }
}

TEST(EventCounters, name_the_setting_that_caused_the_refusal) {
  EXPECT_NE(detail::why_refused(EACCES, 3).find("perf_event_paranoid is 3"), std::string::npos);
  EXPECT_EQ(detail::why_refused(EACCES, 1).find("paranoid"), std::string::npos)
      << "it did not cause the refusal";
  EXPECT_EQ(detail::why_refused(EPERM, std::nullopt).find("paranoid"), std::string::npos);
  EXPECT_NE(detail::why_refused(ENOENT, 2).find("does not count it"), std::string::npos);
  EXPECT_NE(detail::why_refused(EMFILE, 2).find("open files"), std::string::npos);
}

TEST(EventCounters, are_scaled_if_they_shared_a_register) {
  const event_reading before{100, 1000, 1000}, half{600, 3000, 2000}, never{100, 3000, 1000},
      whole{600, 3000, 3000};
  EXPECT_DOUBLE_EQ(*count_between(before, half), 1000);
  EXPECT_DOUBLE_EQ(counted_share(before, half), 0.5);
  EXPECT_DOUBLE_EQ(*count_between(before, whole), 500);
  EXPECT_FALSE(count_between(before, never).has_value()) << "never counted is not 0";
  EXPECT_DOUBLE_EQ(*count_between(before, before), 0) << "no time has passed";
}

}  // namespace
}  // namespace longshore
