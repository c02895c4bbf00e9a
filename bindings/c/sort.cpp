// Functions longshore_sorter_...: sorters for keys of all types. Five sorters are compiled: for
// words of 4 and 8 bytes, and for records of 16, 32 and 64 bytes, which hold a key and a payload.
// All compare keys by their radix keys (sort/detail/radix_key.hpp).
#include "bit_flip.hpp"
#include "handles.hpp"
#include "longshore.h"

#include <longshore/sort/bucket_sort.hpp>

#include <fmt/core.h>

#include <cstring>
#include <limits>

struct longshore_sorter : longshore::bindings::resource {
  longshore_sorter(longshore_team& owner, std::size_t payload)
      : resource(owner, "sorter"), payload_bytes(payload) {}
  const std::size_t payload_bytes;
  virtual void run(const void* keys, const void* payloads, std::size_t count) = 0;
  [[nodiscard]] virtual std::size_t received() const = 0;
  virtual void result(void* keys, void* payloads) const = 0;
  [[nodiscard]] virtual longshore::exchange_strategy exchange() const = 0;
};

namespace {

using namespace longshore;
using namespace longshore::bindings;

struct key_type {
  int type;
  std::size_t bytes;
  bool is_signed;  // an integer type with negative values
  bool is_floating;
  bool bounded;  // there is a max_key

  template <class Word>
  [[nodiscard]] bit_flip<Word> flip() const noexcept {
    return bit_flip_of<Word>(is_floating, is_signed, bounded);
  }
  /// The radix key of key `i`, widened to 8 bytes.
  [[nodiscard]] std::uint64_t radix_key_at(const std::byte* keys, std::size_t i) const noexcept {
    const std::byte* const at = keys + i * bytes;
    const auto read = [at]<class T>(T value) {
      std::memcpy(&value, at, sizeof value);
      return value;
    };
    if (is_floating && bytes == 4) return flip<std::uint32_t>()(read(std::uint32_t{}));
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
      default: value = read(std::uint64_t{});  // 8 bytes of any type
    }
    return flip<std::uint64_t>()(value);
  }
  /// Stores the key whose radix key is `word` as key `i`.
  void store(std::byte* keys, std::size_t i, std::uint64_t word) const noexcept {
    const std::uint64_t value =
        is_floating && bytes == 4 ? flip<std::uint32_t>().inverse(static_cast<std::uint32_t>(word))
                                  : flip<std::uint64_t>().inverse(word);
    std::memcpy(keys + i * bytes, &value, bytes);  // the low bytes come first
  }
};
static_assert(std::endian::native == std::endian::little);

template <class Word>
class word_sorter final : public longshore_sorter {
 public:
  word_sorter(longshore_team& owner, tasks workers, bucket_options options, const key_type& key)
      : longshore_sorter(owner, 0), workers_(std::move(workers)) {
    options.workers = &workers_;
    sorter_.emplace(owner.ranks, options, key.flip<Word>());
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
  std::optional<bucket_sorter<Word, bit_flip<Word>>> sorter_;
  std::span<const Word> sorted_;
};

template <std::size_t Bytes>
struct record {
  std::uint64_t word;
  std::array<std::byte, Bytes - sizeof(std::uint64_t)> payload;
};

// Sorts keys with payloads, and keys of 1 and 2 bytes without payload, as records of `Bytes` bytes.
// REQUIRES: payloads fit into record<Bytes>::payload.
template <std::size_t Bytes>
class record_sorter final : public longshore_sorter {
 public:
  record_sorter(longshore_team& owner, tasks workers, bucket_options options, const key_type& key,
                std::size_t payload)
      : longshore_sorter(owner, payload), workers_(std::move(workers)), key_(key) {
    options.workers = &workers_;
    sorter_.emplace(owner.ranks, options, &record<Bytes>::word);
  }
  void run(const void* keys, const void* payloads, std::size_t count) override {
    items_.resize(count);
    const auto* const first = static_cast<const std::byte*>(keys);
    for (std::size_t i = 0; i < count; ++i) {
      items_[i].word = key_.radix_key_at(first, i);
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
  key_type key_;
  std::vector<record<Bytes>> items_;
  std::optional<bucket_sorter<record<Bytes>, std::uint64_t record<Bytes>::*>> sorter_;
  std::span<const record<Bytes>> sorted_;
};

constexpr std::size_t max_payload_bytes = sizeof(record<64>::payload);
static_assert(max_payload_bytes == 56, "longshore.h promises this limit");

key_type key_type_of(int type, const longshore_sort_options* options) {
  if (type == LONGSHORE_BYTES)
    fail(errc::usage,
         "keys of type LONGSHORE_BYTES have no order: use integers, float32 or float64");
  const std::size_t bytes = bytes_of_type(type, 0, "keys");
  const bool floating = type == LONGSHORE_FLOAT32 || type == LONGSHORE_FLOAT64;
  const bool is_signed = type >= LONGSHORE_INT8 && type <= LONGSHORE_INT64;
  const std::int64_t max_key = options == nullptr ? 0 : options->max_key;
  if (max_key == 0) return {type, bytes, is_signed, floating, false};
  if (floating)
    fail(errc::usage, "max_key {} is for integer keys only: use 0, and the sort finds the range",
         max_key);
  // 2^(bits of the value) - 1
  const std::uint64_t largest = ~std::uint64_t{0} >> (64 - 8 * bytes + (is_signed ? 1 : 0));
  if (static_cast<std::uint64_t>(count_from(max_key, "max_key")) - 1 > largest)
    fail(errc::usage, "max_key {} is above the limit of keys of {}: at most {}", max_key,
         name_of_type(type), largest);
  return {type, bytes, is_signed, floating, true};
}

bucket_splitters splitters_of(const longshore_sort_options& given) {
  const std::string_view name = text_or(given.splitters, "equal-width");
  if (name != "equal-width" && name != "sampled")
    fail(errc::usage, "splitters '{}': allowed are equal-width, sampled", name);
  return name == "sampled" ? bucket_splitters::sampled : bucket_splitters::equal_width;
}

bucket_options options_of(const longshore_sort_options* given) {
  bucket_options options;
  if (given == nullptr) return options;
  check_reserved(given->reserved, "longshore_sort_options");
  options.exchange = from_name<exchange_strategy>(text_or(given->exchange, "auto"));
  options.order = from_name<exchange_order>(text_or(given->order, "round-robin"));
  options.max_key = static_cast<std::uint64_t>(given->max_key);  // key_type_of() has checked it
  options.stable = given->stable != 0;
  options.splitters = splitters_of(*given);
  options.together = given->together != 0;
  if (given->seed != 0) options.seed = static_cast<std::uint64_t>(given->seed);
  options.barrier_before_exchange = given->barrier_before_exchange != 0;
  return options;
}

std::unique_ptr<longshore_sorter> make(longshore_team& owner, const key_type& key,
                                       std::size_t payload_bytes, const bucket_options& options,
                                       tasks workers) {
#ifndef LONGSHORE_C_FEW_TYPES  // with few types, the largest record sorts all keys
  if (payload_bytes == 0 && key.bytes == 4)
    return std::make_unique<word_sorter<std::uint32_t>>(owner, std::move(workers), options, key);
  if (payload_bytes == 0 && key.bytes == 8)
    return std::make_unique<word_sorter<std::uint64_t>>(owner, std::move(workers), options, key);
  if (payload_bytes <= sizeof(record<16>::payload))
    return std::make_unique<record_sorter<16>>(owner, std::move(workers), options, key,
                                               payload_bytes);
  if (payload_bytes <= sizeof(record<32>::payload))
    return std::make_unique<record_sorter<32>>(owner, std::move(workers), options, key,
                                               payload_bytes);
#endif
  return std::make_unique<record_sorter<64>>(owner, std::move(workers), options, key,
                                             payload_bytes);
}

}  // namespace

extern "C" {

int longshore_sorter_create(longshore_team* team, int key_type, size_t payload_bytes,
                            const struct longshore_sort_options* options,
                            longshore_sorter** sorter) {
  return guarded([&] {
    required(sorter, "the pointer for the sorter") = nullptr;
    longshore_team& owner = checked(team);
    bucket_options chosen;
    tasks workers;
    const auto key = read_on_all_ranks(owner, "a sorter", [&] {
      const auto type = key_type_of(key_type, options);
      if (options != nullptr)
        workers = tasks_named(owner.ranks, options->tasks, options->task_count);
      chosen = options_of(options);
      chosen.keys =
          fmt::format("{} with payloads of {} bytes", name_of_type(key_type), payload_bytes);
      if (payload_bytes > max_payload_bytes)
        fail(errc::usage,
             "payloads of {} bytes: at most {}. Sort the indices of larger payloads, and gather "
             "the payloads by these",
             payload_bytes, max_payload_bytes);
      return type;
    });
    *sorter = owner.keep(make(owner, key, payload_bytes, chosen, std::move(workers)));
  });
}

int longshore_sorter_free(longshore_sorter* sorter) { return free_object(sorter); }

int longshore_sorter_run(longshore_sorter* sorter, const void* keys, const void* payloads,
                         int64_t count, int64_t* received) {
  return guarded([&] {
    const std::size_t items = count_from(count, "the number of keys");
    if (items > 0) required(static_cast<const char*>(keys), "the array of keys");
    if (items > 0 && checked(sorter, "the sorter").payload_bytes > 0)
      required(static_cast<const char*>(payloads),
               "the array of payloads, which this sorter needs,");
    checked(sorter, "the sorter").run(keys, payloads, items);
    if (received != nullptr) *received = static_cast<int64_t>(sorter->received());
  });
}

int longshore_sorter_result(const longshore_sorter* sorter, void* keys, void* payloads) {
  return guarded([&] {
    if (checked(sorter, "the sorter").received() > 0)
      required(static_cast<char*>(keys), "the buffer for keys");
    sorter->result(keys, payloads);
  });
}

const char* longshore_sorter_exchange(const longshore_sorter* sorter) {
  return name_of(existing(sorter, "the sorter").exchange()).data();
}
}
