// STREAM over a rank's own arrays and all kinds of tasks. The verification accepts right results
// and finds a single wrong element anywhere.
#include <longshore/stream/stream.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

namespace longshore {
namespace {

constexpr std::array all_kernels = {stream_kernel::copy, stream_kernel::scale, stream_kernel::add,
                                    stream_kernel::triad};

template <class T>
void every_kernel_is_right(std::size_t elements, std::string_view policy) {
  for (const int count : {1, 3}) {
    tasks workers({.layer = count == 1 ? "serial" : "threads", .count = count, .spin = false});
    for (const auto kernel : all_kernels)
      for (const auto stores : {store_kind::ordinary, store_kind::streaming})
        for (const auto touch : {first_touch::serial, first_touch::parallel}) {
          stream run(own_arrays<T>(elements, policy), workers, {kernel, stores, touch});
          EXPECT_EQ(run.wrong_elements(), 0u);  // the initial values
          for (const int runs : {1, 3}) {
            for (int i = 0; i < runs; ++i) run.run();
            EXPECT_EQ(run.wrong_elements(), 0u)
                << name_of(kernel) << ", " << elements << " elements, " << count << " tasks";
          }
        }
  }
}

TEST(Stream, every_kernel_is_right_at_many_sizes) {
  for (const std::size_t elements : {0, 1, 63, 64, 1000, 40'000})
    for (const auto policy : {"malloc", "calloc", "huge"}) {
      every_kernel_is_right<double>(elements, policy);
      if (policy == std::string_view("malloc")) every_kernel_is_right<float>(elements, policy);
    }
}

TEST(Stream, every_kernel_is_right_on_every_tasking_layer_in_every_kind_of_memory) {
  constexpr std::size_t elements = 40'001;
  int ran = 0;
  for (const auto& layer : task_layer_names())
    for (const auto& policy : memory_policy_names()) {
      const int count = layer == "serial" ? 1 : 2;
      if (why_no_tasks(layer, count) || why_no_memory(policy)) continue;
      tasks workers({.layer = layer, .count = count, .spin = false});
      for (const auto kernel : all_kernels) {
        stream run(own_arrays<double>(elements, policy), workers,
                   {.kernel = kernel, .first_touch = first_touch::parallel});
        for (int i = 0; i < 3; ++i) run.run();
        EXPECT_EQ(run.wrong_elements(), 0u) << name_of(kernel) << ", " << layer << ", " << policy;
        ++ran;
      }
    }
  EXPECT_GE(ran, 2 * 3 * 4);  // serial, threads, malloc, calloc and huge are always available
}

TEST(Stream, first_touch_follows_the_option_or_the_measured_threshold) {
  tasks workers({.layer = "threads", .count = 2}), calling_thread;
  constexpr std::size_t large = 300'000, tiny = 64;
  const auto touched = [](std::size_t elements, tasks& by, first_touch touch) {
    stream run(own_arrays<double>(elements, "huge"), by, {.first_touch = touch});
    EXPECT_EQ(run.wrong_elements(), 0u);
    return std::pair{run.touched_in_parallel(), run.touch_threshold_bytes()};
  };
  EXPECT_EQ(touched(large, workers, first_touch::parallel),
            std::pair(true, std::optional<std::size_t>()));
  EXPECT_EQ(touched(large, workers, first_touch::serial),
            std::pair(false, std::optional<std::size_t>()));
  EXPECT_EQ(touched(tiny, workers, first_touch::automatic),
            std::pair(false, std::optional<std::size_t>()));
  EXPECT_FALSE(touched(large, calling_thread, first_touch::automatic).first);
  const auto [in_parallel, threshold] = touched(large, workers, first_touch::automatic);
  ASSERT_TRUE(threshold);
  if (allowed_numa_nodes().size() == 1) {
    EXPECT_EQ(in_parallel, large * sizeof(double) > *threshold);
  } else {
    EXPECT_TRUE(in_parallel);
  }
}

// Puts each fault into correct arrays, checks that it is found, and removes it.
template <class T>
void faults_are_found() {
  tasks workers({.layer = "threads", .count = 3, .spin = false});
  constexpr std::size_t n = 10'000;
  for (const auto kernel : all_kernels) {
    stream run(own_arrays<T>(n, "malloc"), workers, {.kernel = kernel});
    run.run();
    ASSERT_EQ(run.wrong_elements(), 0u);
    std::size_t faults = 0;
    for (std::size_t array = 0; array < 3; ++array)
      for (const std::size_t i : {std::size_t{0}, std::size_t{1}, n / 3, n / 2, n - 1}) {
        T& item = run.arrays().local(array)[i];
        const T right = item;
        for (const T wrong : {right + T{1},
                              right * (1 + 3 * static_cast<T>(stream_tolerance<T>)) +
                                  std::numeric_limits<T>::denorm_min(),
                              -right - 1, std::numeric_limits<T>::quiet_NaN(),
                              std::numeric_limits<T>::infinity()}) {
          item = wrong;
          EXPECT_EQ(run.wrong_elements(), 1u)
              << name_of(kernel) << " array " << array << " element " << i << " is " << wrong;
          ++faults;
        }
        item = right;
      }
    EXPECT_EQ(faults, 75u);
    EXPECT_EQ(run.wrong_elements(), 0u);
  }
}

TEST(StreamCheck, one_wrong_element_anywhere_is_found) {
  faults_are_found<double>();
  faults_are_found<float>();
}

TEST(StreamCheck, a_kernel_without_effect_and_a_shifted_result_are_found) {
  tasks calling_thread;
  constexpr std::size_t n = 5000;
  for (const auto kernel : all_kernels) {
    stream run(own_arrays<double>(n, "calloc"), calling_thread, {.kernel = kernel});
    const auto result =
        operands_of(kernel, run.arrays().local(0), run.arrays().local(1), run.arrays().local(2))
            .result;
    const std::vector<double> before(result.begin(), result.end());
    run.run();
    const std::vector<double> after(result.begin(), result.end());
    std::ranges::copy(before, result.begin());
    EXPECT_EQ(run.wrong_elements(), n) << name_of(kernel) << " did nothing";
    std::copy(after.begin(), after.end() - 1, result.begin() + 1);
    EXPECT_GE(run.wrong_elements(), n - 1) << name_of(kernel) << " was shifted by one";
  }
}

TEST(OwnArrays, larger_than_the_memory_are_refused) {
  EXPECT_THROW(own_arrays<double>(max_elements, "malloc"), error);
  EXPECT_THROW(own_arrays<double>(std::size_t{1} << 45, "malloc"), error);
  EXPECT_THROW(own_arrays<double>(std::size_t{1} << 45, "huge"), error);
}

}  // namespace
}  // namespace longshore
