// Pattern control measures the machine: a memory copy on all ranks at once, and messages. Every
// study contains this pattern. If its results change between two sessions, the machine changed, and
// not the program.
#include "patterns/control/kernels.hpp"
#include "patterns/control/memory_speeds.hpp"
#include "patterns/patterns.hpp"

#include <longshore/transport/launch/raw_calls_of.hpp>

#include <fmt/core.h>

namespace longshore::bench {
namespace {

std::optional<std::size_t> bytes_of(const variant& levels) {
  if (!levels.contains("bytes")) return std::nullopt;
  return levels.at("bytes").get<std::size_t>();
}

// Removes factors without effect on the kernel.
void drop_ineffective_factors(variant& levels) {
  const std::string kernel = levels.at("kernel");
  const bool has_bytes =
      kernel == "copy" || kernel == "pingpong" || kernel == "shift" || kernel == "put";
  if (!has_bytes) levels.erase("bytes");
  // A ping-pong uses a channel, unless raw calls are requested. Then records keep factor `over`.
  if (kernel != "shift" && kernel != "loggp" && kernel != "put" &&
      (kernel != "pingpong" || (levels.at("over") != "raw" && levels.at("over") != "channel")))
    levels.erase("over");
  if ((kernel != "shift" && kernel != "loggp" && kernel != "fetch-add" && kernel != "put") ||
      (kernel == "shift" && levels.at("over") == "copy"))
    levels.erase("pair");
  if ((kernel == "shift" || kernel == "put") && !levels.contains("bytes"))
    levels["bytes"] = pingpong_bytes;
}

std::optional<std::string> why_no_kernel(const variant& levels, const launch_facts& facts) {
  const std::string kernel = levels.at("kernel");
  const bool needs_no_peer =
      kernel == "copy" || kernel == "barrier" || (kernel == "shift" && levels.at("over") == "copy");
  if (!needs_no_peer && facts.ranks < 2) return fmt::format("{} needs at least 2 ranks", kernel);
  const bool raw = levels.contains("over") && levels.at("over") == "raw";
  if (raw && kernel != "put" && kernel != "pingpong")
    return fmt::format(
        "calls of the underlying library are measured in put and pingpong, not in {}", kernel);
  if (raw && !has_raw_calls(facts.transport))
    return fmt::format("transport {} has no raw calls to measure: raw is for shmem and ucx",
                       facts.transport);
  if (kernel == "put" && !raw && levels.at("over") != "put")
    return fmt::format("put is measured over put and raw, not over {}",
                       levels.at("over").get<std::string>());
  if (kernel == "loggp" && levels.at("over") != "channel" && levels.at("over") != "put")
    return fmt::format("loggp is measured over channel and put, not over {}",
                       levels.at("over").get<std::string>());
  if (levels.contains("pair") && levels.at("pair") == "self" &&
      (kernel != "shift" || (levels.at("over") != "alltoallv" && levels.at("over") != "rma")))
    return "a message of a rank to itself is measured in a shift over alltoallv or rma, which move "
           "own blocks too";
  if (levels.contains("pair") && kernel != "loggp" && levels.at("pair") == "far")
    return kernel == "put"
               ? "put goes to a rank of the node or of the next: take near or remote"
               : fmt::format("in {} every rank sends to the next one: take near or remote", kernel);
  return std::nullopt;
}

std::unique_ptr<measurement> make_kernel(team& ranks, const variant& levels, const launch_facts&) {
  const std::string kernel = levels.at("kernel");
  const auto level = [&](const char* name) {
    return levels.contains(name) ? levels.at(name).get<std::string>() : std::string();
  };
  if (kernel == "copy") return make_copy(ranks, bytes_of(levels));
  const std::size_t bytes = bytes_of(levels).value_or(pingpong_bytes);
  if (kernel == "put") return make_put(ranks, level("over"), level("pair"), bytes);
  if (kernel == "pingpong" && level("over") == "raw") return make_raw_pingpong(ranks, bytes);
  if (kernel == "pingpong") return make_channel_pingpong(ranks, bytes);
  if (kernel == "loggp") return make_loggp(ranks, level("over"), level("pair"));
  if (kernel == "shift") return make_shift(ranks, level("over"), level("pair"), bytes);
  if (kernel == "barrier") return make_barrier(ranks);
  return make_fetch_add(ranks, level("pair"));  // the only other level of factor kernel
}

}  // namespace

pattern control_pattern() {
  return {
      .name = "control",
      .help =
          "the machine: a memory copy on all ranks, messages, the parameters of a model of "
          "messages",
      .factors =
          {word_factor(
               "kernel", {"copy", "pingpong", "put", "loggp", "shift", "barrier", "fetch-add"},
               "copy,pingpong",
               "copy: on all ranks at once; pingpong: between rank 0 and the last; put: from "
               "rank 0 into another's memory; loggp: latency, overheads and gaps of a pair; "
               "shift: every rank sends to the next; barrier; fetch-add: to the next, all at "
               "once"),
           word_factor(
               "over", {"put", "channel", "alltoallv", "rma", "copy", "raw"}, "put",
               "what carries a message. loggp: put or channel; shift: also alltoallv, rma "
               "(one-sided calls of MPI) or copy (within the memory of a rank); put: put or raw "
               "(the library's own calls); pingpong: raw, else channel"),
           word_factor("pair", {"near", "far", "remote", "self"}, "near",
                       "which ranks exchange. loggp: rank 0 and the rank of its node that shares "
                       "most (near) or least (far) of the hardware, or a rank of another node "
                       "(remote); put: rank 0 and a rank of its node (near) or of another node "
                       "(remote); shift, fetch-add: each rank and the next rank of its node "
                       "(near), or a rank of the next node (remote); shift also: each rank and "
                       "itself (self)"),
           integer_factor("bytes", "",
                          "bytes copied per rank, or sent; default: twice the caches, or 8",
                          static_cast<long>(pingpong_bytes), 1L << 48)},
      .examples = {"longshore-bench control --ranks 2",
                   "longshore-bench control --ranks 2 --ranks-per-node 1 --kernel copy --json -",
                   "mpirun -n 2 longshore-bench control --kernel pingpong --bytes 8,64,1024",
                   "longshore-bench control --ranks 4 --ranks-per-node 2 --kernel loggp --over "
                   "put,channel --pair near,remote",
                   "longshore-bench control --ranks 2 --kernel shift,barrier --over put,alltoallv "
                   "--bytes 8,4096,1048576"},
      .why_not = why_no_kernel,
      .make = make_kernel,
      .settle = drop_ineffective_factors,
      .symmetric_bytes = [](const variant& levels, int ranks) -> std::size_t {
        constexpr std::size_t buffers = 16;
        if (levels.at("kernel") == "copy")
          return levels.contains("bytes") ? 0 : memory_speeds_symmetric_bytes;
        if (!levels.contains("bytes")) return 0;
        return buffers * levels.at("bytes").get<std::size_t>() *
               (levels.at("kernel") == "shift" ? static_cast<std::size_t>(ranks) : 1);
      }};
}

}  // namespace longshore::bench
