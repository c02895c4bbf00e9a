// What a program would write that calls the library underneath itself: benchmarks hold a transport
// against it. It checks nothing and counts nothing, and has room for one message at a time, where
// it is built and where it is read.
#pragma once

#include <cstddef>
#include <cstdint>

namespace longshore {

class raw_calls {
 public:
  virtual ~raw_calls() = default;
  raw_calls(const raw_calls&) = delete;
  raw_calls& operator=(const raw_calls&) = delete;

  /// `count` puts of the same bytes to `peer`, one after the other: each source can be used again
  /// before the next. Complete there on return.
  virtual void put(int peer, const void* from, std::size_t bytes, int count) = 0;
  /// Where a message is built, in memory that the library knows: until an answer has come what was
  /// sent must stay.
  [[nodiscard]] virtual std::byte* source() = 0;
  /// Puts the first bytes of source() and then a flag, which becomes `number`, where the peer
  /// looks.
  virtual void send(int peer, std::size_t bytes, std::uint64_t number) = 0;
  /// Whether message `number` is here; else what the library needs to go on has been done.
  [[nodiscard]] virtual bool arrived(std::uint64_t number) = 0;
  /// What arrived, or was put.
  [[nodiscard]] virtual const std::byte* message() const = 0;

 protected:
  raw_calls() = default;
  // behind the flag; at the begin of a page, as a segment is
  static constexpr std::size_t message_at = 4096;
};

}  // namespace longshore
