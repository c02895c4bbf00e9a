// The texts of errors in collective calls: ranks that make different calls, and arguments that are
// invalid or differ between ranks. The barriers and the teams of all transports throw them.
#include <longshore/core/error.hpp>
#include <longshore/transport/detail/collective_call.hpp>

#include <array>

#include <fmt/core.h>

namespace longshore::detail {
namespace {

const char* name_of(reduction operation) noexcept {
  switch (operation) {
    case reduction::sum: return "sum";
    case reduction::min: return "min";
    case reduction::max: return "max";
  }
  return "?";
}

std::string counted(std::uint64_t number, const char* noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

// For example 1st, 2nd, 3rd, 4th, 11th, 21st.
std::string ordinal(std::uint64_t number) {
  constexpr std::array endings = {"th", "st", "nd", "rd"};
  const bool regular = number % 10 > 3 || number % 100 / 10 == 1;
  return fmt::format("{}{}", number, endings[regular ? 0 : number % 10]);
}

std::string sentence(const posted_call& posted) {
  return fmt::format("rank {} is in {}, its {} collective call", posted.rank, posted.call.text(),
                     ordinal(posted.number));
}

}  // namespace

const char* name_of(collective kind) noexcept {
  switch (kind) {
    case collective::barrier: return "a barrier";
    case collective::broadcast: return "a broadcast";
    case collective::allgather: return "an allgather";
    case collective::alltoall: return "an alltoall";
    case collective::alltoallv: return "an alltoallv";
    case collective::allreduce_integers:
    case collective::allreduce_numbers: return "an allreduce";
    case collective::reduce_integers:
    case collective::reduce_numbers: return "a reduction";
    case collective::allocate: return "the allocation of a segment";
    case collective::open_channels: return "the opening of channels";
    case collective::raw_calls: return "the making of raw calls";
    case collective::free: return "the freeing of a segment or channels";
    case collective::end_of_team: return "the end of the team";
    case collective::end_of_run: return "the end of the run";
  }
  return "?";
}

std::string collective_call::text() const {
  const char* const name = name_of(kind);
  switch (kind) {
    case collective::broadcast:
      return fmt::format("{} of {} from rank {}", name, counted(size, "byte"), root);
    case collective::allgather:
      return fmt::format("{} of {} per rank", name, counted(size, "byte"));
    case collective::alltoall:
      return fmt::format("{} of {} for each rank", name, counted(size, "byte"));
    case collective::alltoallv:
      return fmt::format("{} of elements of {}", name, counted(size, "byte"));
    case collective::allreduce_integers:
      return fmt::format("{} ({}) of {}", name, name_of(operation), counted(size, "integer"));
    case collective::allreduce_numbers:
      return fmt::format("{} ({}) of {}", name, name_of(operation),
                         counted(size, "floating-point number"));
    case collective::reduce_integers:
      return fmt::format("{} ({}) of {} to rank {}", name, name_of(operation),
                         counted(size, "integer"), root);
    case collective::reduce_numbers:
      return fmt::format("{} ({}) of {} to rank {}", name, name_of(operation),
                         counted(size, "floating-point number"), root);
    default: return name;
  }
}

void call_mismatch::throw_error() const {
  fail(errc::usage,
       "the ranks are not in the same collective call: {}; {}. All ranks must make the same "
       "collective calls in the same order: look for a condition, an error or a loop that differs "
       "between ranks",
       sentence(first), sentence(second));
}

void check_root(collective call, int root, int size) {
  if (root < 0 || root >= size)
    fail(errc::usage, "{} {} rank {}: the ranks are 0 to {}", name_of(call),
         call == collective::broadcast ? "from" : "to", root, size - 1);
}

void fail_size_mismatch(int rank, std::size_t bytes, std::size_t smallest, std::size_t largest) {
  fail(errc::usage,
       "a segment must have the same size on all ranks: rank {} requests {} bytes, the ranks "
       "request {} to {}",
       rank, bytes, smallest, largest);
}

void fail_count_mismatch(int rank, int peer, std::size_t expected, std::size_t sent) {
  fail(errc::usage,
       "an alltoallv: rank {} sends {} elements to rank {}, which expects {}: the incoming_counts "
       "of a rank must equal the outgoing_counts that the other ranks have for it",
       peer, sent, rank, expected);
}

}  // namespace longshore::detail
