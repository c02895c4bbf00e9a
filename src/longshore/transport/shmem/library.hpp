// OpenSHMEM 1.4 or later, as a one-sided library: regions lie on the symmetric heap.
#pragma once

#include <longshore/transport/one_sided/library.hpp>

namespace longshore::shmem {

class library final : public one_sided::library {
 public:
  [[nodiscard]] int rank() const override;
  [[nodiscard]] int size() const override;
  [[nodiscard]] std::string_view transport_name() const noexcept override { return "shmem"; }
  [[nodiscard]] std::string version() const override;
  [[nodiscard]] std::unique_ptr<one_sided::region> allocate(std::size_t bytes) override;
  [[nodiscard]] std::size_t available_bytes() const override { return ~std::size_t{0}; }
  [[nodiscard]] std::string room() const override;
  [[nodiscard]] std::vector<std::uint64_t> gather(std::uint64_t mine) override;
  void quiet() override;
  void progress() override;
  void end_all(int status) override;
  [[nodiscard]] std::unique_ptr<raw_calls> make_raw_calls(one_sided::region& memory) override;

 private:
  bool asked_who_is_near_ = false, over_network_ = false;  // some ranks share no memory with this one
};

}  // namespace longshore::shmem
