// The type of facts, variants and records: JSON that keeps the order of members.
#pragma once

#include <nlohmann/json.hpp>

#include <string_view>

namespace longshore::bench {

using json = nlohmann::ordered_json;

/// Null for an empty text.
[[nodiscard]] inline json text_or_null(std::string_view text) {
  return text.empty() ? json(nullptr) : json(text);
}

}  // namespace longshore::bench
