// Checks the part of a plan that the ranks pass.
#include <longshore/exchange/detail/plan_parts.hpp>

#include <longshore/core/detail/joined.hpp>
#include <longshore/core/error.hpp>
#include <longshore/machine/placement.hpp>
#include <longshore/transport/agree_on_arguments.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

namespace longshore::detail {

std::vector<std::size_t> agree_on_part(team& ranks, std::string_view plan,
                                       const exchange_part& part, std::size_t fields) {
  common_arguments same;
  if (part.fields.empty())
    same.add("all", "fields");
  else
    same.add("fields", joined(part.fields, ","));
  if (part.width)
    same.add("widths",
             fmt::format("{}; {}", joined(part.width->low, ","), joined(part.width->high, ",")));
  std::vector<std::size_t> numbers;
  agree_on_call(ranks, fmt::format("a part of {}", plan), same, [&] {
    for (const int field : part.fields) {
      const auto number = static_cast<std::size_t>(field);
      if (number >= fields)
        fail(errc::usage, "field {} of a part of {}: use numbers from 0 to {}", field, plan,
             fields - 1);
      if (std::find(numbers.begin(), numbers.end(), number) != numbers.end())
        fail(errc::usage, "the {} field is twice in a part of {}: give it once", nth(number), plan);
      numbers.push_back(number);
    }
    for (int d = 0; part.width && d < 3; ++d)
      if (part.width->low[d] < 0 || part.width->high[d] < 0)
        fail(errc::usage, "a part of {} with a halo of {} and {} cells along {}: use 0 or more",
             plan, part.width->low[d], part.width->high[d], axis_names[d]);
  });
  if (numbers.empty()) {
    numbers.resize(fields);
    std::iota(numbers.begin(), numbers.end(), std::size_t{0});
  }
  return numbers;
}

halo_widths narrower(const halo_widths& widths, const exchange_part& part) {
  halo_widths narrow = widths;
  for (int d = 0; part.width && d < 3; ++d) {
    narrow.low[d] = std::min(widths.low[d], part.width->low[d]);
    narrow.high[d] = std::min(widths.high[d], part.width->high[d]);
  }
  return narrow;
}

}  // namespace longshore::detail
