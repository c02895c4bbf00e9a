// Takes the first free lines of a block.
#include <longshore/exchange/detail/movers/signal_pool.hpp>

#include <algorithm>
#include <new>

namespace longshore::detail {
namespace {

constexpr std::size_t min_block_lines = 128;

}  // namespace

signal_pool::lines signal_pool::take(const team& ranks, std::size_t count) {
  if (count == 0) return {};
  const auto take_from = [&](const std::shared_ptr<block>& from) -> lines {
    auto& in_use = from->in_use;
    const auto found =
        std::search_n(in_use.begin(), in_use.end(), static_cast<std::ptrdiff_t>(count), false);
    if (found == in_use.end()) return {};
    std::fill_n(found, count, true);
    auto* const first =
        reinterpret_cast<direct_signals*>(from->memory.data()) + (found - in_use.begin());
    for (std::size_t i = 0; i < count; ++i) new (first + i) direct_signals{};
    return {first, returner(from, count)};
  };
  for (const auto& from : blocks_)
    if (auto taken = take_from(from)) return taken;
  const std::size_t added = std::max({min_block_lines, total_lines_, count});
  blocks_.push_back(std::make_shared<block>(
      block{shareable_memory(ranks, added * sizeof(direct_signals)), std::vector<bool>(added)}));
  total_lines_ += added;
  return take_from(blocks_.back());
}

void signal_pool::returner::operator()(const direct_signals* first) const noexcept {
  const auto* const begin = reinterpret_cast<const direct_signals*>(to_->memory.data());
  std::fill_n(to_->in_use.begin() + (first - begin), count_, false);
}

}  // namespace longshore::detail
