// Updates of a table that is small compared with the number of requests, if all ranks share memory.
// Every rank updates a private copy, without atomics and without waiting for cache lines of others.
// Then every owner merges its part of all copies. This is the usual way to make a histogram with
// threads (privatization).
#pragma once

#include <longshore/gather/detail/element_atomics.hpp>
#include <longshore/gather/detail/engine_strategy.hpp>
#include <longshore/gather/detail/for_each_in_range.hpp>
#include <longshore/gather/detail/table_view.hpp>
#include <longshore/gather/op.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <span>

namespace longshore::detail {

/// Cost of n requests per rank on P ranks with a table of m elements: no messages, 2 barriers; per
/// request 8 bytes of index read and an update in the cache; per rank m elements merged. A rank
/// with few requests updates the table itself with atomic operations, and its copy is not merged.
/// Memory per rank: m x sizeof(T), shared.
template <trivially_copyable T, distribution Distribution, has_identity<T> Op>
class update_by_private_copies {
 public:
  /// Whether the copies of all ranks of a node fit into `cache_bytes` together, so that merging
  /// does not read from memory.
  static bool fit(const table_view<T, Distribution>& table, std::size_t cache_bytes) {
    return table.map().largest_local_size() <=
           cache_bytes / sizeof(T) / squared(table.team().size());
  }

  /// Collective. REQUIRES: all ranks can reach all parts; fit().
  update_by_private_copies(const table_view<T, Distribution>& table, Op op)
      : table_(table),
        op_(op),
        stride_(round_up(static_cast<std::size_t>(table.map().largest_local_size()) * sizeof(T),
                         interference_bytes) /
                sizeof(T)),
        memory_(table.team().allocate(header_bytes + elements() * sizeof(T) + interference_bytes)) {
    std::fill_n(copy_of(table.team().rank()), elements(), identity());
  }

  /// Collective. table[indices[i]] = op(table[indices[i]], value_of(i)). All ranks see the result
  /// on return. Throws errc::usage for an index out of range, and errc::peer_failed on the other
  /// ranks; the object can be used again after both.
  template <class ValueOf>
  void run(const char* operation, std::span<const std::int64_t> indices, ValueOf value_of) {
    const bool in_copy = !is_one_word<T> || indices.size() >= elements() / few_share;
    const std::size_t done = in_copy ? fill_copy(indices, value_of) : fill_table(indices, value_of);
    const bool bad = done < indices.size();
    const int failed_rank = merge_all(bad ? failure : in_copy ? copied : nothing);
    if (bad) throw_index_error(operation, indices, table_.size(), table_.team().rank());
    if (failed_rank >= 0) throw_peer_failed(operation, table_.team(), failed_rank);
  }

  /// Collective with run() of the other ranks: tells them that this rank failed.
  void fail_use() { merge_all(failure); }

 private:
  // What a rank did in this use.
  enum state : std::uint64_t { nothing, copied, failure };
  // Has one state for this use and one for the next: a rank is never more than one use ahead.
  static constexpr std::size_t header_bytes = interference_bytes;
  // an atomic operation costs about as much as merging so many elements
  static constexpr std::size_t few_share = 8;

  static std::size_t squared(int ranks) {
    return static_cast<std::size_t>(ranks) * static_cast<std::size_t>(ranks);
  }
  [[nodiscard]] T identity() const { return op_.template identity<T>(); }

  [[nodiscard]] std::size_t elements() const {
    return stride_ * static_cast<std::size_t>(table_.team().size());
  }
  [[nodiscard]] T* copy_of(int rank) const {
    return reinterpret_cast<T*>(memory_->direct(rank) + header_bytes);
  }
  [[nodiscard]] std::uint64_t& state_of(int rank) const {
    return reinterpret_cast<std::uint64_t*>(memory_->direct(rank))[uses_ % 2];
  }

  template <class ValueOf>
  std::size_t fill_copy(std::span<const std::int64_t> indices, ValueOf value_of) {
    T* const copy = copy_of(table_.team().rank());
    // A function for each locator: if all were inlined into one, their loops would lack registers.
    return table_.map().with_locator([&](auto locate) __attribute__((noinline)) {
      return for_each_in_range(indices, table_.size(),
                               [=, stride = stride_, op = op_](std::size_t i, std::uint64_t index) {
                                 const location at = locate(index);
                                 T& element =
                                     copy[static_cast<std::size_t>(at.rank) * stride + at.offset];
                                 element = op(element, value_of(i));
                               });
    });
  }

  template <class ValueOf>
  std::size_t fill_table(std::span<const std::int64_t> indices, ValueOf value_of) {
    if constexpr (is_one_word<T>) {
      T* const* const parts = table_.direct_parts().data();
      return for_each_in_range(indices, table_.size(), [&](std::size_t i, std::uint64_t index) {
        const location at = table_.map().owner_offset(index);
        update_atomically(parts[at.rank] + at.offset, static_cast<T>(value_of(i)), op_);
      });
    } else {
      return 0;
    }
  }

  // Merges this rank's part of all copies, unless a rank failed. `mine`: what this rank did.
  // Returns the lowest rank that failed, or -1.
  int merge_all(state mine) {
    team& team = table_.team();
    state_of(team.rank()) = mine;
    team.barrier();
    int failed_rank = -1;
    for (int rank = team.size() - 1; rank >= 0; --rank)
      if (state_of(rank) == failure) failed_rank = rank;
    if (failed_rank >= 0)
      std::fill_n(copy_of(team.rank()), elements(), identity());
    else
      // Each rank begins with its own copy, so no two ranks read one copy at a time.
      for (int step = 0; step < team.size(); ++step)
        if (const int rank = (team.rank() + step) % team.size(); state_of(rank) == copied)
          merge(rank);
    ++uses_;
    team.barrier();  // no rank may update a copy that is being merged
    return failed_rank;
  }

  void merge(int rank) {
    const std::span<T> mine = table_.local();
    T* const theirs = copy_of(rank) + static_cast<std::size_t>(table_.team().rank()) * stride_;
    for (std::size_t k = 0; k < mine.size(); ++k) {
      mine[k] = op_(mine[k], theirs[k]);
      theirs[k] = identity();
    }
  }

  const table_view<T, Distribution>& table_;
  Op op_;
  std::size_t stride_;  // elements from one owner's part of a copy to the next
  std::unique_ptr<segment> memory_;
  std::uint64_t uses_ = 0;
};

}  // namespace longshore::detail
