// gather by strategies exstack2, conveyor and aggregator. Each rank sends the offsets of elements
// to the ranks that own them, and the owners reply with the values. An asynchronous engine carries
// the requests, and another one the replies. Each of the three strategies is a conveyor with a
// route of its own.
#pragma once

#include <longshore/aggregate/request_reply.hpp>
#include <longshore/gather/detail/engine_strategy.hpp>
#include <longshore/gather/detail/for_each_in_range.hpp>
#include <longshore/gather/detail/table_view.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>

namespace longshore::detail {

// These function objects do not depend on the distribution, so the loops that call them are
// compiled once for all distributions.

/// Makes the reply to a request on the rank that owns the element. Does not prefetch, because the
/// rank's part of the table stays in a cache.
template <trivially_copyable T, class Offset>
struct read_cached {
  const T* local_part;
  T operator()(int, Offset offset) const noexcept { return local_part[offset]; }
};
/// Like read_cached, but for a part of the table that does not stay in a cache.
template <trivially_copyable T, class Offset>
struct read_prefetched : read_cached<T, Offset> {
  void fetch(Offset offset) const noexcept { __builtin_prefetch(this->local_part + offset); }
};
/// Stores the reply to request i on the rank that sent the request.
template <trivially_copyable T>
struct store_reply {
  T* out;
  void operator()(std::size_t i, const T& value) const noexcept { out[i] = value; }
};

/// Gathers from one table over engines. For n indices, a rank sends n requests of 4 bytes each (8
/// bytes if a part has 2^32 elements or more), and gets n replies of sizeof(T) bytes each.
/// conveyor.hpp says how many messages carry these items. Memory per rank: that of one
/// request_reply (request_reply.hpp).
template <trivially_copyable T, distribution Distribution>
class engine_gather {
 public:
  /// Collective.
  engine_gather(const table_view<T, Distribution>& table, const gather_options& given)
      : table_(table) {
    const request_reply_options options{.engine = engine_options_for(table.team(), given),
                                        .expected_requests = given.expected_requests,
                                        .combine_entries = given.combine ? combine_entries : 0};
    if (has_32_bit_offsets(table.map()))
      exchange32_.emplace(table.team(), options);
    else
      exchange64_.emplace(table.team(), options);
  }

  /// Collective. out[i] = table[indices[i]]. REQUIRES: `out` and `indices` have equal sizes. For an
  /// index out of range, throws errc::usage on this rank and errc::peer_failed on the other ranks;
  /// the object can be used again.
  void operator()(std::span<const std::int64_t> indices, std::span<T> out) {
    with_offsets(table_.map(), [&](auto offset, auto locate) {
      if constexpr (std::is_same_v<decltype(offset), std::uint32_t>)
        run(*exchange32_, locate, indices, out);
      else
        run(*exchange64_, locate, indices, out);
    });
  }

  [[nodiscard]] traffic sent() const { return requests().sent() += replies().sent(); }
  [[nodiscard]] exchange_stats stats() const { return {requests().stats(), replies().stats()}; }

 private:
  static constexpr std::size_t combine_entries = 4096;

  [[nodiscard]] const conveyor& requests() const {
    return exchange32_ ? exchange32_->requests() : exchange64_->requests();
  }
  [[nodiscard]] const conveyor& replies() const {
    return exchange32_ ? exchange32_->replies() : exchange64_->replies();
  }

  template <class Offset, class Locate>
  void run(request_reply<conveyor, Offset, T>& exchange, Locate locate,
           std::span<const std::int64_t> indices, std::span<T> out) {
    index_checker checked("gather", indices, table_.size(), table_.team().rank());
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
  // The size of offsets decides which of the two exists.
  std::optional<request_reply<conveyor, std::uint32_t, T>> exchange32_;
  std::optional<request_reply<conveyor, std::uint64_t, T>> exchange64_;
};

}  // namespace longshore::detail
