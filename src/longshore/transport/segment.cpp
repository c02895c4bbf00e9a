// The part of a segment that all transports share: checks of ranges and alignment before an access.
#include <longshore/core/error.hpp>
#include <longshore/transport/segment.hpp>

#include <utility>

namespace longshore {

segment::segment(std::size_t size_bytes, std::byte* local, std::vector<std::byte*> direct)
    : size_bytes_(size_bytes), local_(local), direct_(std::move(direct)) {}

segment::~segment() = default;

void segment::check_range(int peer, std::size_t offset, std::size_t bytes) const {
  if (peer < 0 || peer >= static_cast<int>(direct_.size()))
    fail(errc::usage, "rank {} does not exist: the team has {} ranks", peer, direct_.size());
  if (offset > size_bytes_ || bytes > size_bytes_ - offset)
    fail(errc::usage, "bytes {} to {} of rank {} do not exist: the segment has {} bytes per rank",
         offset, offset + bytes, peer, size_bytes_);
}

void segment::check_integer(int peer, std::size_t offset) const {
  check_range(peer, offset, sizeof(std::int64_t));
  if (offset % sizeof(std::int64_t) != 0)
    fail(errc::usage, "fetch_add at offset {}: must be a multiple of 8", offset);
}

}  // namespace longshore
