// Injects faults into a sorted result. check_sorted must find each fault and name it.
#include <longshore/sort/bucket_sort.hpp>
#include <longshore/sort/key_sets_test.hpp>
#include <longshore/transport/spmd_test.hpp>

#include <gtest/gtest.h>

namespace longshore {
namespace {

using testing::random_keys;
using testing::spmd;

constexpr std::uint64_t key_limit = 1000;

struct record_with_origin {
  std::uint32_t key;
  std::uint32_t origin;  // position before the sort, with the rank in the high bits
};

std::vector<record_with_origin> records_of(int rank) {
  std::vector<record_with_origin> records;
  for (const auto key : random_keys<std::uint32_t>(rank, 500, key_limit))
    records.push_back(
        {key, static_cast<std::uint32_t>(rank) << 20 | static_cast<std::uint32_t>(records.size())});
  return records;
}

std::uint64_t origin_of_record(const record_with_origin& item) { return item.origin; }

// Sorts, lets `spoil` change the result of the last rank, and returns the faults that check_sorted
// finds.
sort_faults faults_after(team& team,
                         const std::function<void(std::vector<record_with_origin>&)>& spoil) {
  const auto records = records_of(team.rank());
  auto part = bucket_sort(team, records, {.exchange = exchange_strategy::put_scan, .stable = true},
                          &record_with_origin::key);
  if (team.rank() == team.size() - 1) {
    EXPECT_GT(part.size(), 100u);
    spoil(part);
  }
  const auto before =
      checksum_of<record_with_origin>(records, &record_with_origin::key, origin_of_record);
  return check_sorted<record_with_origin>(team, before, part, &record_with_origin::key,
                                          origin_of_record, origin_of_record);
}

std::string names_of(const sort_faults& faults) {
  std::string names;
  for (const auto& [is_set, name] :
       std::vector<std::pair<bool, std::string>>{{faults.lost, "lost"},
                                                 {faults.doubled, "doubled"},
                                                 {faults.changed, "changed"},
                                                 {faults.torn, "torn"},
                                                 {faults.order_within, "order_within"},
                                                 {faults.order_across, "order_across"},
                                                 {faults.unstable, "unstable"}})
    if (is_set) names += name + " ";
  EXPECT_EQ(names.empty(), faults.text.empty()) << faults.text;
  return names;
}

void expect_fault(const std::string& names,
                  const std::function<void(std::vector<record_with_origin>&)>& spoil) {
  spmd([&](team& team) { EXPECT_EQ(names_of(faults_after(team, spoil)), names); });
}

// The first of two neighbours with equal keys, or with different keys.
std::vector<record_with_origin>::iterator neighbours(std::vector<record_with_origin>& items,
                                                     bool equal) {
  const auto first = std::adjacent_find(
      items.begin(), items.end(), [=](const record_with_origin& a, const record_with_origin& b) {
        return (a.key == b.key) == equal;
      });
  EXPECT_NE(first, items.end());
  return first;
}

TEST(SortCheck, finds_no_fault_in_a_correct_result) {
  expect_fault("", [](auto&) {});
}

TEST(SortCheck, names_a_lost_key) {
  expect_fault("lost ", [](auto& items) { items.erase(items.begin() + 50); });
}

TEST(SortCheck, names_a_duplicated_key) {
  expect_fault("doubled ", [](auto& items) { items.insert(items.begin() + 50, items[50]); });
}

TEST(SortCheck, names_a_changed_key) {
  // A key becomes equal to its neighbour: the order and the number of keys stay correct.
  expect_fault("changed ", [](auto& items) {
    auto change = neighbours(items, false);
    while (change->origin > (change + 1)->origin)
      change = std::adjacent_find(
          change + 1, items.end(),
          [](const record_with_origin& a, const record_with_origin& b) { return a.key != b.key; });
    change->key = (change + 1)->key;
  });
}

TEST(SortCheck, names_two_neighbours_that_changed_their_order) {
  expect_fault("order_within ", [](auto& items) {
    const auto change = neighbours(items, false);
    std::swap(*change, *(change + 1));
  });
}

TEST(SortCheck, names_two_items_with_equal_keys_that_changed_their_order) {
  expect_fault("unstable ", [](auto& items) {
    const auto change = neighbours(items, true);
    std::swap(*change, *(change + 1));
  });
}

TEST(SortCheck, names_a_payload_that_belongs_to_another_key) {
  spmd([](team& team) {
    const auto faults = faults_after(team, [](auto& items) {
      const auto change = neighbours(items, false);
      std::swap(change->origin, (change + 1)->origin);
    });
    EXPECT_TRUE(faults.torn && !faults.lost && !faults.doubled && !faults.changed &&
                !faults.order_within && !faults.order_across)
        << faults.text;
  });
}

TEST(SortCheck, names_a_key_on_a_later_rank_than_it_belongs) {
  spmd([](team& team) {
    const auto faults = faults_after(team, [](auto& items) { items.front().key = 0; });
    EXPECT_EQ(faults.order_across, team.size() > 1) << faults.text;
    EXPECT_FALSE(faults.order_within);
  });
}

}  // namespace
}  // namespace longshore
