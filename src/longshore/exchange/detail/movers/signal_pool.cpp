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
    lines taken(from, static_cast<std::size_t>(found - in_use.begin()), count);
    for (std::size_t i = 0; i < count; ++i) new (taken.data() + i) direct_signals{};
    return taken;
  };
  for (const auto& from : blocks_)
    if (auto taken = take_from(from); taken.data() != nullptr) return taken;
  const std::size_t added = std::max({min_block_lines, total_lines_, count});
  blocks_.push_back(std::make_shared<block>(
      block{shareable_memory(ranks, added * sizeof(direct_signals)), std::vector<bool>(added)}));
  total_lines_ += added;
  return take_from(blocks_.back());
}

signal_pool::lines::~lines() {
  if (block_)
    std::fill_n(block_->in_use.begin() + static_cast<std::ptrdiff_t>(first_), count_, false);
}

direct_signals* signal_pool::lines::data() const noexcept {
  return block_ ? reinterpret_cast<direct_signals*>(block_->memory.data()) + first_ : nullptr;
}

}  // namespace longshore::detail
