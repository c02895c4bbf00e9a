// Counts the cache lines that elements touch.
#include <longshore/exchange/detail/elements/element_set.hpp>

#include <longshore/core/bytes.hpp>

#include <cstdlib>

namespace longshore::detail {
namespace {

std::size_t lines_of(std::size_t bytes) {
  return round_up(bytes, cache_line_bytes) / cache_line_bytes;
}

// Steps that are shorter than a line share lines.
std::size_t lines_of_steps(std::size_t steps, std::size_t step_bytes, std::size_t lines_of_step) {
  return lines_of_step * (step_bytes < cache_line_bytes ? lines_of(steps * step_bytes) : steps);
}

}  // namespace

std::size_t line_count(const element_set& elements, std::ptrdiff_t stride_bytes,
                       std::size_t element_bytes) {
  if (elements.empty()) return 0;
  std::size_t lines = lines_of(element_bytes);
  if (const auto* const box = elements.box()) {
    std::size_t run_bytes = element_bytes;  // 0 behind a gap
    for (int d = 0; d < 3; ++d) {
      if (box->extents[d] == 1) continue;
      const auto step = static_cast<std::size_t>(std::abs(box->strides[d] * stride_bytes));
      if (step == run_bytes) {
        run_bytes *= box->extents[d];
        lines = lines_of(run_bytes);
      } else {
        lines = lines_of_steps(box->extents[d], step, lines);
        run_bytes = 0;
      }
    }
    return lines;
  }
  const auto& list = elements.list();
  const auto stride = static_cast<std::size_t>(std::abs(stride_bytes));
  if (stride >= cache_line_bytes) return list.size() * lines;
  const auto line_of = [&](std::size_t i) { return list[i] * stride / cache_line_bytes; };
  if (list.is_contiguous()) return line_of(list.size() - 1) - line_of(0) + 1;
  std::size_t touched = 0, last = ~std::size_t{0};
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::size_t line = line_of(i);
    if (line != last) ++touched;
    last = line;
  }
  return touched;
}

}  // namespace longshore::detail
