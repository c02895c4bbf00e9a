// Sorters for keys of any type, of which five are compiled: words of 4 and of 8 bytes, and records
// of 16, 32 and 64 bytes for keys with payloads. Keys are compared as unsigned words, made of them
// by flipping bits (sort/detail/radix_key.hpp).
#include "handles.hpp"
#include "longshore.h"

#include <longshore/sort/bucket_sort.hpp>

#include <cstring>
#include <limits>

struct longshore_sorter : longshore::bindings::owned {
  longshore_sorter(longshore_team& of, std::size_t payload)
      : owned(of, "sorter"), payload_bytes(payload) {}
  const std::size_t payload_bytes;
  virtual void run(const void* keys, const void* payloads, std::size_t count) = 0;
  [[nodiscard]] virtual std::size_t received() const = 0;
  virtual void result(void* keys, void* payloads) const = 0;
  [[nodiscard]] virtual longshore::exchange_strategy exchange() const = 0;
};

namespace {

using namespace longshore;
using namespace longshore::bindings;

/// What of a key's bits is flipped so that words compare as the keys do: `always`, and
/// `if_negative` where the highest bit is set. With a max_key nothing: keys are then not negative,
/// and their values are what max_key is compared with.
template <class Word>
struct flip {
  Word if_negative = 0, always = 0;
  Word operator()(const Word& bits) const noexcept {
    const auto negative = static_cast<Word>(0 - (bits >> (std::numeric_limits<Word>::digits - 1)));
    return bits ^ ((negative & if_negative) | always);
  }
  /// The bits of a word that was made so.
  [[nodiscard]] Word back(Word word) const noexcept {
    const auto was_positive =
        static_cast<Word>(0 - (word >> (std::numeric_limits<Word>::digits - 1)));
    return word ^ (if_negative == 0 ? always
                                    : static_cast<Word>(always | static_cast<Word>(~was_positive)));
  }
};

struct key_facts {
  int type;
  std::size_t bytes;
  bool is_signed, is_floating, bounded;

  template <class Word>
  [[nodiscard]] flip<Word> flip_of() const noexcept {
    if (bounded || !(is_signed || is_floating)) return {};
    return {static_cast<Word>(is_floating ? ~Word{0} : 0),
            static_cast<Word>(Word{1} << (std::numeric_limits<Word>::digits - 1))};
  }
  /// Key `i` as a word of 8 bytes whose order is that of the keys.
  [[nodiscard]] std::uint64_t word_of(const std::byte* keys, std::size_t i) const noexcept {
    const std::byte* const at = keys + i * bytes;
    const auto read = [at]<class T>(T value) {
      std::memcpy(&value, at, sizeof value);
      return value;
    };
    if (is_floating && bytes == 4) return flip_of<std::uint32_t>()(read(std::uint32_t{}));
    std::uint64_t value = 0;
    switch (bytes) {
      case 1:
        value = is_signed ? static_cast<std::uint64_t>(read(std::int8_t{})) : read(std::uint8_t{});
        break;
      case 2:
        value =
            is_signed ? static_cast<std::uint64_t>(read(std::int16_t{})) : read(std::uint16_t{});
        break;
      case 4:
        value =
            is_signed ? static_cast<std::uint64_t>(read(std::int32_t{})) : read(std::uint32_t{});
        break;
      default: value = read(std::uint64_t{});
    }
    return flip_of<std::uint64_t>()(value);
  }
  void store(std::byte* keys, std::size_t i, std::uint64_t word) const noexcept {
    const std::uint64_t value =
        is_floating && bytes == 4 ? flip_of<std::uint32_t>().back(static_cast<std::uint32_t>(word))
                                  : flip_of<std::uint64_t>().back(word);
    std::memcpy(keys + i * bytes, &value, bytes);  // little-endian: the low bytes come first
  }
};
static_assert(std::endian::native == std::endian::little);

template <class Word>
class word_sorter final : public longshore_sorter {
 public:
  word_sorter(longshore_team& of, tasks workers, bucket_options options, const key_facts& key)
      : longshore_sorter(of, 0), workers_(std::move(workers)) {
    options.workers = &workers_;
    sorter_.emplace(of.ranks, options, key.flip_of<Word>());
  }
  void run(const void* keys, const void*, std::size_t count) override {
    sorted_ = sorter_->sort({static_cast<const Word*>(keys), count});
  }
  [[nodiscard]] std::size_t received() const override { return sorted_.size(); }
  void result(void* keys, void*) const override {
    if (!sorted_.empty()) std::memcpy(keys, sorted_.data(), sorted_.size_bytes());
  }
  [[nodiscard]] exchange_strategy exchange() const override { return sorter_->strategy(); }

 private:
  tasks workers_;
  std::optional<bucket_sorter<Word, flip<Word>>> sorter_;
  std::span<const Word> sorted_;
};

template <std::size_t Bytes>
struct record {
  std::uint64_t word;
  std::array<std::byte, Bytes - sizeof(std::uint64_t)> payload;
};

// Keys of 1 and 2 bytes too: they are widened.
template <std::size_t Bytes>
class record_sorter final : public longshore_sorter {
 public:
  record_sorter(longshore_team& of, tasks workers, bucket_options options, const key_facts& key,
                std::size_t payload)
      : longshore_sorter(of, payload), workers_(std::move(workers)), key_(key) {
    options.workers = &workers_;
    sorter_.emplace(of.ranks, options, &record<Bytes>::word);
  }
  void run(const void* keys, const void* payloads, std::size_t count) override {
    items_.resize(count);
    const auto* const first = static_cast<const std::byte*>(keys);
    for (std::size_t i = 0; i < count; ++i) {
      items_[i].word = key_.word_of(first, i);
      if (payload_bytes > 0)
        std::memcpy(items_[i].payload.data(),
                    static_cast<const std::byte*>(payloads) + i * payload_bytes, payload_bytes);
    }
    sorted_ = sorter_->sort(items_);
  }
  [[nodiscard]] std::size_t received() const override { return sorted_.size(); }
  void result(void* keys, void* payloads) const override {
    for (std::size_t i = 0; i < sorted_.size(); ++i) {
      key_.store(static_cast<std::byte*>(keys), i, sorted_[i].word);
      if (payloads != nullptr)
        std::memcpy(static_cast<std::byte*>(payloads) + i * payload_bytes,
                    sorted_[i].payload.data(), payload_bytes);
    }
  }
  [[nodiscard]] exchange_strategy exchange() const override { return sorter_->strategy(); }

 private:
  tasks workers_;
  key_facts key_;
  std::vector<record<Bytes>> items_;
  std::optional<bucket_sorter<record<Bytes>, std::uint64_t record<Bytes>::*>> sorter_;
  std::span<const record<Bytes>> sorted_;
};

constexpr std::size_t most_payload_bytes = 56;

key_facts facts_of(int type, const longshore_sort_options* options) {
  if (type == LONGSHORE_BYTES)
    fail(errc::usage,
         "keys of type LONGSHORE_BYTES have no order: they are integers, float32 or float64");
  const std::size_t bytes = bytes_of_type(type, 0, "keys");
  const bool floating = type == LONGSHORE_FLOAT32 || type == LONGSHORE_FLOAT64;
  const bool is_signed = type >= LONGSHORE_INT8 && type <= LONGSHORE_INT64;
  const std::int64_t max_key = options == nullptr ? 0 : options->max_key;
  if (max_key == 0) return {type, bytes, is_signed, floating, false};
  if (floating)
    fail(errc::usage, "max_key {} is for integer keys: leave it 0, and the range is found",
         max_key);
  const std::uint64_t largest = ~std::uint64_t{0} >> (64 - 8 * bytes + (is_signed ? 1 : 0));
  if (static_cast<std::uint64_t>(count_from(max_key, "max_key")) - 1 > largest)
    fail(errc::usage, "max_key {} is more than keys of {} hold: at most {}", max_key,
         name_of_type(type), largest);
  return {type, bytes, is_signed, floating, true};
}

bucket_options options_of(const longshore_sort_options* given) {
  bucket_options options;
  if (given == nullptr) return options;
  options.exchange = exchange_strategy_of(word_or(given->exchange, "auto"));
  options.order = exchange_order_of(word_or(given->order, "round-robin"));
  options.max_key = static_cast<std::uint64_t>(given->max_key);
  options.stable = given->stable != 0;
  if (given->sampled != 0) options.splitters = bucket_splitters::sampled;
  return options;
}

std::unique_ptr<longshore_sorter> make(longshore_team& of, const key_facts& key,
                                       std::size_t payload_bytes,
                                       const longshore_sort_options* given) {
  tasks workers =
      given == nullptr ? tasks() : tasks_named(of.ranks, given->tasks, given->task_count);
  const bucket_options options = options_of(given);
  if (payload_bytes > most_payload_bytes)
    fail(errc::usage,
         "payloads of {} bytes: at most {}; sort the places of larger ones, and gather these by "
         "them",
         payload_bytes, most_payload_bytes);
#ifndef LONGSHORE_C_FEW_TYPES  // else the largest serves all
  if (payload_bytes == 0 && key.bytes == 4)
    return std::make_unique<word_sorter<std::uint32_t>>(of, std::move(workers), options, key);
  if (payload_bytes == 0 && key.bytes == 8)
    return std::make_unique<word_sorter<std::uint64_t>>(of, std::move(workers), options, key);
  if (payload_bytes <= 8)
    return std::make_unique<record_sorter<16>>(of, std::move(workers), options, key, payload_bytes);
  if (payload_bytes <= 24)
    return std::make_unique<record_sorter<32>>(of, std::move(workers), options, key, payload_bytes);
#endif
  return std::make_unique<record_sorter<64>>(of, std::move(workers), options, key, payload_bytes);
}

}  // namespace

extern "C" {

int longshore_sorter_create(longshore_team* team, int key_type, size_t payload_bytes,
                            const struct longshore_sort_options* options,
                            longshore_sorter** sorter) {
  return guarded([&] {
    longshore_team& of = usable(team);
    needed(sorter, "the place for the sorter");
    *sorter = of.keep(make(of, facts_of(key_type, options), payload_bytes, options));
  });
}

int longshore_sorter_free(longshore_sorter* sorter) {
  return guarded([&] { longshore_team::free(sorter); });
}

int longshore_sorter_run(longshore_sorter* sorter, const void* keys, const void* payloads,
                         int64_t count, int64_t* received) {
  return guarded([&] {
    const std::size_t items = count_from(count, "the number of keys");
    if (items > 0) needed(static_cast<const char*>(keys), "the array of keys");
    if (items > 0 && usable(sorter, "the sorter").payload_bytes > 0)
      needed(static_cast<const char*>(payloads),
             "the array of payloads, which the sorter was made for,");
    usable(sorter, "the sorter").run(keys, payloads, items);
    if (received != nullptr) *received = static_cast<int64_t>(sorter->received());
  });
}

int longshore_sorter_result(const longshore_sorter* sorter, void* keys, void* payloads) {
  return guarded([&] {
    if (usable(sorter, "the sorter").received() > 0)
      needed(static_cast<char*>(keys), "the room for keys");
    sorter->result(keys, payloads);
  });
}

const char* longshore_sorter_exchange(const longshore_sorter* sorter) {
  return name_of(sorter->exchange()).data();
}
}
