// Attributes of a team: state of upper layers that lives as long as the team, like the attributes
// of an MPI communicator.
#pragma once

#include <longshore/transport/team.hpp>

#include <concepts>
#include <memory>
#include <typeinfo>

namespace longshore::detail {

/// Local. This rank's attribute of type `Attribute`: one object per type, made by the first call
/// and destroyed with the team. Its destructor must not make collective calls.
template <std::default_initializable Attribute>
[[nodiscard]] Attribute& team_attribute(team& ranks) {
  void* attribute = ranks.find_attribute(typeid(Attribute));
  if (attribute == nullptr)
    attribute = ranks.add_attribute(typeid(Attribute), std::make_shared<Attribute>());
  return *static_cast<Attribute*>(attribute);
}

}  // namespace longshore::detail
