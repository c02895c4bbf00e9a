// Checks the options of tasks, makes the tasking layer, and starts regions: on the layer, or in the
// calling thread if the region is nested or the layer is serial.
#include <longshore/machine/tasks.hpp>

#include <longshore/core/error.hpp>
#include <longshore/machine/detail/openmp_tasks.hpp>
#include <longshore/machine/detail/task_region.hpp>
#include <longshore/machine/detail/tbb_tasks.hpp>
#include <longshore/machine/detail/thread_pool.hpp>

#include <fmt/core.h>

#include <algorithm>

namespace longshore {
namespace {

constexpr int max_tasks = 4096;

bool is_known(std::string_view layer) {
  const auto names = task_layer_names();
  return std::ranges::find(names, layer) != names.end();
}

// Why this machine or build cannot run `count` tasks of a known layer.
std::optional<std::string> why_no_layer(std::string_view layer, int count) {
  if (layer == "openmp") return detail::why_no_openmp_tasks(count);
  if (layer == "tbb") return detail::why_no_tbb_tasks();
  return std::nullopt;
}

std::unique_ptr<detail::task_layer> make_layer(const task_options& options) {
  if (options.layer == "threads") return std::make_unique<detail::thread_pool>(options);
  if (options.layer == "openmp") return detail::make_openmp_tasks(options);
  if (options.layer == "tbb") return detail::make_tbb_tasks(options);
  return nullptr;
}

}  // namespace

std::vector<std::string> task_layer_names() { return {"serial", "threads", "openmp", "tbb"}; }

std::optional<std::string> why_no_tasks(std::string_view layer, int count) {
  if (!is_known(layer))
    return fmt::format("unknown tasking layer '{}': use serial, threads, openmp or tbb", layer);
  if (count < 0 || count > max_tasks)
    return fmt::format("{} tasks: give 1 to {}", count, max_tasks);
  if (layer == "serial" && count > 1)
    return fmt::format("the layer serial has 1 task, not {}: use threads", count);
  return why_no_layer(layer, count);
}

tasks::tasks() : regions_(std::make_unique<detail::task_region_state>()) {}

tasks::tasks(const task_options& options)
    : name_(options.layer),
      count_(options.count),
      nested_(options.nested),
      regions_(std::make_unique<detail::task_region_state>()) {
  if (options.count < 1) fail(errc::usage, "{} tasks: give 1 to {}", options.count, max_tasks);
  if (const auto reason = why_no_tasks(options.layer, options.count)) {
    const bool is_missing =
        is_known(options.layer) && why_no_layer(options.layer, options.count) == reason;
    fail(is_missing ? errc::unsupported : errc::usage, "{}", *reason);
  }
  layer_ = make_layer(options);
}

tasks::~tasks() = default;
tasks::tasks(tasks&&) noexcept = default;
tasks& tasks::operator=(tasks&&) noexcept = default;

int tasks::running() const noexcept { return regions_->running; }

void tasks::start(detail::region_body body) {
  detail::task_region region(*regions_, body);
  // A nested region must not wait for the lock: tasks that start each other's regions would
  // deadlock.
  std::unique_lock lock(regions_->busy, std::defer_lock);
  if (region.is_nested()) {
    if (nested_ && layer_ && !region.is_nested_in_its_owner()) static_cast<void>(lock.try_lock());
  } else {
    lock.lock();
  }
  if (lock && layer_)
    region.run_on(*layer_, count_);
  else
    region.run_here(count_);
  if (lock) lock.unlock();
  region.rethrow();
}

}  // namespace longshore
