// Splitting a range into pieces of limited length.
#pragma once

#include <algorithm>
#include <cstddef>

namespace longshore::detail {

/// Calls piece(first, length) for consecutive pieces of [0, total) of at most `max_length`. An
/// empty range is one empty piece, so that collective calls of zero bytes also synchronise the
/// ranks. REQUIRES: max_length > 0.
template <class Piece>
void for_each_piece(std::size_t total, std::size_t max_length, const Piece& piece) {
  std::size_t first = 0;
  do {
    piece(first, std::min(max_length, total - first));
    first += max_length;
  } while (first < total);
}

}  // namespace longshore::detail
