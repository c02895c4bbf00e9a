// OpenSHMEM 1.4 or later, as a one-sided library: regions lie on the symmetric heap.
#pragma once

#include <longshore/transport/one_sided/library.hpp>
#include <longshore/transport/watchdog.hpp>

namespace longshore::shmem {

class library final : public one_sided::library {
 public:
  /// timeout_seconds: deadline of the library's calls that wait; 0: none.
  explicit library(double timeout_seconds);

  [[nodiscard]] int rank() const override;
  [[nodiscard]] int size() const override;
  [[nodiscard]] std::string_view transport_name() const noexcept override { return "shmem"; }
  [[nodiscard]] std::string version() const override;
  [[nodiscard]] std::unique_ptr<one_sided::region> allocate(std::size_t bytes) override;
  [[nodiscard]] std::size_t available_bytes(int ranks) const override;
  [[nodiscard]] std::string room() const override;
  [[nodiscard]] std::vector<std::uint64_t> gather(std::uint64_t mine) override;
  void quiet() override;
  void progress() override;
  void end_all(int status) override;
  [[nodiscard]] std::unique_ptr<raw_calls> make_raw_calls(one_sided::region& memory,
                                                          std::size_t source_at) override;

  // For regions.

  [[nodiscard]] watchdog& dog() noexcept { return dog_; }
  /// `bytes` of the heap are used no more.
  void forget(std::size_t bytes) noexcept { used_bytes_ -= bytes; }

 private:
  watchdog dog_;
  // Where heaps are of different sizes one rank alone would get no memory, and the others wait for
  // it: then what is left of the smallest.
  bool uneven_ = false;
  std::size_t smallest_heap_bytes_ = 0, used_bytes_ = 0;
  unsigned fruitless_ = 0;
  bool asked_who_is_near_ = false,
       over_network_ = false;  // some ranks share no memory with this one
};

}  // namespace longshore::shmem
