// Kernel copy: chooses between memcpy and streaming stores once, and then times copies of one large
// buffer per rank.
#include "patterns/control/kernels.hpp"

#include "patterns/memory_check.hpp"

#include <longshore/core/bytes.hpp>
#include <longshore/core/random.hpp>
#include <longshore/machine/memory_block.hpp>
#include <longshore/machine/memory_sizes.hpp>
#include <longshore/stream/choose_store_kind.hpp>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

namespace longshore::bench {
namespace {

// Bandwidths count bytes read and bytes written. Arrays that fit into the caches are copied by
// memcpy, and larger arrays by a loop of streaming stores, unless memcpy is clearly faster. A close
// choice would differ between launches, and look like a change of the machine.
class copy_measurement final : public measurement {
 public:
  copy_measurement(team& ranks, std::size_t bytes)
      : team_(ranks),
        bytes_(bytes),
        from_(checked_bytes(ranks, bytes), "huge"),
        to_(bytes, "huge") {
    random_stream random(bytes, static_cast<std::uint64_t>(ranks.rank()));
    for (std::size_t i = 0; i + sizeof(std::uint64_t) <= bytes; i += sizeof(std::uint64_t)) {
      const std::uint64_t value = random();
      std::memcpy(from_.data() + i, &value, sizeof(value));
    }
    std::memset(to_.data(), 0, bytes);
    const int sharing = ranks.nodes().ranks_on_host();
    constexpr std::size_t doubtful_factor = 1;  // no doubt: arrays fit into the caches, or do not
    const auto possible = possible_store_kinds(ranks, 2 * bytes * static_cast<std::size_t>(sharing),
                                               reached_cache_bytes(sharing), doubtful_factor);
    // If streaming is possible on any rank, all ranks get this value and measure together.
    if (possible[static_cast<std::size_t>(store_kind::streaming)])
      streaming_ = !(best_seconds([&] { copy_plainly(); }) * clearly_faster <
                     best_seconds([&] { copy_streaming(); }));
  }

  // Changes the source, so that the previous copy is wrong.
  void reset() override {
    for (const std::size_t i : {std::size_t{0}, bytes_ / 2, bytes_ - 1})
      from_.data()[i] ^= std::byte{0xff};
  }
  void run() override {
    if (streaming_)
      copy_streaming();
    else
      copy_plainly();
  }
  [[nodiscard]] bool verify() override {
    return std::memcmp(from_.data(), to_.data(), bytes_) == 0;
  }

  [[nodiscard]] std::vector<metric> metrics(const summary& seconds) override {
    const double node_gigabytes =
        2e-9 * static_cast<double>(bytes_) * team_.size() / team_.nodes().node_count();
    const double plain = best_seconds([&] { copy_plainly(); });
    return {per_node("bandwidth", node_gigabytes / seconds.median, "GB/s"),
            per_node("best_bandwidth", node_gigabytes / seconds.best, "GB/s"),
            per_node("memcpy_best_bandwidth", node_gigabytes / plain, "GB/s")};
  }

 private:
  static constexpr double clearly_faster = 1.15;

  static std::size_t checked_bytes(team& ranks, std::size_t bytes) {
    check_memory(ranks, "the two buffers of a copy", 2.0 * static_cast<double>(bytes));
    return bytes;
  }

  void copy_plainly() {
    team_.charge_copy(team_.rank(), bytes_);
    std::memcpy(to_.data(), from_.data(), bytes_);
  }
  void copy_streaming() {
    team_.charge_copy(team_.rank(), bytes_);
    const std::size_t items = bytes_ / sizeof(double), rest = bytes_ % sizeof(double);
    const auto* const from = reinterpret_cast<const double*>(from_.data());
    stream_(reinterpret_cast<double*>(to_.data()), from, from, 1, items);
    if (rest > 0) std::memcpy(to_.data() + bytes_ - rest, from_.data() + bytes_ - rest, rest);
  }

  // Collective. The shortest of some tries. The time of a try is that of the slowest rank.
  template <class Copy>
  double best_seconds(const Copy& copy) {
    constexpr int tries = 9;
    double best = std::numeric_limits<double>::infinity();
    for (int i = 0; i < tries; ++i) {
      team_.barrier();
      const double start = team_.now();
      copy();
      best = std::min(best, team_.allreduce_value(team_.now() - start, reduction::max));
    }
    return best;
  }

  team& team_;
  std::size_t bytes_;
  memory_block from_, to_;
  stream_loop<double> stream_ =
      find_stream_loop<double>(stream_kernel::copy, store_kind::streaming);
  bool streaming_ = false;
};

}  // namespace

std::size_t default_copy_bytes() {
  const std::size_t caches =
      last_level_cache_bytes() * static_cast<std::size_t>(last_level_cache_count());
  return std::clamp(std::bit_ceil(2 * caches), std::size_t{1} << 24, std::size_t{1} << 28);
}

std::unique_ptr<measurement> make_copy(team& ranks, std::size_t bytes) {
  return std::make_unique<copy_measurement>(ranks, bytes);
}

}  // namespace longshore::bench
