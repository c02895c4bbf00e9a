// gather as a dialogue over an asynchronous engine: offsets go out, values come back, both in order per pair of ranks, so that neither needs
// a tag on the way of one hop. Strategies exstack2, conveyor and aggregator.
#pragma once

#include <longshore/aggregate/ask.hpp>
#include <longshore/array/dist_array.hpp>
#include <longshore/gather/engine_choice.hpp>
#include <longshore/gather/exchange_report.hpp>

#include <limits>
#include <span>
#include <variant>

namespace longshore::gathering {

/// Two engines for one table, and the window of open questions, kept between uses.
/// Cost: see conveyor, for n questions of 4 bytes (8 where a part has more than 2^32 elements) and n values of sizeof(T). Memory per
/// rank: that of two engines, and 12 + sizeof(T) bytes per open question, of which there are at most 65536.
template <trivially_copyable T, distribution Distribution>
class engine_gather {
 public:
  /// Collective.
  engine_gather(const dist_array<T, Distribution>& table, gather_strategy strategy, const gather_options& asked) : table_(table) {
    const dialogue_options options{.engine = engine_options_of(table.team(), strategy, asked),
                                   .combine_entries = asked.combine ? remembered_questions : 0};
    if (table.map().largest_local_size() <= std::numeric_limits<std::uint32_t>::max())
      talk_.template emplace<narrow>(table.team(), options);
    else
      talk_.template emplace<wide>(table.team(), options);
  }

  /// Collective. out[i] = table[indices[i]]. REQUIRES: as many elements in `out` as in `indices`.
  /// Throws errc::usage for an index out of range, and errc::peer_failed on the other ranks; the object can be used again after both.
  void operator()(std::span<const std::int64_t> indices, std::span<T> out) {
    agree_on_indices(table_.team(), "gather", indices, table_.size());
    if (auto* talk = std::get_if<narrow>(&talk_))
      table_.map().with_locator([&](auto locate) { run<std::uint32_t>(*talk, locate, indices, out); });
    else  // parts this large miss every cache: indexing no longer decides, and one loop will do
      run<std::uint64_t>(
          std::get<wide>(talk_), [map = table_.map()](std::uint64_t index) { return map.owner_offset(index); }, indices, out);
  }

  /// Collective with operator() of the other ranks: tells them that this rank cannot take part.
  void refuse() { refuse_to_agree(table_.team()); }

  [[nodiscard]] traffic sent() const {
    const auto of = [](const auto& talk) { return talk.questions().sent() += talk.replies().sent(); };
    const auto* talk = std::get_if<narrow>(&talk_);
    return talk != nullptr ? of(*talk) : of(std::get<wide>(talk_));
  }
  [[nodiscard]] exchange_report report() const {
    const auto of = [](const auto& talk) { return exchange_report{talk.questions().report(), talk.replies().report()}; };
    const auto* talk = std::get_if<narrow>(&talk_);
    return talk != nullptr ? of(*talk) : of(std::get<wide>(talk_));
  }

 private:
  using narrow = dialogue<conveyor, std::uint32_t, T>;
  using wide = dialogue<conveyor, std::uint64_t, T>;
  static constexpr std::size_t remembered_questions = 4096;

  template <class Offset, class Locate>
  void run(dialogue<conveyor, Offset, T>& talk, Locate locate, std::span<const std::int64_t> indices, std::span<T> out) {
    const T* const mine = table_.local().data();
    talk.template operator()<reply_order::arrived>(
        indices.size(),
        [&](std::size_t i) {
          const location at = locate(static_cast<std::uint64_t>(indices[i]));
          return addressed<Offset>{at.rank, static_cast<Offset>(at.offset)};
        },
        [mine](int, Offset offset) { return mine[offset]; }, [out](std::size_t i, const T& value) { out[i] = value; });
  }

  const dist_array<T, Distribution>& table_;
  std::variant<std::monostate, narrow, wide> talk_;
};

}  // namespace longshore::gathering
