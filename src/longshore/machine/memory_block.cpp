#include <longshore/core/bytes.hpp>
#include <longshore/core/error.hpp>
#include <longshore/machine/memory.hpp>
#include <longshore/machine/memory_block.hpp>

#include <cstdint>

namespace longshore {

std::vector<std::string> memory_policy_names() { return {"malloc", "calloc", "huge", "interleave"}; }

std::optional<std::string> why_no_memory(std::string_view policy) {
  if (policy == "malloc" || policy == "calloc" || policy == "huge") return std::nullopt;
  if (policy == "interleave")
    return "memory interleave: this build does not place pages on NUMA nodes; use malloc, calloc or huge";
  return fmt::format("unknown memory policy '{}': malloc, calloc, huge or interleave", policy);
}

memory_block::memory_block(std::size_t bytes, std::string_view policy) : bytes_(bytes) {
  if (const auto reason = why_no_memory(policy)) fail(policy == "interleave" ? errc::unsupported : errc::usage, "{}", *reason);
  if (policy == "huge") {
    pages_ = pages(bytes, true);
    data_ = pages_.data();
    return;
  }
  // The C library promises more than there is, and the kernel kills for it later: ask first.
  const std::size_t available = available_memory_bytes();
  if (bytes > available)
    fail(errc::out_of_memory, "{} bytes of memory asked for, {} are available: use smaller arrays or fewer ranks per node", bytes,
         available);
  const std::size_t with_slack = bytes + cache_line_bytes;
  allocated_.reset(policy == "calloc" ? std::calloc(with_slack, 1) : std::malloc(with_slack));
  if (!allocated_) fail(errc::out_of_memory, "{} refused {} bytes: use smaller arrays or fewer ranks per node", policy, bytes);
  data_ = reinterpret_cast<std::byte*>(round_up(reinterpret_cast<std::uintptr_t>(allocated_.get()), cache_line_bytes));
}

}  // namespace longshore
