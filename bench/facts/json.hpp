// The type of facts, variants and records: JSON that keeps the order of members.
#pragma once

#include <nlohmann/json.hpp>

namespace longshore::bench {

using json = nlohmann::ordered_json;

}  // namespace longshore::bench
