// Gathers the boxes of all ranks, or sorts given boxes by their owners. Class layout_data checks
// them.
#include <longshore/boxes/box_layout.hpp>

#include <longshore/boxes/detail/layout_data.hpp>
#include <longshore/core/detail/joined.hpp>
#include <longshore/core/error.hpp>
#include <longshore/transport/agree_on_arguments.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

namespace longshore {
namespace {

common_arguments arguments_of(const box_domain& domain) {
  common_arguments same;
  same.add("domain", fmt::format("{};{}", detail::joined(domain.domain.first, ","),
                                 detail::joined(domain.domain.cells, ",")))
      .add("periodic", detail::joined(domain.periodic, ","))
      .add("glued faces:", domain.glued.size());
  for (const auto& glued : domain.glued)
    same.add("glued",
             fmt::format("{};{};{};{};{}", detail::joined(glued.beyond.first, ","),
                         detail::joined(glued.beyond.cells, ","), detail::joined(glued.axis, ","),
                         detail::joined(glued.sign, ","), detail::joined(glued.offset, ",")));
  return same;
}

}  // namespace

box_layout::box_layout(team& ranks, std::span<const cell_box> mine, const box_domain& domain) {
  const auto counts = ranks.allgather_value<std::int64_t>(static_cast<std::int64_t>(mine.size()));
  std::vector<std::size_t> first(counts.size() + 1, 0);
  for (std::size_t r = 0; r < counts.size(); ++r)
    first[r + 1] = first[r] + static_cast<std::size_t>(counts[r]);
  // Each rank gives as many boxes as the rank with most boxes, because an allgather has equal
  // blocks.
  const auto most = static_cast<std::size_t>(*std::max_element(counts.begin(), counts.end()));
  std::vector<cell_box> padded(mine.begin(), mine.end()), gathered(most * counts.size()), all;
  padded.resize(most);
  if (most > 0)
    ranks.allgather(std::as_bytes(std::span(padded)), std::as_writable_bytes(std::span(gathered)));
  for (std::size_t r = 0; r < counts.size(); ++r)
    all.insert(all.end(), gathered.begin() + static_cast<std::ptrdiff_t>(r * most),
               gathered.begin() + static_cast<std::ptrdiff_t>(r * most) + counts[r]);
  const auto made =
      std::make_shared<const detail::layout_data>(ranks, std::move(all), std::move(first), domain);
  agree_on_call(ranks, "a layout of boxes", arguments_of(domain), [&] { made->check(); });
  data_ = made;
}

box_layout::box_layout(team& ranks, std::span<const cell_box> all, std::span<const int> owners,
                       const box_domain& domain) {
  auto same = arguments_of(domain);
  same.add("boxes:", all.size());
  for (const auto& box : all)
    same.add("box",
             fmt::format("{};{}", detail::joined(box.first, ","), detail::joined(box.cells, ",")));
  same.add("owners", detail::joined(owners, ","));
  agree_on_call(ranks, "a layout of boxes", same, [&] {
    if (owners.size() != all.size())
      fail(errc::usage, "{} owners for {} boxes: give one for each", owners.size(), all.size());
    std::vector<std::size_t> order(all.size()),
        first(static_cast<std::size_t>(ranks.size()) + 1, 0);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return owners[a] < owners[b]; });
    std::vector<cell_box> sorted;
    for (const auto i : order) {
      if (owners[i] < 0 || owners[i] >= ranks.size())
        fail(errc::usage, "box {} belongs to rank {}, but the team has {} ranks", i, owners[i],
             ranks.size());
      sorted.push_back(all[i]);
      ++first[static_cast<std::size_t>(owners[i]) + 1];
    }
    std::partial_sum(first.begin(), first.end(), first.begin());
    const auto made = std::make_shared<const detail::layout_data>(ranks, std::move(sorted),
                                                                  std::move(first), domain);
    made->check();
    data_ = made;
  });
}

team& box_layout::ranks() const noexcept { return data_->ranks(); }
std::span<const cell_box> box_layout::boxes() const noexcept { return data_->boxes(); }
std::span<const cell_box> box_layout::mine() const noexcept {
  const std::size_t first = first_box(ranks().rank());
  return boxes().subspan(first, first_box(ranks().rank() + 1) - first);
}
std::size_t box_layout::first_box(int rank) const noexcept { return data_->first_box(rank); }
int box_layout::owner(std::size_t box) const noexcept { return data_->owner(box); }
const box_domain& box_layout::domain() const noexcept { return data_->domain(); }

}  // namespace longshore
