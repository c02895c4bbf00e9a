// Compares the loops of every kernel, type, kind of store and instruction set of this processor
// with plain arithmetic.
#include <longshore/core/random.hpp>
#include <longshore/machine/memory_sizes.hpp>
#include <longshore/stream/loop.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace longshore {
namespace {

template <class T>
T plain(stream_kernel kernel, T x, T y, T q) {
  return kernel == stream_kernel::copy    ? x
         : kernel == stream_kernel::scale ? q * x
         : kernel == stream_kernel::add   ? x + y
                                          : x + q * y;
}

// Tries lengths around every step of the loops and starts at different distances from a cache line.
// Guards on both sides of the result show writes outside of it.
template <class T>
void compare_with_plain_arithmetic(instruction_set set) {
  random_stream random(5);
  std::size_t compared = 0;
  for (const auto kernel : values_of<stream_kernel>())
    for (const auto stores : {store_kind::ordinary, store_kind::streaming}) {
      const auto loop = find_stream_loop<T>(kernel, stores, set);
      for (std::size_t n = 0; n < 700; n += n < 150 ? 1 : 37)
        for (const std::size_t shift : {0, 1, 3, 8, 15}) {
          std::vector<T> x(n + 64), y(n + 64), result(n + 64, T{-7});
          for (auto& item : x) item = static_cast<T>(random.uniform());
          for (auto& item : y) item = static_cast<T>(random.uniform());
          const std::size_t to = shift + 16;
          loop(result.data() + to, x.data() + shift, y.data() + 2, T{3}, n);
          for (std::size_t i = 0; i < result.size(); ++i) {
            const bool inside = i >= to && i < to + n;
            const T expected =
                inside ? plain<T>(kernel, x[i - to + shift], y[i - to + 2], 3) : T{-7};
            // A fused multiply-add rounds once; plain arithmetic rounds twice.
            ASSERT_LE(std::abs(result[i] - expected),
                      (sizeof(T) == 4 ? 4e-7 : 1e-15) * std::abs(expected))
                << name_of(kernel) << " " << name_of(set) << " n " << n << " shift " << shift
                << " element " << i;
            compared += inside;
          }
        }
    }
  EXPECT_GT(compared, 100'000u);
}

TEST(Loop, every_instruction_set_agrees_with_plain_arithmetic) {
  const auto sets = instruction_sets();
  ASSERT_FALSE(sets.empty());
  for (const auto set : sets) {
    SCOPED_TRACE(name_of(set));
    compare_with_plain_arithmetic<double>(set);
    compare_with_plain_arithmetic<float>(set);
  }
}

TEST(Loop, result_may_be_a_source) {
  for (const auto set : instruction_sets()) {
    std::vector<double> a(1000, 2.0), b(1000, 5.0);
    find_stream_loop<double>(stream_kernel::triad, store_kind::ordinary, set)(
        a.data(), a.data(), b.data(), 3, a.size());
    for (const double item : a) ASSERT_EQ(item, 17.0);
  }
}

TEST(Loop, streaming_stores_are_chosen_beyond_the_caches_that_the_tasks_reach) {
  const std::size_t cache = last_level_cache_bytes(),
                    all_caches = cache * static_cast<std::size_t>(last_level_cache_count());
  EXPECT_EQ(store_kind_for(cache / 2, 1), store_kind::ordinary);
  EXPECT_EQ(store_kind_for(cache + 1, 1), store_kind::streaming);
  EXPECT_EQ(store_kind_for(all_caches, 1 << 20), store_kind::ordinary);
  EXPECT_EQ(store_kind_for(all_caches + 1, 1 << 20), store_kind::streaming);
}

TEST(Kernel, is_found_by_its_name) {
  for (const auto kernel : values_of<stream_kernel>())
    EXPECT_EQ(from_name<stream_kernel>(name_of(kernel)), kernel);
}

}  // namespace
}  // namespace longshore
