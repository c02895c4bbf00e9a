// OpenSHMEM (1.4 and later) as a one-sided library: regions lie on the symmetric heap.
#pragma once

#include <longshore/transport/detail/watchdog.hpp>
#include <longshore/transport/one_sided/detail/library.hpp>

namespace longshore::shmem {

class library final : public one_sided::library {
 public:
  /// `timeout_seconds` is the deadline of blocking calls of OpenSHMEM; 0 means no deadline.
  explicit library(double timeout_seconds);

  int rank() const override;
  int size() const override;
  std::string_view transport_name() const noexcept override { return "shmem"; }
  std::string version() const override;
  std::unique_ptr<one_sided::region> allocate(std::size_t bytes) override;
  std::size_t available_bytes(int ranks) const override;
  std::string capacity_text() const override;
  std::vector<std::uint64_t> allgather(std::uint64_t mine) override;
  void quiet() override;
  void progress() override;
  void abort(int status) override;
  std::unique_ptr<detail::raw_calls> make_raw_calls(one_sided::region& memory,
                                                    std::size_t source_offset) override;

  // For regions.

  [[nodiscard]] longshore::watchdog& watchdog() noexcept { return watchdog_; }
  /// Counts `bytes` of the heap as free.
  void on_free(std::size_t bytes) noexcept { used_bytes_ -= bytes; }

 private:
  longshore::watchdog watchdog_;
  // With heaps of different sizes, an allocation could fail on some ranks only, and the other ranks
  // would wait for ever. So the smallest heap limits all ranks.
  bool heaps_differ_ = false;
  std::size_t smallest_heap_bytes_ = 0, used_bytes_ = 0;
  unsigned progress_calls_ = 0;
  bool checked_reachability_ = false;
  bool over_network_ = false;  // some ranks do not share memory with this one
};

}  // namespace longshore::shmem
