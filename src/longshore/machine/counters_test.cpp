// Counters: what is known to happen is counted, what the kernel refuses has a reason and no value,
// and what shared a register is scaled.
#include <longshore/machine/event_counters.hpp>
#include <longshore/machine/kernel_counts.hpp>
#include <longshore/machine/pages.hpp>

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

// Events that the kernel makes itself: they can be counted wherever perf_event_open is allowed,
// also in virtual machines.
constexpr std::array<counted_event, 2> software{{
    {"page_faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
    {"task_clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
}};
constexpr counted_event nonsense{"nonsense", PERF_TYPE_HARDWARE, 12345};
// far more than the start of a thread touches, also under a sanitizer
constexpr std::size_t page_count = 3000;

void touch_fresh_pages() {
  const pages memory(page_count * page_bytes());
  madvise(memory.data(), memory.size_bytes(), MADV_NOHUGEPAGE);
  for (std::size_t at = 0; at < memory.size_bytes(); at += page_bytes())
    static_cast<volatile std::byte*>(memory.data())[at] = std::byte{1};
}

TEST(KernelCounts, sleeping_is_a_voluntary_switch_and_touching_a_fault) {
  const kernel_counts thread_before = thread_counts(), process_before = process_counts();
  // Twice as many as are asked for: a sleep that is over before the thread could be put aside is no
  // switch.
  for (int i = 0; i < 40; ++i) std::this_thread::sleep_for(std::chrono::microseconds(500));
  touch_fresh_pages();
  const kernel_counts thread = thread_counts() - thread_before,
                      process = process_counts() - process_before;
  EXPECT_GE(thread.voluntary_switches, 20u);
  EXPECT_GE(thread.faults.minor, page_count);
  EXPECT_GE(process.voluntary_switches, thread.voluntary_switches);
  EXPECT_GE(process.faults.minor, thread.faults.minor);
}

TEST(KernelCounts, of_a_thread_leave_out_other_threads_and_those_of_the_process_do_not) {
  const kernel_counts thread_before = thread_counts(), process_before = process_counts();
  std::thread(touch_fresh_pages).join();
  EXPECT_LT((thread_counts() - thread_before).faults.minor, page_count);
  EXPECT_GE((process_counts() - process_before).faults.minor, page_count);
}

TEST(KernelCounts, add_up) {
  kernel_counts sum{{1, 2}, 3, 4};
  sum += {{10, 20}, 30, 40};
  EXPECT_EQ(sum.faults.minor, 11u);
  EXPECT_EQ(sum.faults.major, 22u);
  EXPECT_EQ(sum.voluntary_switches, 33u);
  EXPECT_EQ(sum.involuntary_switches, 44u);
}

TEST(EventCounters, count_what_this_thread_and_its_tasks_do) {
  const event_counters counters(software);
  if (!counters.why_not(0).empty()) GTEST_SKIP() << counters.why_not(0);
  const auto before = counters.read();
  touch_fresh_pages();
  const auto alone = counters.read();
  std::thread(touch_fresh_pages).join();
  const auto together = counters.read();
  // Faults in user mode only, of both threads. Those of this one's start and end are few.
  EXPECT_GE(*counted_between(*before[0], *alone[0]), page_count);
#ifndef __SANITIZE_THREAD__  // whose own memory is fresh, too
  EXPECT_LT(*counted_between(*before[0], *alone[0]), 2 * page_count);
#endif
  EXPECT_GE(*counted_between(*alone[0], *together[0]), page_count)
      << "a thread that was started later is counted too";
  EXPECT_GT(*counted_between(*before[1], *together[1]), 0);
  EXPECT_EQ(share_counted(*before[0], *together[0]), 1);
}

TEST(EventCounters, that_are_refused_have_a_reason_and_no_value) {
  const event_counters counters(std::array{nonsense, software[0]});
  ASSERT_EQ(counters.size(), 2u);
  EXPECT_STREQ(counters.name(0), "nonsense");
  EXPECT_NE(counters.why_not(0).find("not supported"), std::string::npos) << counters.why_not(0);
  EXPECT_FALSE(counters.read()[0].has_value());
  EXPECT_EQ(counters.read()[1].has_value(), counters.why_not(1).empty())
      << "one refusal does not cost the others";
}

TEST(EventCounters, of_the_processor_count_or_say_why_not) {
  const event_counters counters;
  const auto before = counters.read();
  touch_fresh_pages();
  const auto after = counters.read();
  for (std::size_t i = 0; i < counters.size(); ++i) {
    EXPECT_EQ(before[i].has_value(), counters.why_not(i).empty()) << counters.name(i);
    if (before[i] && std::string_view(counters.name(i)) == "instructions") {
      EXPECT_GT(*counted_between(*before[i], *after[i]), page_count);
    }
  }
}

// As containers do it: the thread may not call perf_event_open, and gets this error instead.
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

TEST(EventCounters, say_that_the_kernel_refuses_them) {
  for (const auto& [error_number, word] :
       {std::pair{EPERM, "refused"}, std::pair{ENOSYS, "no perf_event_open"}}) {
    bool forbidden = false;
    std::string why;
    bool has_value = true;
    std::thread([&, number = error_number] {  // a filter stays for the life of its thread
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

TEST(EventCounters, name_the_setting_that_refuses_them) {
  EXPECT_NE(detail::why_refused(EACCES, 3).find("perf_event_paranoid is 3"), std::string::npos);
  EXPECT_EQ(detail::why_refused(EACCES, 1).find("paranoid"), std::string::npos)
      << "it is not to blame";
  EXPECT_EQ(detail::why_refused(EPERM, std::nullopt).find("paranoid"), std::string::npos);
  EXPECT_NE(detail::why_refused(ENOENT, 2).find("does not count it"), std::string::npos);
  EXPECT_NE(detail::why_refused(EMFILE, 2).find("open files"), std::string::npos);
}

TEST(EventCounters, that_shared_a_register_are_scaled) {
  const event_count before{100, 1000, 1000}, half{600, 3000, 2000}, never{100, 3000, 1000},
      whole{600, 3000, 3000};
  EXPECT_DOUBLE_EQ(*counted_between(before, half), 1000);
  EXPECT_DOUBLE_EQ(share_counted(before, half), 0.5);
  EXPECT_DOUBLE_EQ(*counted_between(before, whole), 500);
  EXPECT_FALSE(counted_between(before, never).has_value()) << "not counted at all is no 0";
  EXPECT_DOUBLE_EQ(*counted_between(before, before), 0) << "no time has passed";
}

}  // namespace
}  // namespace longshore
