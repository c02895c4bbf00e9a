#include <longshore/core/error.hpp>
#include <longshore/machine/tasks.hpp>
#include <longshore/machine/thread_pool.hpp>

namespace longshore {
namespace {

constexpr int most_tasks = 4096;

bool is_planned(std::string_view layer) { return layer == "openmp" || layer == "tbb"; }
bool is_known(std::string_view layer) { return layer == "serial" || layer == "threads" || is_planned(layer); }

}  // namespace

std::vector<std::string> task_layer_names() { return {"serial", "threads", "openmp", "tbb"}; }

std::optional<std::string> why_no_tasks(std::string_view layer, int count) {
  if (!is_known(layer)) return fmt::format("unknown tasking layer '{}': serial, threads, openmp or tbb", layer);
  if (is_planned(layer)) return fmt::format("tasks {}: this build has only serial and threads", layer);
  if (count < 0 || count > most_tasks) return fmt::format("{} tasks: 1 to {} make sense", count, most_tasks);
  if (layer == "serial" && count > 1) return fmt::format("tasks serial are one, not {}: use threads", count);
  return std::nullopt;
}

tasks::tasks(const task_options& options) : name_(options.layer), count_(options.count) {
  if (const auto reason = why_no_tasks(options.layer, options.count))
    fail(is_planned(options.layer) ? errc::unsupported : errc::usage, "{}", *reason);
  if (options.count < 1) fail(errc::usage, "{} tasks: 1 to {} make sense", options.count, most_tasks);
  if (options.layer == "threads") layer_ = std::make_unique<thread_pool>(options);
}

}  // namespace longshore
