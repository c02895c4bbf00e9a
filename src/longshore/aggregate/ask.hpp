// Questions and replies over any engine: replies come back in the order of asking, without tokens.
// Items of one pair of ranks arrive in order, both ways; so the next reply from a rank answers the
// oldest open question to it, and only the source has to be known.
#pragma once

#include <longshore/aggregate/deliver.hpp>
#include <longshore/aggregate/detail/asked_before.hpp>
#include <longshore/aggregate/detail/open_questions.hpp>
#include <longshore/aggregate/engine_options.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <exception>
#include <type_traits>
#include <vector>

namespace longshore {

/// When a reply is handed over.
enum class reply_order {
  /// receive(0, ...), receive(1, ...), receive(2, ...): replies that are early wait in the window
  asked,
  arrived,  ///< as they come, each with the number of its question: nothing is kept, nothing waits
};

struct dialogue_options {
  /// item_bytes, with_source and ship_when_idle are set by the dialogue
  engine_options engine;
  /// most open questions per rank, rounded up to a power of two; 0: as many as fill a buffer on
  /// each link, 4096 to 65536
  std::size_t window_items = 0;
  std::size_t combine_entries =
      /// > 0: a question that is open already is not asked again; so many are remembered, rounded
      /// up likewise
      0;
};

/// Two engines, one for questions and one for replies, and the window; kept between uses. Memory
/// per rank: that of the engines; 8 bytes per item of the window or 256 per rank (open_questions);
/// and, from the first use that hands replies over in the order of asking or combines, 8 +
/// sizeof(Reply) bytes per item of the window.
template <class Engine, trivially_copyable Question, trivially_copyable Reply>
class dialogue {
 public:
  /// Collective.
  dialogue(team& team, const dialogue_options& options)
      : questions_(team, with_items(options.engine, sizeof(Question))),
        replies_(team, with_items(options.engine, sizeof(Reply))),
        window_(window_of(options, questions_)),
        open_(team.size(), window_),
        before_(options.combine_entries) {}

  /// Collective. Asks question(0), ..., question(n - 1), each an addressed<Question>, made in this
  /// order; the rank asked calls answer(source, question) -> Reply, once for each that is sent;
  /// here receive(i, reply) is called for each i, in the given order. Returns when all ranks have
  /// all their replies. Where answer.fetch(question) exists it is called some questions ahead, to
  /// fetch what the answer will read. When question() throws, the others are served to the end,
  /// then the exception is passed on here and errc::peer_failed is thrown there; the object can be
  /// used again. An exception of answer or receive leaves it to be destroyed only.
  template <reply_order Order = reply_order::asked, class Ask, class Answer, class Receive>
  void operator()(std::size_t n, Ask&& question, Answer&& answer, Receive&& receive) {
    const int failed_rank = unless_failed<Order>(n, question, answer, receive);
    if (failed_rank >= 0) detail::give_up_with(questions_.ranks().rank(), failed_rank);
  }

  /// The same, but returns the lowest rank whose question() threw, or -1, where operator() throws.
  template <reply_order Order = reply_order::asked, class Ask, class Answer, class Receive>
  [[nodiscard]] int unless_failed(std::size_t n, Ask&& question, Answer&& answer,
                                  Receive&& receive) {
    detail::idle_time idle(replies_);
    asked_ = answered_ = handed_ = 0;
    before_.forget();
    if ((Order == reply_order::asked || before_.is_used()) && waiting_.empty())
      waiting_.resize(window_);
    std::exception_ptr failure;
    for (bool asking = true, more = true; more;) {
      const std::size_t asked_until_now = asked_;
      bool refused = false;
      try {
        refused = ask<Order>(n, question);
      } catch (...) {
        questions_.fail_use();
        failure = std::current_exception();
        n = asked_;
      }
      if (asking) asking = questions_.advance(asked_ == n);
      std::size_t moved = asked_ - asked_until_now;
      moved += questions_.template drain_batches<Question>(
          replying<std::remove_reference_t<Answer>>{*this, answer});
      asking = asking && !questions_.ended();
      more = replies_.advance(!asking && questions_.ended() && push_pending());
      moved += replies_.template drain_batches<Reply>(
          taking<Order, std::remove_reference_t<Receive>>{*this, receive});
      const std::size_t now = questions_.activity();
      const bool busy = moved > 0 || now != questions_seen_;
      questions_seen_ = now;
      idle.turn(busy, refused);
    }
    const int failed_rank = questions_.failed_rank();
    questions_.restart();
    replies_.restart();
    if (failure) std::rethrow_exception(failure);
    return failed_rank;
  }

  [[nodiscard]] const Engine& questions() const noexcept { return questions_; }
  [[nodiscard]] const Engine& replies() const noexcept { return replies_; }
  /// Questions that were not sent since the object was made, because the same one was open.
  [[nodiscard]] std::uint64_t combined() const noexcept { return combined_; }

 private:
  using question_stretch = detail::stretch<Question, Engine>;
  static constexpr std::uint32_t none = 0xffffffff;
  static constexpr std::size_t fetch_ahead = 24;  // questions
  // Numbers are kept as 32 bits: what is open lies within so many.
  static constexpr std::size_t most_spread = std::size_t{1} << 31;
  struct waiting_question {
    std::uint32_t twin = none;  // another, as a place in the window, that waits for the same reply
    bool arrived = false;
    Reply reply;
  };

  // What is done with a batch depends on Answer or Receive alone: it is compiled once for all kinds
  // of questions, as calls of it are rare.
  template <class Answer>
  struct replying {
    dialogue& talk;
    Answer& answer;
    std::size_t operator()(auto source_of, std::span<const Question> asked) const {
      return talk.reply_to(source_of, asked, answer);
    }
  };
  template <reply_order Order, class Receive>
  struct taking {
    dialogue& talk;
    Receive& receive;
    std::size_t operator()(auto source_of, std::span<const Reply> came) const {
      return talk.template take<Order>(source_of, came, receive);
    }
  };

  static engine_options with_items(engine_options options, std::size_t item_bytes) {
    options.item_bytes = item_bytes;
    options.with_source = true;
    // who waits for replies with a full window asks no more, and fills no buffer
    options.ship_when_idle = true;
    options.elastic = options.items_create_items = false;
    return options;
  }
  static std::size_t window_of(const dialogue_options& options, const Engine& engine) {
    // What fills a buffer on each of its links, so that none has to leave before it is full; more
    // would only leave the cache.
    const std::size_t buffered = engine.options().buffer_items * engine.link_count();
    const std::size_t wanted =
        options.window_items > 0
            ? options.window_items
            : std::clamp<std::size_t>(buffered, std::size_t{1} << 12, std::size_t{1} << 16);
    return std::bit_ceil(std::min(wanted, most_spread));
  }

  // Asks until the window or a buffer is full; says whether it was a buffer.
  template <reply_order Order, class Ask>
  bool ask(std::size_t n, Ask& question) {
    // what is open lies within the window
    const bool kept = Order == reply_order::asked || before_.is_used();
    std::size_t end = std::min(n, kept ? handed_ + window_ : answered_ + window_);
    const std::size_t spread_end = (asked_ / most_spread + 1) * most_spread;
    if (!kept)
      end = asked_ % most_spread == 0 && asked_ != answered_ ? asked_ : std::min(end, spread_end);
    const int ranks = questions_.ranks().size();
    std::size_t next_stretch = kept || ranks > question_stretch::most_ranks ? end : asked_;
    while (asked_ < end) {
      if (made_.none()) {
        if (asked_ >= next_stretch) {
          if (const std::size_t room =
                  question_stretch::room(questions_, ranks, std::min(end - asked_, open_.room()))) {
            ask_stretch(ranks, asked_ + room, question);
            continue;
          }
          next_stretch = asked_ + question_stretch::least_items;
        }
        made_.make(question, asked_, end - asked_);
      }
      for (; !made_.none(); ++made_.next, ++asked_)
        if (!ask_one(kept, made_.items[made_.next])) return true;
    }
    return false;
  }

  bool ask_one(bool kept, const addressed<Question>& next) {
    const auto place = static_cast<std::uint32_t>(asked_ & (window_ - 1));
    if (before_.is_used() && join(next, place)) return true;
    if (!open_.has_room(next.rank) || !questions_.push(next.rank, next.item)) return false;
    if (before_.is_used()) before_.remember(next, asked_);
    open_.writer()(next.rank, 0, static_cast<std::uint32_t>(asked_));
    open_.asked(next.rank, 1);
    if (kept) {
      waiting_[place].twin = none;
      waiting_[place].arrived = false;
    }
    return true;
  }

  template <class Ask>
  void ask_stretch(int ranks, std::size_t end, Ask& question) {
    question_stretch::run(
        questions_, ranks, asked_, end, question,
        [write = open_.writer()](int rank, std::size_t k, std::size_t i) {
          write(rank, k, static_cast<std::uint32_t>(i));
        },
        [this](int rank, std::size_t count) { open_.asked(rank, count); });
  }

  // Whether the same question is open: then question `place` waits for its reply.
  bool join(const addressed<Question>& next, std::uint32_t place) {
    const std::size_t earlier = before_.find(next);
    if (earlier == before_.nowhere || earlier < handed_) return false;
    waiting_question& first = waiting_[earlier & (window_ - 1)];
    if (first.arrived) return false;
    waiting_[place].twin = first.twin;
    waiting_[place].arrived = false;
    first.twin = place;
    ++combined_;
    return true;
  }

  template <class SourceOf, class Answer>
  [[gnu::noinline]] std::size_t reply_to(SourceOf source_of, std::span<const Question> asked,
                                         Answer& answer) {
    if constexpr (SourceOf::is_one)
      if (replies_.has_rank_lanes()) return reply_in_place(source_of(0), asked, answer);
    std::size_t done = 0;
    while (push_pending() && done < asked.size()) {
      const std::size_t count = std::min(detail::item_group, asked.size() - done);
      if constexpr (requires { answer.fetch(asked[done]); })
        for (std::size_t k = done + fetch_ahead;
             k < std::min(done + fetch_ahead + count, asked.size()); ++k)
          answer.fetch(asked[k]);
      const auto reply = [&](std::size_t k) {
        const int source = source_of(k);
        return addressed<Reply>{source, Reply(answer(source, asked[k]))};
      };
      pending_.make(reply, done, count);
      done += count;
    }
    return done;
  }

  // Whether all replies that were made are in a buffer.
  bool push_pending() {
    std::size_t pushed = 0;
    return pending_.push_to(replies_, pushed);
  }

  // Replies to one rank are written where its buffer lies, as many at a time as it takes.
  template <class Answer>
  std::size_t reply_in_place(int source, std::span<const Question> asked, Answer& answer) {
    std::size_t done = 0;
    while (done < asked.size()) {
      auto& to = replies_.lane_to(source);
      std::byte* next = to.next;
      const std::size_t room = static_cast<std::size_t>(to.end - next) / sizeof(Reply);
      if (room == 0) break;
      const Question* const from = asked.data() + done;
      const std::size_t count = std::min(room, asked.size() - done);
      std::size_t k = 0;
      if constexpr (requires { answer.fetch(from[k]); })
        for (; k + fetch_ahead < count; ++k, next += sizeof(Reply)) {
          answer.fetch(from[k + fetch_ahead]);
          detail::store_item(next, Reply(answer(source, from[k])));
        }
      for (; k < count; ++k, next += sizeof(Reply))
        detail::store_item(next, Reply(answer(source, from[k])));
      to.next = next;
      replies_.settle(source);
      done += count;
    }
    return done;
  }

  template <reply_order Order, class SourceOf, class Receive>
  [[gnu::noinline]] std::size_t take(SourceOf source_of, std::span<const Reply> came,
                                     Receive& receive) {
    const bool kept = Order == reply_order::asked || before_.is_used();
    if constexpr (SourceOf::is_one) {  // all at once: the loop has no state in memory
      const auto number = open_.oldest(source_of(0));
      take_all<Order>(kept, number, came, receive);
      open_.answered(source_of(0), came.size());
    } else {
      for (std::size_t first = 0; first < came.size(); first += detail::item_group) {
        std::uint32_t numbers[detail::item_group];
        const std::size_t count = std::min(detail::item_group, came.size() - first);
        for (std::size_t k = 0; k < count; ++k) {
          const int source = source_of(first + k);
          numbers[k] = open_.oldest(source)(0);
          open_.answered(source, 1);
        }
        take_all<Order>(
            kept, [&numbers](std::size_t k) { return numbers[k]; }, came.subspan(first, count),
            receive);
      }
    }
    if (kept)
      hand_over<Order>(receive);
    else
      answered_ += came.size();
    return came.size();
  }

  // The number of each reply's question is known; what the loop needs is in values: `receive` may
  // write anywhere.
  template <reply_order Order, class Number, class Receive>
  void take_all(bool kept, Number number, std::span<const Reply> came, Receive& receive) {
    const std::size_t asked = asked_, count = came.size();
    const Reply* const replies = came.data();
    if (kept) {
      for (std::size_t k = 0; k < count; ++k) take_kept<Order>(number(k), replies[k], receive);
      return;
    }
    detail::in_loop<Receive> hand = receive;
#pragma GCC unroll 4
    for (std::size_t k = 0; k < count; ++k)
      hand(asked - static_cast<std::uint32_t>(asked - number(k)), replies[k]);
  }

  template <reply_order Order, class Receive>
  void take_kept(std::uint32_t number, const Reply& reply, Receive& receive) {
    const std::size_t mask = window_ - 1;
    for (std::uint32_t place = number & static_cast<std::uint32_t>(mask); place != none;
         place = waiting_[place].twin) {
      waiting_[place].arrived = true;
      if constexpr (Order == reply_order::asked)
        waiting_[place].reply = reply;
      else
        receive(handed_ + ((place - handed_) & mask), reply);
    }
  }

  template <reply_order Order, class Receive>
  void hand_over(Receive& receive) {
    const std::size_t mask = window_ - 1;
    for (; handed_ < asked_ && waiting_[handed_ & mask].arrived; ++handed_)
      if constexpr (Order == reply_order::asked) receive(handed_, waiting_[handed_ & mask].reply);
  }

  Engine questions_, replies_;
  std::size_t window_;  // a power of two
  detail::open_questions open_;
  detail::asked_before<Question> before_;
  detail::made_items<Question> made_;
  // by place in the window, where the order of asking is needed
  std::vector<waiting_question> waiting_;
  // replies that were made together, and are not in a buffer yet
  detail::made_items<Reply> pending_;
  std::uint64_t combined_ = 0;
  // Questions of this use that were asked, that were answered, and up to which all were handed
  // over.
  std::size_t asked_ = 0, answered_ = 0, handed_ = 0, questions_seen_ = 0;
};

}  // namespace longshore
