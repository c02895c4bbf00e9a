// Boxes of irregular sizes that fill a domain: the input of `longshore-bench halo --boxes`.
#pragma once

#include <longshore/boxes/cell_box.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace longshore::bench {

/// Divides a domain into `count` boxes, in a random order. The same arguments give the same boxes
/// on every machine. The sizes of most boxes lie between half and twice the average.
/// REQUIRES: 1 <= count <= domain.count().
[[nodiscard]] std::vector<cell_box> irregular_boxes(const cell_box& domain, std::size_t count,
                                                    std::uint64_t seed);

}  // namespace longshore::bench
