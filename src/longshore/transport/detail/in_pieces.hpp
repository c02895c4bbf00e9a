// Collectives have memory for so much at a time: what is more goes piece by piece.
#pragma once

#include <algorithm>
#include <cstddef>

namespace longshore::detail {

/// Calls piece(first, n) for pieces of [0, total), each at most `most` long; the same number on all
/// ranks when total is. Nothing is one empty piece: a collective call meets the others also then.
template <class Piece>
void in_pieces(std::size_t total, std::size_t most, const Piece& piece) {
  std::size_t first = 0;
  do {
    piece(first, std::min(most, total - first));
    first += most;
  } while (first < total);
}

}  // namespace longshore::detail
