// Splitting a range into pieces of limited length.
#pragma once

#include <algorithm>
#include <cstddef>

namespace longshore::detail {

/// Splits [0, total) into pieces of at most `most`, and calls piece(first, n) for each. An empty
/// range is one empty piece, so that a collective call synchronises the ranks even then.
template <class Piece>
void for_each_piece(std::size_t total, std::size_t most, const Piece& piece) {
  std::size_t first = 0;
  do {
    piece(first, std::min(most, total - first));
    first += most;
  } while (first < total);
}

}  // namespace longshore::detail
