// The arguments of a part of a plan.
#pragma once

#include <longshore/exchange/exchange_part.hpp>
#include <longshore/transport/team.hpp>

#include <cstddef>
#include <string_view>
#include <vector>

namespace longshore::detail {

/// Collective. Agrees on a part of a plan with `fields` fields. Messages name the plan by `plan`,
/// such as "a halo plan". Returns the numbers of the fields of the part.
[[nodiscard]] std::vector<std::size_t> agree_on_part(team& ranks, std::string_view plan,
                                                     const exchange_part& part, std::size_t fields);

/// The widths of a field in a part.
[[nodiscard]] halo_widths narrower(const halo_widths& widths, const exchange_part& part);

}  // namespace longshore::detail
