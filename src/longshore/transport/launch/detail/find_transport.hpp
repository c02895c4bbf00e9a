// Which transports this program has: those that it links, and those in modules.
#pragma once

#include <longshore/core/detail/module.hpp>
#include <longshore/transport/detail/transport_entry.hpp>

#include <string>
#include <string_view>

namespace longshore::detail {

/// The entry of transport `name`, and why there is none. A shared build loads its module.
[[nodiscard]] found_part<transport_entry> find_transport(std::string_view name);

}  // namespace longshore::detail
