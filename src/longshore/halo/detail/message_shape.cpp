// Describes messages whose two ends do not fit together.
#include <longshore/halo/detail/message_shape.hpp>

#include <longshore/core/error.hpp>

namespace longshore::detail {

message_shape shape_of(const halo_message& message) {
  message_shape shape;
  if (!message.exists() || message.parts.empty()) return shape;
  shape.bytes = message.size_bytes();
  shape.parts = message.parts.size();
  for (int d = 0; d < 3; ++d) shape.cells[d] = message.parts[0].extents[d];
  return shape;
}

void refuse_shape(int sender, const message_shape& sent, int receiver,
                  const message_shape& expected) {
  fail(errc::usage,
       "the halo cells of rank {} do not fit those of rank {}: rank {} sends {} x {} x {} cells "
       "along x, y, z ({} bytes in all), and rank {} expects {} x {} x {} ({} bytes): blocks that "
       "are neighbours "
       "along one dimension need equal extents along the others, and the same fields and widths",
       sender, receiver, sender, sent.cells[0], sent.cells[1], sent.cells[2], sent.bytes, receiver,
       expected.cells[0], expected.cells[1], expected.cells[2], expected.bytes);
}

}  // namespace longshore::detail
