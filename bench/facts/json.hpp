// The type of facts, variants and records: JSON whose members keep their order.
#pragma once

#include <nlohmann/json.hpp>

namespace longshore::bench {

using json = nlohmann::ordered_json;

}  // namespace longshore::bench
