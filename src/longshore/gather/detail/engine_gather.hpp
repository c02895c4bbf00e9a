// gather by strategies exstack2, conveyor and aggregator: requests and replies over an asynchronous
// engine. Offsets go to the owners, values come back. Replies come in the order of the requests of
// a pair of ranks, so no item names its request. With several hops an item has a tag for its route.
#pragma once

#include <longshore/aggregate/request_reply.hpp>
#include <longshore/gather/detail/checked_indices.hpp>
#include <longshore/gather/detail/engine_strategy.hpp>
#include <longshore/gather/detail/offset_type.hpp>
#include <longshore/gather/detail/table_view.hpp>
#include <longshore/gather/exchange_stats.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>

namespace longshore::detail {

// The function objects of owners and requesters, shared by all distributions.

/// Replies with an element of this rank's part, which is in the cache: prefetching would only cost.
template <trivially_copyable T, class Offset>
struct read_cached {
  const T* local_part;
  T operator()(int, Offset offset) const noexcept { return local_part[offset]; }
};
/// The same for a part that is not in the cache.
template <trivially_copyable T, class Offset>
struct read_prefetched : read_cached<T, Offset> {
  void fetch(Offset offset) const noexcept { __builtin_prefetch(this->local_part + offset); }
};
/// Stores the reply to request i.
template <trivially_copyable T>
struct store_reply {
  T* out;
  void operator()(std::size_t i, const T& value) const noexcept { out[i] = value; }
};

/// Collective with a gather of the other ranks: this rank serves them and tells them that it
/// failed.
template <class Offset, trivially_copyable T>
void fail_gather(request_reply<conveyor, Offset, T>& exchange, const T* local_part) {
  read_cached<T, Offset> read{local_part};
  store_reply<T> nothing{nullptr};
  try {
    static_cast<void>(exchange.template try_run<reply_order::arrived>(
        1, [](std::size_t) -> addressed<Offset> { throw invalid_request{}; }, read, nothing));
  } catch (const invalid_request&) {  // all others know of it now
  }
}

/// The two engines for one table and the window of outstanding requests, made once and used often.
/// Cost: see conveyor, for n requests of 4 bytes (8 if a part has 2^32 elements or more) and n
/// values of sizeof(T). Memory per rank: two engines, and the
/// window of request_reply (request_reply_options says how much).
template <trivially_copyable T, distribution Distribution>
class engine_gather {
 public:
  /// Collective.
  engine_gather(const table_view<T, Distribution>& table, gather_strategy strategy,
                const gather_options& given)
      : table_(table) {
    const request_reply_options options{.engine = engine_options_for(table.team(), strategy, given),
                                        .combine_entries = given.combine ? combine_entries : 0};
    if (has_narrow_offsets(table.map()))
      narrow_.emplace(table.team(), options);
    else
      wide_.emplace(table.team(), options);
  }

  /// Collective. out[i] = table[indices[i]]. REQUIRES: as many elements in `out` as in `indices`.
  /// Throws errc::usage for an index out of range, and errc::peer_failed on the other ranks; the
  /// object can be used again after both.
  void operator()(std::span<const std::int64_t> indices, std::span<T> out) {
    with_offsets(table_.map(), [&](auto offset, auto locate) {
      if constexpr (std::is_same_v<decltype(offset), std::uint32_t>)
        run(*narrow_, locate, indices, out);
      else
        run(*wide_, locate, indices, out);
    });
  }

  /// Collective with operator() of the other ranks: tells them that this rank failed.
  void fail_use() {
    const T* const local_part = table_.local().data();
    if (narrow_)
      fail_gather(*narrow_, local_part);
    else
      fail_gather(*wide_, local_part);
  }

  [[nodiscard]] traffic sent() const {
    const auto of = [](const auto& exchange) {
      return exchange.requests().sent() += exchange.replies().sent();
    };
    return narrow_ ? of(*narrow_) : of(*wide_);
  }
  [[nodiscard]] exchange_stats stats() const {
    const auto of = [](const auto& exchange) {
      return exchange_stats{exchange.requests().stats(), exchange.replies().stats()};
    };
    return narrow_ ? of(*narrow_) : of(*wide_);
  }

 private:
  using narrow = request_reply<conveyor, std::uint32_t, T>;
  using wide = request_reply<conveyor, std::uint64_t, T>;
  static constexpr std::size_t combine_entries = 4096;

  template <class Offset, class Locate>
  void run(request_reply<conveyor, Offset, T>& exchange, Locate locate,
           std::span<const std::int64_t> indices, std::span<T> out) {
    checked_indices checked("gather", indices, table_.size(), table_.team().rank());
    const auto make_request = [&checked, locate](std::size_t i) {
      const location at = locate(checked[i]);
      return addressed<Offset>{at.rank, static_cast<Offset>(at.offset)};
    };
    const auto run_with = [&](auto read) {
      return exchange.template try_run<reply_order::arrived>(indices.size(), make_request, read,
                                                             store_reply<T>{out.data()});
    };
    const T* const local_part = table_.local().data();
    const bool cached = table_.local().size_bytes() <= cached_part_bytes;
    const int failed_rank = cached ? run_with(read_cached<T, Offset>{local_part})
                                   : run_with(read_prefetched<T, Offset>{{local_part}});
    if (failed_rank >= 0) throw_peer_failed("gather", table_.team(), failed_rank);
  }

  const table_view<T, Distribution>& table_;
  std::optional<narrow> narrow_;  // one of the two, by the size of offsets
  std::optional<wide> wide_;
};

}  // namespace longshore::detail
