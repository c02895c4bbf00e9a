// Places the pieces of channel sets in shared windows: the first gap that is long enough.
#include <longshore/core/bytes.hpp>
#include <longshore/core/error.hpp>
#include <longshore/transport/mpi/detail/channel_memory.hpp>
#include <longshore/transport/mpi/detail/team.hpp>

#include <algorithm>
#include <array>
#include <optional>

namespace longshore::mpi {
namespace {

// The part of a rank in the first window, which holds the channels of some ten plans of one field.
// Later windows double the memory, up to the largest.
constexpr std::size_t first_bytes = std::size_t{1} << 20, largest_bytes = std::size_t{16} << 20;

std::optional<std::size_t> first_gap(const std::map<std::size_t, std::size_t>& pieces,
                                     std::size_t part_bytes, std::size_t bytes) {
  std::size_t gap = 0;
  for (const auto& [offset, length] : pieces) {
    if (offset - gap >= bytes) return gap;
    gap = offset + length;
  }
  if (part_bytes - gap >= bytes) return gap;
  return std::nullopt;
}

// The part of a rank in a new window for a piece: with room for later sets, or just enough where
// memory is short.
std::size_t agreed_part_bytes(team& team, std::size_t piece_bytes, std::size_t roomy_bytes,
                              std::size_t own_bytes) {
  if (piece_bytes < roomy_bytes) try {
      return team.agree_on_memory(team.node_comm(), roomy_bytes, own_bytes);
    } catch (const error& e) {  // on all ranks
      if (e.code() != errc::out_of_memory) throw;
    }
  return team.agree_on_memory(team.node_comm(), piece_bytes, own_bytes);
}

}  // namespace

channel_memory::piece channel_memory::take(team& team, std::size_t shared_bytes,
                                           std::size_t own_bytes) {
  // The minimum of -n is minus the maximum of n.
  const auto as_integer = [](std::size_t bytes) {
    return static_cast<std::int64_t>(std::min(bytes, std::size_t{1} << 62));
  };
  std::array<std::int64_t, 3> agreed{-as_integer(shared_bytes), -as_integer(own_bytes),
                                     as_integer(team.free_shared_bytes())};
  team.allreduce(agreed, reduction::min);
  const auto bytes = round_up(static_cast<std::size_t>(-agreed[0]), interference_bytes);
  piece taken;
  const auto place = [&](std::size_t offset) {
    taken.offset_ = offset;
    taken.of_->pieces.emplace(offset, bytes);
    return taken;
  };
  for (taken.of_ = windows_.begin(); taken.of_ != windows_.end(); ++taken.of_)
    if (const auto gap = first_gap(taken.of_->pieces, taken.of_->part_bytes, bytes)) {
      // A page of a window takes memory when it is first used. To ask how much memory the host has
      // takes longer than the rest of this function, so that is done only where it may matter.
      if (agreed[1] < 0 || static_cast<std::int64_t>(bytes) > agreed[2])
        static_cast<void>(team.agree_on_memory(team.node_comm(), bytes, own_bytes));
      return place(*gap);
    }
  std::size_t all_bytes = first_bytes;
  for (const auto& made : windows_) all_bytes += made.part_bytes;
  taken.of_ = windows_.emplace(
      windows_.end(), team.node_comm(),
      agreed_part_bytes(team, bytes, std::min(all_bytes, largest_bytes), own_bytes));
  return place(0);
}

void channel_memory::give_back(const piece& returned) {
  returned.of_->pieces.erase(returned.offset_);
  if (returned.of_->pieces.empty() && returned.of_->part_bytes != first_bytes)
    windows_.erase(returned.of_);
}

}  // namespace longshore::mpi
