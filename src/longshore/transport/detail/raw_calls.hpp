// Direct calls of the underlying library, as a program without Longshore would make them.
// Benchmarks compare a transport with these calls. Direct calls check nothing and transfer one
// message at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace longshore::detail {

class raw_calls {
 public:
  virtual ~raw_calls() = default;
  raw_calls(const raw_calls&) = delete;
  raw_calls& operator=(const raw_calls&) = delete;

  /// Puts the same bytes `count` times to rank `peer`. After each put the bytes at `from` may
  /// change. All puts are complete at the target on return.
  virtual void put(int peer, const void* from, std::size_t bytes, int count) = 0;
  /// Memory for the next message, registered with the library. After send(), the caller must not
  /// write to this memory before the peer has answered.
  [[nodiscard]] virtual std::byte* outgoing_message() = 0;
  /// Puts the first `bytes` bytes of outgoing_message() to `peer`, and then sets the peer's flag to
  /// `number`.
  virtual void send(int peer, std::size_t bytes, std::uint64_t number) = 0;
  /// Whether message `number` has arrived. If not, lets the library make progress.
  [[nodiscard]] virtual bool arrived(std::uint64_t number) = 0;
  /// The message that arrived or was put.
  [[nodiscard]] virtual const std::byte* message() const = 0;

  /// Offset of the message in the memory of the calls: behind the flag, at the start of a page as
  /// in a segment.
  static constexpr std::size_t message_offset = 4096;

  /// Keeps the memory of the calls until this object is destroyed.
  void keep(std::shared_ptr<void> memory) { memory_ = std::move(memory); }

 protected:
  raw_calls() = default;

 private:
  std::shared_ptr<void> memory_;
};

}  // namespace longshore::detail
