// OpenSHMEM (1.4 and later) as a one-sided library: regions lie on the symmetric heap.
#pragma once

#include <longshore/transport/one_sided/library.hpp>
#include <longshore/transport/watchdog.hpp>

namespace longshore::shmem {

class library final : public one_sided::library {
 public:
  /// timeout_seconds: deadline of blocking calls of OpenSHMEM; 0: none.
  explicit library(double timeout_seconds);

  [[nodiscard]] int rank() const override;
  [[nodiscard]] int size() const override;
  [[nodiscard]] std::string_view transport_name() const noexcept override { return "shmem"; }
  [[nodiscard]] std::string version() const override;
  [[nodiscard]] std::unique_ptr<one_sided::region> allocate(std::size_t bytes) override;
  [[nodiscard]] std::size_t available_bytes(int ranks) const override;
  [[nodiscard]] std::string capacity_text() const override;
  [[nodiscard]] std::vector<std::uint64_t> allgather(std::uint64_t mine) override;
  void quiet() override;
  void progress() override;
  void abort(int status) override;
  [[nodiscard]] std::unique_ptr<detail::raw_calls> make_raw_calls(one_sided::region& memory,
                                                                  std::size_t source_at) override;

  // For regions.

  [[nodiscard]] longshore::watchdog& watchdog() noexcept { return watchdog_; }
  /// Counts `bytes` of the heap as free.
  void on_free(std::size_t bytes) noexcept { used_bytes_ -= bytes; }

 private:
  longshore::watchdog watchdog_;
  // If the heaps have different sizes, an allocation could fail on some ranks only, and the others
  // would wait for them. So the smallest heap limits all ranks.
  bool heaps_differ_ = false;
  std::size_t smallest_heap_bytes_ = 0, used_bytes_ = 0;
  unsigned progress_calls_ = 0;
  bool checked_reachability_ = false;
  bool over_network_ = false;  // some ranks do not share memory with this one
};

}  // namespace longshore::shmem
