// Questions and replies over any engine: replies come back in the order of asking, without tokens. Items of one pair of ranks arrive in
// order, both ways; so the next reply from a rank answers the oldest open question to it, and only the source has to be known.
#pragma once

#include <longshore/aggregate/deliver.hpp>
#include <longshore/aggregate/engine_options.hpp>
#include <longshore/core/random.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

namespace longshore {

/// When a reply is handed over.
enum class reply_order {
  asked,    ///< receive(0, ...), receive(1, ...), receive(2, ...): replies that are early wait in the window
  arrived,  ///< as they come, each with the number of its question: nothing is kept, nothing waits
};

struct dialogue_options {
  engine_options engine;         ///< item_bytes, with_source and ship_when_idle are set by the dialogue
  std::size_t window_items = 0;  ///< most open questions per rank, rounded up to a power of two; 0: twice what the buffers of a
                                 ///< hop hold, 4096 to 65536: more would only leave the cache
  std::size_t combine_entries =
      0;  ///< > 0: a question that is open already is not asked again; so many are remembered, rounded up likewise
};

/// Two engines, one for questions and one for replies, and the window; kept between uses.
/// Memory per rank: that of the engines, and (12 + sizeof(Reply)) bytes per item of the window.
template <class Engine, trivially_copyable Question, trivially_copyable Reply>
class dialogue {
 public:
  /// Collective.
  dialogue(team& team, const dialogue_options& options)
      : questions_(team, with_items(options.engine, sizeof(Question))),
        replies_(team, with_items(options.engine, sizeof(Reply))),
        chains_(static_cast<std::size_t>(team.size())) {
    constexpr std::size_t most = std::size_t{1} << 31;
    const engine_options& used = questions_.options();
    const std::size_t buffered = used.buffer_items * static_cast<std::size_t>(used.slots * team.size());
    const std::size_t wanted = options.window_items > 0
                                   ? options.window_items
                                   : std::clamp<std::size_t>(2 * buffered, std::size_t{1} << 12, std::size_t{1} << 16);
    open_.resize(std::bit_ceil(std::min(wanted, most)));
    if (options.combine_entries > 0) remembered_.resize(std::bit_ceil(std::min(options.combine_entries, most)));
  }

  /// Collective. Asks question(0), ..., question(n - 1), each an addressed<Question>; the rank asked calls answer(source, question) -> Reply, once
  /// for each that is sent; here receive(i, reply) is called for each i, in the given order. Returns when all ranks have all their replies.
  template <reply_order Order = reply_order::asked, class Ask, class Answer, class Receive>
  void operator()(std::size_t n, Ask&& question, Answer&& answer, Receive&& receive) {
    aggregating::idle_time idle(replies_);
    asked_ = handed_ = 0;
    for (auto& one : remembered_) one.asked = nowhere;
    for (bool asking = true, more = true; more;) {
      const std::size_t asked_before = asked_;
      const bool refused = ask(n, question);
      if (asking) asking = questions_.advance(asked_ == n);
      std::size_t moved = asked_ - asked_before;
      moved += questions_.template drain<Question>([&](int source, const Question& one) {
        return replies_.can_push(source) && replies_.push(source, Reply(answer(source, one)));
      });
      asking = asking && !questions_.ended();
      more = replies_.advance(!asking && questions_.ended());
      moved += replies_.template drain<Reply>([&](int source, const Reply& reply) { take<Order>(source, reply, receive); });
      const std::size_t now = questions_.activity();
      const bool busy = moved > 0 || now != questions_seen_;
      questions_seen_ = now;
      idle.turn(busy, refused);
    }
    questions_.restart();
    replies_.restart();
  }

  [[nodiscard]] const Engine& questions() const noexcept { return questions_; }
  [[nodiscard]] const Engine& replies() const noexcept { return replies_; }
  /// Questions that were not sent since the object was made, because the same one was open.
  [[nodiscard]] std::uint64_t combined() const noexcept { return combined_; }

 private:
  static constexpr std::uint32_t none = 0xffffffff;
  struct chain {
    std::uint32_t oldest = none, newest = none;
  };
  struct open_question {
    std::uint32_t next;  // the next question to the same rank, as a place in the window
    std::uint32_t twin;  // another that waits for the same reply
    std::uint32_t arrived;
    Reply reply;
  };

  struct remembered {
    addressed<Question> what;
    std::size_t asked;
  };
  static constexpr std::size_t nowhere = ~std::size_t{0};

  static engine_options with_items(engine_options options, std::size_t item_bytes) {
    options.item_bytes = item_bytes;
    options.with_source = true;
    options.ship_when_idle = true;  // who waits for replies with a full window asks no more, and fills no buffer
    options.elastic = options.items_create_items = false;
    return options;
  }

  // Asks until the window or a buffer is full; says whether it was a buffer.
  template <class Ask>
  bool ask(std::size_t n, Ask& question) {
    const std::size_t mask = open_.size() - 1;
    const std::size_t end = std::min(n, handed_ + open_.size());
    for (; asked_ < end; ++asked_) {
      const addressed<Question> next = question(asked_);
      const auto place = static_cast<std::uint32_t>(asked_ & mask);
      if (!remembered_.empty() && join(next, place)) continue;
      if (!questions_.push(next.rank, next.item)) return true;
      if (!remembered_.empty()) remembered_[slot_of(next)] = {next, asked_};
      chain& to = chains_[next.rank];
      (to.oldest == none ? to.oldest : open_[to.newest].next) = place;
      to.newest = place;
      open_[place].next = open_[place].twin = none;
      open_[place].arrived = 0;
    }
    return false;
  }

  [[nodiscard]] std::size_t slot_of(const addressed<Question>& next) const {
    std::uint64_t bits = static_cast<std::uint64_t>(next.rank);
    const auto bytes = bytes_of(next.item);
    for (std::size_t at = 0; at < bytes.size(); at += sizeof bits) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes.data() + at, std::min(sizeof word, bytes.size() - at));
      bits = mix_bits(bits ^ word);
    }
    return bits & (remembered_.size() - 1);
  }

  // Whether the same question is open: then question `place` waits for its reply.
  bool join(const addressed<Question>& next, std::uint32_t place) {
    const remembered& last = remembered_[slot_of(next)];
    if (last.asked == nowhere || last.asked < handed_ || last.what.rank != next.rank ||
        std::memcmp(&last.what.item, &next.item, sizeof(Question)) != 0)
      return false;
    open_question& first = open_[last.asked & (open_.size() - 1)];
    if (first.arrived != 0) return false;
    open_[place].twin = first.twin;
    open_[place].arrived = 0;
    first.twin = place;
    ++combined_;
    return true;
  }

  template <reply_order Order, class Receive>
  void take(int source, const Reply& reply, Receive& receive) {
    const std::size_t mask = open_.size() - 1;
    chain& from = chains_[source];
    std::uint32_t place = from.oldest;
    from.oldest = open_[place].next;
    for (; place != none; place = open_[place].twin) {
      open_[place].arrived = 1;
      if constexpr (Order == reply_order::asked)
        open_[place].reply = reply;
      else
        receive(handed_ + ((place - handed_) & mask), reply);
    }
    for (; handed_ < asked_ && open_[handed_ & mask].arrived != 0; ++handed_)
      if constexpr (Order == reply_order::asked) receive(handed_, open_[handed_ & mask].reply);
  }

  Engine questions_, replies_;
  std::vector<chain> chains_;  // of the open questions, by rank
  std::vector<open_question> open_;
  std::vector<remembered> remembered_;
  std::uint64_t combined_ = 0;
  std::size_t asked_ = 0, handed_ = 0, questions_seen_ = 0;
};

}  // namespace longshore
