// Places the pieces of channel sets in shared windows: the first gap that is long enough.
#include <longshore/core/bytes.hpp>
#include <longshore/core/error.hpp>
#include <longshore/transport/mpi/detail/channel_memory.hpp>
#include <longshore/transport/mpi/detail/team.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>

namespace longshore::mpi {
namespace {

// The part of a rank in the first window, which holds the channels of some ten plans of one field.
// Later windows double the memory, up to the largest.
constexpr std::size_t first_bytes = std::size_t{1} << 20,
                      largest_bytes_of_window = std::size_t{16} << 20;

std::optional<std::size_t> first_gap(const std::map<std::size_t, std::size_t>& pieces,
                                     std::size_t part_bytes, std::size_t bytes) {
  std::size_t gap = interference_bytes;  // behind the line with offsets
  for (const auto& [offset, length] : pieces) {
    if (offset - gap >= bytes) return gap;
    gap = offset + length;
  }
  if (part_bytes >= gap + bytes) return gap;
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
                                           std::size_t own_bytes,
                                           const std::function<void(std::byte*)>& write) {
  const auto as_integer = [](std::size_t bytes) {
    return static_cast<std::int64_t>(std::min(bytes, std::size_t{1} << 62));
  };
  const std::size_t bytes = round_up(shared_bytes, interference_bytes);
  turn_ = 1 - turn_;
  piece taken;
  taken.of_ = windows_.begin();
  std::int64_t number = 0;  // of the window
  bool is_memory_agreed = false;
  while (true) {
    std::optional<std::size_t> gap;
    for (; taken.of_ != windows_.end(); ++taken.of_, ++number)
      if ((gap = first_gap(taken.of_->pieces, taken.of_->part_bytes, bytes))) break;
    // A page of a window takes memory when it is first used. To ask how much memory the host has
    // takes longer than the rest of this function, so that is done only where it may matter.
    const bool may_lack_memory =
        gap && !is_memory_agreed && (own_bytes > 0 || bytes > team.free_shared_bytes());
    if (gap && !may_lack_memory) {
      std::byte* const part = taken.of_->memory.part(team.nodes().local_index(team.rank()));
      reinterpret_cast<std::size_t*>(part)[turn_] = taken.offset_ = *gap;
      write(part + *gap);
    }
    std::array<std::int64_t, 4> largest{may_lack_memory ? 1 : 0, number, -number,
                                        as_integer(bytes)};
    team.allreduce(largest, reduction::max, detail::collective::open_channels);
    const auto largest_bytes = static_cast<std::size_t>(largest[3]);
    if (largest[0] != 0) {
      static_cast<void>(team.agree_on_memory(team.node_comm(), largest_bytes, own_bytes));
      is_memory_agreed = true;
    } else if (largest[1] != -largest[2]) {  // try the last window that a rank has chosen
      std::advance(taken.of_, largest[1] - number);
      number = largest[1];
    } else if (gap) {
      taken.of_->pieces.emplace(*gap, bytes);
      return taken;
    } else {
      std::size_t all_bytes = first_bytes;
      for (const auto& made : windows_) all_bytes += made.part_bytes;
      taken.of_ = windows_.emplace(
          windows_.end(), team.node_comm(),
          agreed_part_bytes(team, largest_bytes + interference_bytes,
                            std::min(all_bytes, largest_bytes_of_window), own_bytes));
      is_memory_agreed = true;
    }
  }
}

void channel_memory::give_back(const piece& returned) {
  returned.of_->pieces.erase(returned.offset_);
  if (returned.of_->pieces.empty() && returned.of_->part_bytes != first_bytes)
    windows_.erase(returned.of_);
}

}  // namespace longshore::mpi
