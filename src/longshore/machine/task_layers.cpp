// Finds a tasking layer by its name, and makes it. A static program has the layers on foreign
// libraries only if it links them: link_task_layers.cpp.
#include <longshore/machine/tasks.hpp>

#include <longshore/core/detail/module.hpp>
#include <longshore/core/error.hpp>
#include <longshore/machine/detail/task_layer.hpp>
#include <longshore/machine/detail/thread_pool.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <string>

#pragma weak entry_of_longshore_openmp
#pragma weak entry_of_longshore_tbb

namespace longshore {
namespace {

constexpr int max_tasks = 4096;

bool is_known(std::string_view layer) {
  const auto names = task_layer_names();
  return std::ranges::find(names, layer) != names.end();
}

bool is_foreign(std::string_view layer) { return layer == "openmp" || layer == "tbb"; }

detail::found_part<detail::task_layer_entry> find_foreign(std::string_view layer) {
#ifdef LONGSHORE_MODULES
  if (layer == "openmp") return {"openmp", "entry_of_longshore_openmp"};
  return {"tbb", "entry_of_longshore_tbb"};
#else
  return {layer == "openmp" ? &entry_of_longshore_openmp : &entry_of_longshore_tbb};
#endif
}

// Whether a static program can link the layer.
bool is_built([[maybe_unused]] std::string_view layer) {
#ifdef LONGSHORE_HAVE_OPENMP
  if (layer == "openmp") return true;
#endif
#ifdef LONGSHORE_HAVE_TBB
  if (layer == "tbb") return true;
#endif
  return false;
}

const char* remedy_without(std::string_view layer) {
  return layer == "openmp" ? "install OpenMP for your compiler (part of g++; Debian's clang needs "
                             "libomp-dev) and build Longshore again, with LONGSHORE_OPENMP=ON"
                           : "install oneTBB (Debian: libtbb-dev) and build Longshore again, with "
                             "LONGSHORE_TBB=ON";
}

// Why this machine or build cannot run `count` tasks of a known layer.
std::optional<std::string> why_no_layer(std::string_view layer, int count) {
  if (!is_foreign(layer)) return std::nullopt;
  const auto found = find_foreign(layer);
  if (found.entry != nullptr) return found.entry->why_none(count);
  if (is_built(layer))
    return fmt::format(
        "tasks {0}: this program does not link them: link it with -Wl,-u,entry_of_longshore_{0}",
        layer);
  return fmt::format("tasks {}: {}: {}", layer, found.why_missing, remedy_without(layer));
}

// REQUIRES: why_no_layer() has no reason.
std::unique_ptr<detail::task_layer> make_layer(const task_options& options) {
  if (options.layer == "threads") return std::make_unique<detail::thread_pool>(options);
  if (is_foreign(options.layer)) return find_foreign(options.layer).entry->make(options);
  return nullptr;
}

}  // namespace

std::vector<std::string> task_layer_names() { return {"serial", "threads", "openmp", "tbb"}; }

std::optional<std::string> detail::why_no_linked_tasks(std::string_view layer, int count) {
  if (!is_known(layer))
    return fmt::format("unknown tasking layer '{}': use serial, threads, openmp or tbb", layer);
  if (count < 0 || count > max_tasks)
    return fmt::format("{} tasks: give 1 to {}", count, max_tasks);
  if (layer == "serial" && count > 1)
    return fmt::format("the layer serial has 1 task, not {}: use threads", count);
  return why_no_layer(layer, count);
}

tasks::tasks(const task_options& options, detail::linked_layers)
    : name_(options.layer),
      count_(options.count),
      nested_(options.nested),
      regions_(std::make_unique<detail::task_region_state>()) {
  if (options.count < 1) fail(errc::usage, "{} tasks: give 1 to {}", options.count, max_tasks);
  if (const auto reason = detail::why_no_linked_tasks(options.layer, options.count)) {
    const bool is_missing =
        is_known(options.layer) && why_no_layer(options.layer, options.count) == reason;
    fail(is_missing ? errc::unsupported : errc::usage, "{}", *reason);
  }
  layer_ = make_layer(options);
}

}  // namespace longshore
