// Direct calls of the underlying library, as a program without Longshore would write them.
// Benchmarks compare a transport with them. They check nothing, and transfer one message at a time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace longshore::detail {

class raw_calls {
 public:
  virtual ~raw_calls() = default;
  raw_calls(const raw_calls&) = delete;
  raw_calls& operator=(const raw_calls&) = delete;

  /// Puts the same bytes to `peer` `count` times. The source can be reused after each put. All puts
  /// are complete at the target on return.
  virtual void put(int peer, const void* from, std::size_t bytes, int count) = 0;
  /// Memory for the next message, registered with the library. After send() it must not be written
  /// before the peer has answered.
  [[nodiscard]] virtual std::byte* source() = 0;
  /// Puts the first `bytes` bytes of source() to `peer`, and then sets the peer's flag to `number`.
  virtual void send(int peer, std::size_t bytes, std::uint64_t number) = 0;
  /// Whether message `number` has arrived. If not, lets the library make progress.
  [[nodiscard]] virtual bool arrived(std::uint64_t number) = 0;
  /// The message that arrived or was put.
  [[nodiscard]] virtual const std::byte* message() const = 0;

 protected:
  raw_calls() = default;
  // offset behind the flag, at the beginning of a page as in a segment
  static constexpr std::size_t message_at = 4096;
};

}  // namespace longshore::detail
