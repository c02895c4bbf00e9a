// Kernel copy: chooses between memcpy and streaming stores once, and then times copies of one large
// buffer per rank. With buffers of the default size, it measures smaller sizes at the end, and the
// network.
#include "patterns/control/kernels.hpp"

#include "patterns/control/memory_speeds.hpp"
#include "patterns/memory_check.hpp"

#include <longshore/core/bytes.hpp>
#include <longshore/core/random.hpp>
#include <longshore/machine/memory_block.hpp>
#include <longshore/machine/memory_sizes.hpp>
#include <longshore/stream/choose_store_kind.hpp>

#include <algorithm>
#include <bit>
#include <cstring>

namespace longshore::bench {
namespace {

// Bandwidths count bytes read and bytes written. Arrays that fit into the caches are copied by
// memcpy, and larger arrays by a loop of streaming stores, unless memcpy is clearly faster. A close
// choice would differ between launches, and look like a change of the machine.
class copy_measurement final : public measurement {
 public:
  copy_measurement(team& ranks, std::size_t bytes, bool all_sizes)
      : team_(ranks),
        bytes_(bytes),
        all_sizes_(all_sizes),
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
      streaming_ = !(plain_seconds() * clearly_faster < streaming_seconds());
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
    const double plain = plain_seconds();
    best_bandwidth_ = node_gigabytes / std::min(seconds.best, plain);
    return {per_node("bandwidth", node_gigabytes / seconds.median, "GB/s"),
            per_node("best_bandwidth", node_gigabytes / seconds.best, "GB/s"),
            per_node("memcpy_best_bandwidth", node_gigabytes / plain, "GB/s")};
  }
  [[nodiscard]] json collect_facts() override {
    if (!all_sizes_ || team_.costs() != nullptr) return json::object();
    json speeds = measure_memory_speeds(team_, from_.data(), to_.data(), bytes_);
    speeds.push_back({{"bytes", 2 * bytes_}, {"copy", best_bandwidth_}});
    return {{"speeds", speeds}};
  }

 private:
  static constexpr double clearly_faster = 1.15;
  static constexpr int tries = 9;

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

  double plain_seconds() {
    return shortest_seconds(team_, tries, [&] { copy_plainly(); });
  }
  double streaming_seconds() {
    return shortest_seconds(team_, tries, [&] { copy_streaming(); });
  }

  team& team_;
  std::size_t bytes_;
  bool all_sizes_;
  double best_bandwidth_ = 0;
  memory_block from_, to_;
  stream_loop<double> stream_ =
      find_stream_loop<double>(stream_kernel::copy, store_kind::streaming);
  bool streaming_ = false;
};

std::size_t default_copy_bytes() {
  const std::size_t caches =
      last_level_cache_bytes() * static_cast<std::size_t>(last_level_cache_count());
  return std::clamp(std::bit_ceil(2 * caches), std::size_t{1} << 24, std::size_t{1} << 28);
}

}  // namespace

std::unique_ptr<measurement> make_copy(team& ranks, std::optional<std::size_t> bytes) {
  // Hosts may have different caches, so all ranks use the default size of rank 0.
  return std::make_unique<copy_measurement>(
      ranks, bytes ? *bytes : ranks.broadcast_value(default_copy_bytes()), !bytes);
}

}  // namespace longshore::bench
