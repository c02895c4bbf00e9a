// Kernel put: rank 0 puts a train of messages, by a segment or by raw calls of the library, and
// then tells the target that the train is complete.
#include "patterns/control/kernels.hpp"

#include <longshore/core/error.hpp>
#include <longshore/core/random.hpp>
#include <longshore/transport/launch/raw_calls_of.hpp>
#include <longshore/transport/waiter.hpp>

#include <algorithm>
#include <cstring>

namespace longshore::bench {
namespace {

// The puts of a train move about this many bytes. A train has from 1 to max_puts_in_train puts.
constexpr std::size_t train_bytes = std::size_t{1} << 22;
constexpr std::size_t max_puts_in_train = 1000;

int partner_of(const team& ranks, const std::string& pair) {
  const node_map& nodes = ranks.nodes();
  if (pair == "remote") {
    if (nodes.node_count() < 2) fail(errc::unsupported, "{}", all_on_one_node);
    return nodes.leaders()[1];
  }
  for (int other = 1; other < ranks.size(); ++other)
    if (nodes.node_of(other) == nodes.node_of(0)) return other;
  fail(errc::unsupported, "rank 0 is alone on its node: no other is near");
}

// Rank 0 sends a train of puts, and then an empty message by a channel.
class put_measurement : public measurement {
 public:
  put_measurement(team& ranks, const std::string& pair, std::size_t bytes)
      : team_(ranks), partner_(partner_of(ranks, pair)), bytes_(bytes), from_(bytes) {
    train_ = static_cast<int>(std::clamp<std::size_t>(train_bytes / bytes, 1, max_puts_in_train));
    std::vector<channel_end> to, from;
    if (ranks.rank() == 0) to.push_back({partner_, sizeof(std::uint64_t)});
    if (ranks.rank() == partner_) from.push_back({0, sizeof(std::uint64_t)});
    end_of_train_ = ranks.open_channels(to, from, 2);
  }

  void run() override {
    ++count_;
    if (team_.rank() == 0) {
      fill(from_);
      put_train();
      for (waiter wait(team_, "a free slot after puts", partner_);
           end_of_train_->sender(0).reserve() == nullptr; wait.pause()) {
      }
      end_of_train_->sender(0).commit(0);
    } else if (team_.rank() == partner_) {
      for (waiter wait(team_, "the end of puts", 0); !end_of_train_->receiver(0).front();
           wait.pause()) {
      }
      end_of_train_->receiver(0).release();
    }
  }
  [[nodiscard]] bool verify() override {
    if (team_.rank() != partner_) return true;
    std::vector<std::byte> expected(bytes_);
    fill(expected);
    return count_ > 0 && std::memcmp(expected.data(), arrived_bytes(), bytes_) == 0;
  }
  [[nodiscard]] traffic moved() const override {
    if (team_.rank() != 0) return {};
    const auto puts = static_cast<std::size_t>(train_);
    return {.messages = puts,
            .payload_bytes = puts * bytes_,
            .wire_bytes = puts * bytes_,
            .offnode_bytes = team_.nodes().is_local(partner_) ? 0 : puts * bytes_};
  }
  [[nodiscard]] std::vector<metric> metrics(const summary& seconds) override {
    return {
        {"put_us", 1e6 * seconds.median / train_, "us", false},
        {"best_put_us", 1e6 * seconds.best / train_, "us", false},
        {"put_bandwidth", 1e-9 * static_cast<double>(bytes_) * train_ / seconds.median, "GB/s"}};
  }

 protected:
  virtual void put_train() = 0;
  [[nodiscard]] virtual const std::byte* arrived_bytes() const = 0;

  team& team_;
  int partner_;
  std::size_t bytes_;
  std::vector<std::byte> from_;
  int train_ = 1;

 private:
  // Each train has a new number at the beginning and at the end of its puts. Changing all bytes
  // would add to the measured time. A put has at least 8 bytes, the lower limit of factor bytes.
  void fill(std::vector<std::byte>& bytes) const {
    const std::uint64_t number = mix_bits(static_cast<std::uint64_t>(count_));
    std::memcpy(bytes.data(), &number, sizeof number);
    std::memcpy(bytes.data() + bytes.size() - sizeof number, &number, sizeof number);
  }

  std::unique_ptr<channel_set> end_of_train_;
  long count_ = 0;
};

class segment_put final : public put_measurement {
 public:
  segment_put(team& ranks, const std::string& pair, std::size_t bytes)
      : put_measurement(ranks, pair, bytes), memory_(ranks.allocate(bytes)) {}

 private:
  void put_train() override {
    for (int i = 0; i < train_; ++i) memory_->put(partner_, 0, from_.data(), bytes_);
    memory_->quiet();
  }
  [[nodiscard]] const std::byte* arrived_bytes() const override { return memory_->local(); }

  std::unique_ptr<segment> memory_;
};

class raw_put final : public put_measurement {
 public:
  raw_put(team& ranks, const std::string& pair, std::size_t bytes)
      : put_measurement(ranks, pair, bytes), calls_(raw_calls_of(ranks, bytes)) {}

 private:
  void put_train() override { calls_->put(partner_, from_.data(), bytes_, train_); }
  [[nodiscard]] const std::byte* arrived_bytes() const override { return calls_->message(); }

  std::unique_ptr<longshore::detail::raw_calls> calls_;
};

}  // namespace

std::unique_ptr<measurement> make_put(team& ranks, const std::string& over, const std::string& pair,
                                      std::size_t bytes) {
  if (over == "raw") return std::make_unique<raw_put>(ranks, pair, bytes);
  // Only "put" is left, because control.cpp refuses other levels of factor over.
  return std::make_unique<segment_put>(ranks, pair, bytes);
}

}  // namespace longshore::bench
