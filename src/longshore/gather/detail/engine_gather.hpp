// gather as a dialogue over an asynchronous engine: offsets go out, values come back, both in order
// per pair of ranks, so that neither needs a tag on the way of one hop. Strategies exstack2,
// conveyor and aggregator.
#pragma once

#include <longshore/aggregate/ask.hpp>
#include <longshore/gather/detail/checked_indices.hpp>
#include <longshore/gather/detail/engine_choice.hpp>
#include <longshore/gather/detail/offset_type.hpp>
#include <longshore/gather/detail/table_parts.hpp>
#include <longshore/gather/exchange_report.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>

namespace longshore::detail {

/// What owners and askers of such a dialogue do: the same for all distributions.
template <trivially_copyable T, class Offset>
struct answer_from_cache {  // where fetching ahead only costs
  const T* mine;
  T operator()(int, Offset offset) const noexcept { return mine[offset]; }
};
template <trivially_copyable T, class Offset>
struct answer_from_memory : answer_from_cache<T, Offset> {
  void fetch(Offset offset) const noexcept { __builtin_prefetch(this->mine + offset); }
};
template <trivially_copyable T>
struct hand_out {
  T* to;
  void operator()(std::size_t i, const T& value) const noexcept { to[i] = value; }
};

/// Collective with a gather of the other ranks: tells them that this one cannot take part.
template <class Offset, trivially_copyable T>
void refuse_questions(dialogue<conveyor, Offset, T>& talk, const T* mine) {
  answer_from_cache<T, Offset> answer{mine};
  hand_out<T> nothing{nullptr};
  try {
    static_cast<void>(talk.template unless_failed<reply_order::arrived>(
        1, [](std::size_t) -> addressed<Offset> { throw refusal{}; }, answer, nothing));
  } catch (const refusal&) {  // which all others know of now
  }
}

/// Two engines for one table, and the window of open questions, kept between uses. Cost: see
/// conveyor, for n questions of 4 bytes (8 where a part has more than 2^32 elements) and n values
/// of sizeof(T). Memory per rank: that of two engines, and 12 + sizeof(T) bytes per open question,
/// of which there are at most 65536.
template <trivially_copyable T, distribution Distribution>
class engine_gather {
 public:
  /// Collective.
  engine_gather(const table_parts<T, Distribution>& table, gather_strategy strategy,
                const gather_options& asked)
      : table_(table) {
    const dialogue_options options{.engine = engine_options_of(table.team(), strategy, asked),
                                   .combine_entries = asked.combine ? remembered_questions : 0};
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

  /// Collective with operator() of the other ranks: tells them that this rank cannot take part.
  void refuse() {
    const T* const mine = table_.local().data();
    if (narrow_)
      refuse_questions(*narrow_, mine);
    else
      refuse_questions(*wide_, mine);
  }

  [[nodiscard]] traffic sent() const {
    const auto of = [](const auto& talk) {
      return talk.questions().sent() += talk.replies().sent();
    };
    return narrow_ ? of(*narrow_) : of(*wide_);
  }
  [[nodiscard]] exchange_report report() const {
    const auto of = [](const auto& talk) {
      return exchange_report{talk.questions().report(), talk.replies().report()};
    };
    return narrow_ ? of(*narrow_) : of(*wide_);
  }

 private:
  using narrow = dialogue<conveyor, std::uint32_t, T>;
  using wide = dialogue<conveyor, std::uint64_t, T>;
  static constexpr std::size_t remembered_questions = 4096;

  template <class Offset, class Locate>
  void run(dialogue<conveyor, Offset, T>& talk, Locate locate,
           std::span<const std::int64_t> indices, std::span<T> out) {
    checked_indices checked("gather", indices, table_.size(), table_.team().rank());
    const auto question = [&checked, locate](std::size_t i) {
      const location at = locate(checked[i]);
      return addressed<Offset>{at.rank, static_cast<Offset>(at.offset)};
    };
    const auto ask = [&](auto answer) {
      return talk.template unless_failed<reply_order::arrived>(indices.size(), question, answer,
                                                               hand_out<T>{out.data()});
    };
    const T* const mine = table_.local().data();
    const bool cached = table_.local().size_bytes() <= near_bytes;
    const int failed_rank = cached ? ask(answer_from_cache<T, Offset>{mine})
                                   : ask(answer_from_memory<T, Offset>{{mine}});
    if (failed_rank >= 0) give_up("gather", table_.team(), failed_rank);
  }

  const table_parts<T, Distribution>& table_;
  std::optional<narrow> narrow_;  // one of the two
  std::optional<wide> wide_;
};

}  // namespace longshore::detail
