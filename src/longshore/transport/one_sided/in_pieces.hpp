// Collectives have memory for so much at a time: what is more goes piece by piece.
#pragma once

#include <algorithm>
#include <cstddef>

namespace longshore::one_sided {

/// Calls piece(first, n) for pieces of [0, total), each at most `most` long; the same number on all ranks when total is.
template <class Piece>
void in_pieces(std::size_t total, std::size_t most, const Piece& piece) {
  for (std::size_t first = 0; first < total; first += most) piece(first, std::min(most, total - first));
}

}  // namespace longshore::one_sided
