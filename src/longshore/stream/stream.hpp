// STREAM on one rank: the first touch of the arrays, the kernel, and the verification of every
// element, for any kind of arrays and tasks.
//
//     longshore::tasks workers({.layer = "threads", .count = 2, .cpus = team.cpus()});
//     longshore::stream triad(longshore::own_arrays<double>(n, "huge"), workers,
//                             {.kernel = longshore::stream_kernel::triad});
//     triad.run();
//     if (triad.wrong_elements() != 0) ...
//
// All calls are local, without communication or barrier. run() moves arrays_touched(kernel) x
// elements x sizeof(T) bytes; ordinary stores also read the cache lines of the result.
#pragma once

#include <longshore/machine/pages.hpp>
#include <longshore/stream/detail/first_touch_threshold.hpp>
#include <longshore/stream/loop.hpp>
#include <longshore/stream/stream_arrays.hpp>

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

namespace longshore {

/// Which threads write the pages first. They decide on which NUMA nodes the pages lie.
enum class first_touch {
  /// All tasks, if a measurement shows that parallel writing pays. Arrays smaller than a page per
  /// task are written by one thread without a measurement.
  automatic,
  serial,   ///< the rank's thread alone
  parallel  ///< each task its own part
};
template <>
inline constexpr enum_names<3> all_names<first_touch> = {"first touch",
                                                         {"auto", "serial", "parallel"}};

struct stream_options {
  stream_kernel kernel = stream_kernel::triad;
  store_kind stores = store_kind::ordinary;
  longshore::first_touch first_touch = longshore::first_touch::automatic;
};

/// The largest relative error of a right element, as in STREAM.
template <class T>
inline constexpr double stream_tolerance = sizeof(T) == sizeof(float) ? 1e-6 : 1e-13;

template <class Arrays>
class stream {
  using part = std::span<typename Arrays::value_type>;  // the part of an array of one task

 public:
  using value_type = typename Arrays::value_type;
  static constexpr value_type scalar = 3;

  /// Writes the initial values. The tasks must outlive the object.
  stream(Arrays arrays, tasks& workers, const stream_options& options)
      : arrays_(std::move(arrays)),
        workers_(workers),
        options_(options),
        loop_(find_stream_loop<value_type>(options.kernel, options.stores)) {
    initialise();
  }

  void set_stores(store_kind stores) {
    options_.stores = stores;
    loop_ = find_stream_loop<value_type>(options_.kernel, stores);
  }

  /// Runs the kernel once over all elements of this rank.
  void run() {
    const auto loop = loop_;
    const auto kernel = options_.kernel;
    arrays_.for_each_span(workers_, [loop, kernel](part a, part b, part c) {
      const auto [result, x, y] = operands_of(kernel, a.data(), b.data(), c.data());
      loop(result, x, y, scalar, a.size());
    });
    ++runs_;
  }

  /// Returns the number of wrong elements in this rank's three arrays. To get the right values,
  /// code that the loops do not use applies the kernel to single values as often as run() was
  /// called.
  [[nodiscard]] std::uint64_t wrong_elements() {
    const auto expected = expected_values();
    std::uint64_t wrong = 0;
    arrays_.for_each_span(workers_, [&](part a, part b, part c) {
      const std::size_t first = first_index(a);
      const std::uint64_t of_task = count_wrong(a, expected[0], first) +
                                    count_wrong(b, expected[1], first) +
                                    count_wrong(c, expected[2], first);
      __atomic_fetch_add(&wrong, of_task, __ATOMIC_RELAXED);
    });
    return wrong;
  }

  /// Whether all tasks wrote the initial values, each its own part.
  [[nodiscard]] bool touched_in_parallel() const noexcept { return touched_in_parallel_; }
  /// The size of an array above which all tasks write first, or nothing if it was not measured.
  [[nodiscard]] std::optional<std::size_t> touch_threshold_bytes() const noexcept {
    return threshold_bytes_;
  }

  [[nodiscard]] Arrays& arrays() noexcept { return arrays_; }
  [[nodiscard]] const stream_options& options() const noexcept { return options_; }

 private:
  // Initial values: 1, 2 and 0 as in STREAM, plus k/64 for the k-th of every 61 elements (exact in
  // float). So an element is wrong if its operands were a neighbour's, and every kernel changes
  // every value.
  static constexpr std::size_t period = 61;
  using period_values = std::array<value_type, period>;
  using values_of_arrays = std::array<period_values, 3>;

  static values_of_arrays initial_values() {
    values_of_arrays values;
    for (std::size_t k = 0; k < period; ++k) {
      const value_type addend = static_cast<value_type>(k) / 64;
      values[0][k] = 1 + addend, values[1][k] = 2 + addend, values[2][k] = addend;
    }
    return values;
  }

  std::size_t first_index(part a) {
    return static_cast<std::size_t>(a.data() - arrays_.local(0).data());
  }

  // With several NUMA nodes, all tasks do the first touch even below the threshold, because pages
  // that one thread touched first are slow for tasks on other nodes. Only arrays with less than a
  // page per task are left to one thread.
  [[nodiscard]] bool should_touch_in_parallel() {
    if (options_.first_touch != first_touch::automatic)
      return options_.first_touch == first_touch::parallel;
    const std::size_t bytes = arrays_.local(0).size_bytes();
    if (bytes < page_bytes() * static_cast<std::size_t>(workers_.count())) return false;
    threshold_bytes_ = detail::measured_first_touch_threshold_bytes(workers_);
    return bytes > *threshold_bytes_ || (workers_.count() > 1 && allowed_numa_nodes().size() > 1);
  }

  void initialise() {
    const auto initial = initial_values();
    touched_in_parallel_ = should_touch_in_parallel();
    tasks calling_thread;
    arrays_.for_each_span(touched_in_parallel_ ? workers_ : calling_thread,
                          [&](part a, part b, part c) {
                            const std::size_t first = first_index(a);
                            fill(a, initial[0], first);
                            fill(b, initial[1], first);
                            fill(c, initial[2], first);
                          });
  }

  static void fill(part items, const period_values& values, std::size_t first) {
    std::size_t k = first % period;
    for (auto& item : items) {
      item = values[k];
      if (++k == period) k = 0;
    }
  }

  values_of_arrays expected_values() const {
    values_of_arrays values = initial_values();
    auto& [a, b, c] = values;
    for (std::uint64_t run = 0; run < runs_; ++run)
      for (std::size_t k = 0; k < period; ++k) switch (options_.kernel) {
          case stream_kernel::copy: c[k] = a[k]; break;
          case stream_kernel::scale: b[k] = scalar * c[k]; break;
          case stream_kernel::add: c[k] = a[k] + b[k]; break;
          case stream_kernel::triad: a[k] = b[k] + scalar * c[k]; break;
        }
    return values;
  }

  static std::uint64_t count_wrong(std::span<const value_type> items, const period_values& expected,
                                   std::size_t first) {
    std::uint64_t wrong = 0;
    std::size_t k = first % period;
    for (const value_type item : items) {
      const double error = static_cast<double>(item) - static_cast<double>(expected[k]);
      // Expected values are not negative.
      const double allowed = stream_tolerance<value_type> * static_cast<double>(expected[k]);
      // A comparison with NaN is false, so a NaN counts as wrong.
      wrong += !(error <= allowed && -error <= allowed);
      if (++k == period) k = 0;
    }
    return wrong;
  }

  Arrays arrays_;
  tasks& workers_;
  stream_options options_;
  stream_loop<value_type> loop_;
  std::uint64_t runs_ = 0;
  bool touched_in_parallel_ = false;
  std::optional<std::size_t> threshold_bytes_;
};

}  // namespace longshore
