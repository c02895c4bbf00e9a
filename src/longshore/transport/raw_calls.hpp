// What a program would write that calls the library underneath itself: benchmarks hold a transport against it. It checks nothing and counts
// nothing, and has room for one message at a time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace longshore {

class raw_calls {
 public:
  virtual ~raw_calls() = default;
  raw_calls(const raw_calls&) = delete;
  raw_calls& operator=(const raw_calls&) = delete;

  /// `count` puts of the same bytes to `peer`, one after the other: each source can be used again before the next. Complete there on return.
  virtual void put(int peer, const void* from, std::size_t bytes, int count) = 0;
  /// Puts a message and then a flag, which becomes `number`, where the peer looks. `from` must not be written until an answer has come.
  virtual void send(int peer, const void* from, std::size_t bytes, std::uint64_t number) = 0;
  /// Whether message `number` is here; else what the library needs to go on has been done.
  [[nodiscard]] virtual bool arrived(std::uint64_t number) = 0;
  /// What arrived, or was put.
  [[nodiscard]] virtual const std::byte* message() const = 0;

 protected:
  raw_calls() = default;
  static constexpr std::size_t message_at = 128;  // behind the flag
};

}  // namespace longshore
