// Updates by private copies of the table (privatization), for ranks that share memory and a table
// that is small compared with the number of requests. Every rank updates its private copy, without
// atomic operations and without waiting for cache lines of other ranks. Then every owner merges its
// part of all copies. Histograms are usually made like this with threads.
#pragma once

#include <longshore/core/op.hpp>
#include <longshore/gather/detail/element_atomics.hpp>
#include <longshore/gather/detail/engine_strategy.hpp>
#include <longshore/gather/detail/for_each_in_range.hpp>
#include <longshore/gather/detail/table_view.hpp>

#include <cstddef>
#include <memory>
#include <span>

namespace longshore::detail {

/// Cost with a table of m elements: 2 barriers and m merged elements per rank; per request 8 bytes
/// of index read and an update in the cache. A rank with few requests updates the table directly
/// with atomic operations, and its copy is not merged. Memory per rank: m x sizeof(T) shared bytes.
template <trivially_copyable T, distribution Distribution, class Op>
class update_by_private_copies {
 public:
  /// Whether the copies of all ranks fit into a shared cache of `cache_bytes`, so that merging does
  /// not read from memory.
  static bool fit(const table_view<T, Distribution>& table, std::size_t cache_bytes) {
    return table.map().largest_local_size() <=
           cache_bytes / sizeof(T) / squared(table.team().size());
  }

  /// Collective. REQUIRES: all ranks can reach all parts; fit() is true; has_identity<Op, T>.
  update_by_private_copies(const table_view<T, Distribution>& table, Op op)
      : table_(table),
        op_(op),
        stride_(round_up(static_cast<std::size_t>(table.map().largest_local_size()) * sizeof(T),
                         interference_bytes) /
                sizeof(T)),
        memory_(table.team().allocate(header_bytes + elements() * sizeof(T) + interference_bytes)) {
    clear_copy();
  }

  /// Collective. table[indices[i]] = op(table[indices[i]], value_of(i)). On return all ranks see
  /// the result. For an index out of range, throws errc::usage on this rank and errc::peer_failed
  /// on the other ranks; the object can be used again.
  template <class ValueOf>
  void run(const char* operation, std::span<const std::int64_t> indices, ValueOf value_of) {
    const bool uses_copy = !is_one_word<T> || indices.size() >= elements() / merges_per_atomic;
    const std::size_t updates =
        uses_copy ? update_copy(indices, value_of) : update_table(indices, value_of);
    const bool failed = updates < indices.size();
    const int failed_rank = merge_all(failed      ? rank_state::failed
                                      : uses_copy ? rank_state::updated_copy
                                                  : rank_state::updated_table);
    if (failed) throw_index_error(operation, indices, table_.size(), table_.team().rank());
    if (failed_rank >= 0) throw_peer_failed(operation, table_.team(), failed_rank);
  }

 private:
  enum class rank_state : std::uint64_t { updated_table, updated_copy, failed };
  // The header of a copy has the state of its rank in this call and the state in the next call. Two
  // states suffice, since a rank is never more than one call ahead of another rank.
  static constexpr std::size_t header_bytes = interference_bytes;
  // An atomic operation costs about as much as merging this many elements.
  static constexpr std::size_t merges_per_atomic = 8;

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
  void clear_copy() const {
    for (T& element : std::span(copy_of(table_.team().rank()), elements())) element = identity();
  }
  [[nodiscard]] rank_state& state_of(int rank) const {
    return reinterpret_cast<rank_state*>(memory_->direct(rank))[calls_ % 2];
  }

  // Returns the number of updates, as for_each_in_range.
  template <class ValueOf>
  std::size_t update_copy(std::span<const std::int64_t> indices, ValueOf value_of) {
    T* const copy = copy_of(table_.team().rank());
    // Every locator gets a function of its own: several loops in one function would lack registers.
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
  std::size_t update_table(std::span<const std::int64_t> indices, ValueOf value_of) {
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

  // Collective. Merges this rank's part of all copies, unless a rank failed. Returns the lowest
  // rank that failed, or -1.
  int merge_all(rank_state state) {
    team& team = table_.team();
    state_of(team.rank()) = state;
    team.barrier();
    int failed_rank = -1;
    for (int rank = team.size() - 1; rank >= 0; --rank)
      if (state_of(rank) == rank_state::failed) failed_rank = rank;
    if (failed_rank >= 0)
      clear_copy();
    else
      // Every rank begins with its own copy, so no two ranks read the same copy at the same time.
      for (int step = 0; step < team.size(); ++step)
        if (const int rank = (team.rank() + step) % team.size();
            state_of(rank) == rank_state::updated_copy) {
          merge_copy_of(rank);
          team.charge("table_accesses", 2 * table_.local().size());  // a load and a store
        }
    ++calls_;
    team.barrier();  // No rank may update a copy that is being merged.
    return failed_rank;
  }

  void merge_copy_of(int rank) {
    const std::span<T> part = table_.local();
    T* const copied_part = copy_of(rank) + static_cast<std::size_t>(table_.team().rank()) * stride_;
    for (std::size_t k = 0; k < part.size(); ++k) {
      part[k] = op_(part[k], copied_part[k]);
      copied_part[k] = identity();
    }
  }

  const table_view<T, Distribution>& table_;
  Op op_;
  std::size_t stride_;  // elements from one owner's part of a copy to the next
  std::unique_ptr<segment> memory_;
  std::uint64_t calls_ = 0;
};

}  // namespace longshore::detail
