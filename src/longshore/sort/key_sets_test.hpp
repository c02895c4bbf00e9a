// Sets of keys for the tests of sorts over all ranks, and the expected result of sorting them.
#pragma once

#include <longshore/core/random.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace longshore::testing {

template <class Key>
struct named_keys {
  const char* name;
  std::function<std::vector<Key>(int rank, int ranks)> of;
};

template <class Key>
std::vector<Key> random_keys(int rank, std::size_t count, std::uint64_t below) {
  random_stream random(17, static_cast<std::uint64_t>(rank));
  std::vector<Key> keys(count);
  for (auto& key : keys) key = static_cast<Key>(random.below(below));
  return keys;
}

/// Keys in [0, 100).
template <class Key>
std::vector<named_keys<Key>> key_sets() {
  return {{"none", [](int, int) { return std::vector<Key>{}; }},
          {"only one key",
           [](int rank, int ranks) { return std::vector<Key>(rank == ranks - 1 ? 1 : 0, 5); }},
          {"keys on the last rank only",
           [](int rank, int ranks) {
             return random_keys<Key>(rank, rank == ranks - 1 ? 500 : 0, 100);
           }},
          {"all equal", [](int, int) { return std::vector<Key>(333, 99); }},
          {"random, uneven",
           [](int rank, int) {
             return random_keys<Key>(rank, 1000 + 101 * static_cast<std::size_t>(rank), 100);
           }},
          {"all in the last bucket",
           [](int rank, int) {
             auto keys = random_keys<Key>(rank, 700, 5);
             for (auto& key : keys) key = static_cast<Key>(key + 95);
             return keys;
           }},
          {"descending", [](int rank, int) {
             auto keys = random_keys<Key>(rank, 200, 100);
             std::sort(keys.rbegin(), keys.rend());
             return keys;
           }}};
}

/// The keys of all ranks, sorted.
template <class Key>
std::vector<Key> all_sorted(const named_keys<Key>& keys, int ranks) {
  std::vector<Key> all;
  for (int rank = 0; rank < ranks; ++rank) {
    const auto of_rank = keys.of(rank, ranks);
    all.insert(all.end(), of_rank.begin(), of_rank.end());
  }
  std::sort(all.begin(), all.end());
  return all;
}

/// all_sorted() of several sets with different names. The ranks of a process share the result.
template <class Key>
class sorted_sets {
 public:
  const std::vector<Key>& of(const named_keys<Key>& keys, int ranks) {
    const std::lock_guard lock(mutex_);
    const auto [known, is_new] = sorted_.try_emplace(keys.name);
    if (is_new) known->second = all_sorted(keys, ranks);
    return known->second;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::vector<Key>> sorted_;
};

}  // namespace longshore::testing
