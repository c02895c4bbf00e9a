// The plans of parts that a plan has made.
#pragma once

#include <longshore/exchange/exchange_part.hpp>
#include <longshore/transport/team.hpp>

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

namespace longshore::detail {

/// Collective. Agrees on a part of a plan with `fields` fields. Messages name the plan by `plan`,
/// such as "a halo plan". Returns the numbers of the fields of the part.
[[nodiscard]] std::vector<std::size_t> agree_on_part(team& ranks, std::string_view plan,
                                                     const exchange_part& part, std::size_t fields);

/// The widths of a field in a part.
[[nodiscard]] halo_widths narrower(const halo_widths& widths, const exchange_part& part);

template <class Plan>
class plan_parts {
 public:
  /// Returns the plan of a part. A part with all fields and their whole widths is `whole`. The first
  /// call with another part calls make(), which returns a std::unique_ptr<Plan>.
  template <class Make>
  [[nodiscard]] Plan& plan_of(Plan& whole, const exchange_part& part, const Make& make) {
    if (part.fields.empty() && !part.width) return whole;
    for (const auto& made : made_)
      if (made.part == part) return *made.plan;
    made_.push_back({part, make()});
    return *made_.back().plan;
  }
  /// Calls f(plan) for the plan of each part.
  template <class F>
  void for_each(const F& f) const {
    for (const auto& made : made_) f(*made.plan);
  }

 private:
  struct made_part {
    exchange_part part;
    std::unique_ptr<Plan> plan;
  };
  std::vector<made_part> made_;
};

}  // namespace longshore::detail
