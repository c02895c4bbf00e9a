// Who takes part, and how their processes find each other: what UCX leaves to whoever started them. Here that is MPI, which carries nothing else:
// no data of a run goes through it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace longshore::ucx {

class process_group {
 public:
  /// Starts MPI unless the program has done so, and ends it if it did.
  process_group();
  ~process_group();
  process_group(const process_group&) = delete;
  process_group& operator=(const process_group&) = delete;

  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] int size() const noexcept { return size_; }
  /// What is to be called while this rank waits here: others may depend on it.
  void set_progress(std::function<void()> progress) { progress_ = std::move(progress); }
  /// Collective, without a deadline.
  void barrier();
  [[nodiscard]] std::vector<std::uint64_t> gather(std::uint64_t mine);
  /// Collective. Makes `mine` known to all; of_rank() gives what a rank made known. Memory: the sum of all, once per process.
  void publish(std::span<const std::byte> mine);
  [[nodiscard]] std::span<const std::byte> of_rank(int rank) const;
  /// Ends all processes.
  void end_all(int status);
  /// The same, with exit status 3 and a message of `why` this rank failed where there is no team yet, or no more.
  void end_all(const char* why);

 private:
  void complete(void* request, const char* operation);

  bool own_ = false;
  std::function<void()> progress_ = [] {};
  int rank_ = 0, size_ = 1;
  std::vector<std::byte> published_;
  std::vector<std::size_t> starts_;
};

}  // namespace longshore::ucx
