// request_reply: requests to any rank and their replies, over any engine. A reply does not name its
// request, because items of one pair of ranks arrive in order: the next reply from a rank belongs
// to the oldest outstanding request to that rank.
//
// Words of this file: an *outstanding* request was sent and has no reply yet. The *window* limits
// the number of outstanding requests of a rank. A reply is *kept* in the window if the user may get
// it only later, because earlier requests have no reply yet. An *epoch* is one call: all requests
// of all ranks and their replies (item_engine.hpp). A *link* is a pair of ranks between which an
// engine has a buffer.
#pragma once

#include <longshore/aggregate/deliver.hpp>
#include <longshore/aggregate/detail/outstanding_requests.hpp>
#include <longshore/aggregate/detail/recent_requests.hpp>
#include <longshore/aggregate/engine_options.hpp>
#include <longshore/core/detail/min_max.hpp>

#include <bit>
#include <cstdint>
#include <exception>
#include <type_traits>
#include <vector>

namespace longshore {

enum class reply_order {
  requested,  ///< the order of the requests; a reply that arrives early waits in the window
  arrived,    ///< the order of arrival; no reply waits
};

struct request_reply_options {
  /// Options of both engines. request_reply sets item_bytes and with_source itself.
  engine_options engine;
  /// Maximum of outstanding requests of a rank, rounded up to a power of two. If 0, the window is
  /// large enough to fill one buffer on each link (two with several hops), at least 4096 and at
  /// most 65536. Between hosts, it is large enough to fill all slots of the links, and at most
  /// 262144.
  std::size_t window_items = 0;
  /// If > 0, the approximate number of requests of a call. A window that request_reply chooses is
  /// then no larger than this number, but at least 4096.
  std::size_t expected_requests = 0;
  /// If > 0, a request is not sent while an equal request to the same rank is outstanding; one
  /// reply serves both. A rank remembers this number of requests, rounded up to a power of two.
  std::size_t combine_entries = 0;
};

/// Carries requests by one engine and replies by another. Make the object once and call it often.
///
/// Memory of each rank: the two engines, and the outstanding requests (outstanding_requests.hpp).
/// Up to 1024 ranks, these take the larger of 8 bytes x window and 256 bytes x ranks. With more
/// ranks, they take 8 bytes x window plus 4 bytes x ranks. Calls that combine requests, or that
/// need replies in the order of the requests, add 8 + sizeof(Reply) bytes x window.
template <class Engine, trivially_copyable Request, trivially_copyable Reply>
class request_reply {
 public:
  /// Collective.
  request_reply(team& team, const request_reply_options& options)
      : requests_(team, engine_for(options.engine, sizeof(Request), false)),
        replies_(team, engine_for(options.engine, sizeof(Reply), true)),
        window_items_(window_of(options, requests_)),
        outstanding_(team.size(), window_items_),
        recent_(options.combine_entries) {
    replies_.share_routes(requests_);
  }

  /// Collective. Makes the requests make_request(0), ..., make_request(n - 1) in this order, each
  /// an addressed<Request>, and sends them. The destination calls make_reply(source, request) ->
  /// Reply, once for each request that arrives. This rank then calls receive(i, reply) for each i,
  /// in the order `Order`. Returns when all ranks have all their replies.
  ///
  /// If make_reply has a member fetch(request), fetch is called some requests earlier than
  /// make_reply, to prefetch the memory that make_reply will read.
  ///
  /// If make_request throws, this rank still replies to the other ranks until all ranks have their
  /// replies. Then this rank rethrows the exception, the other ranks throw errc::peer_failed, and
  /// the object can be used again. After an exception of make_reply or receive, the object can only
  /// be destroyed.
  template <reply_order Order = reply_order::requested, class MakeRequest, class MakeReply,
            class Receive>
  void operator()(std::size_t n, MakeRequest&& make_request, MakeReply&& make_reply,
                  Receive&& receive) {
    const int failed_rank = try_run<Order>(n, make_request, make_reply, receive);
    if (failed_rank >= 0) detail::throw_peer_failed(requests_.ranks().rank(), failed_rank);
  }

  /// Like operator(), but does not throw errc::peer_failed. Returns the lowest rank whose
  /// make_request threw, or -1.
  template <reply_order Order = reply_order::requested, class MakeRequest, class MakeReply,
            class Receive>
  [[nodiscard]] int try_run(std::size_t n, MakeRequest&& make_request, MakeReply&& make_reply,
                            Receive&& receive) {
    idle_waiter idle(replies_);
    sent_ = received_ = delivered_ = 0;
    recent_.clear();
    if (needs_window<Order>() && window_.empty()) window_.resize(window_items_);
    std::exception_ptr failure;
    if (n > window_items_) requests_.make_epoch_urgent();
    // Each iteration sends requests, answers arrived requests, and takes arrived replies. No call
    // waits, so a rank always answers other ranks. The engine of requests ends before the engine of
    // replies, because its requests make the last replies. `sending` says that the engine of
    // requests has not ended, so that its advance() must still be called; `more` says the same of
    // the engine of replies.
    for (bool sending = true, more = true; more;) {
      const std::size_t sent_before = sent_;
      bool refused = false;
      try {
        refused = send_requests<Order>(n, make_request);
      } catch (...) {
        requests_.fail_epoch();
        failure = std::current_exception();
        n = sent_;
      }
      if (sending) sending = requests_.advance(sent_ == n);
      std::size_t moved_items = sent_ - sent_before;
      moved_items += requests_.template drain_messages<Request>(
          reply_to_batch<std::remove_reference_t<MakeReply>>{*this, make_reply});
      sending = sending && !requests_.ended();
      if (requests_.ships_when_idle()) replies_.ship_when_idle();
      more = replies_.advance(!sending && requests_.ended() && push_unsent_replies());
      moved_items += replies_.template drain_messages<Reply>(
          take_batch<Order, std::remove_reference_t<Receive>>{*this, receive});
      const std::size_t activity = requests_.activity();
      const bool progressed = moved_items > 0 || activity != requests_activity_;
      requests_activity_ = activity;
      idle.after_iteration(progressed, refused);
    }
    const int failed_rank = requests_.failed_rank();
    requests_.restart();
    replies_.restart();
    if (failure) std::rethrow_exception(failure);
    return failed_rank;
  }

  [[nodiscard]] const Engine& requests() const noexcept { return requests_; }
  [[nodiscard]] const Engine& replies() const noexcept { return replies_; }
  /// The number of requests that were not sent because an equal request was outstanding.
  [[nodiscard]] std::uint64_t combined() const noexcept { return combined_; }

 private:
  using request_batch = detail::item_batch_writer<Request, Engine>;
  using reply_batch = detail::item_batch_writer<Reply, Engine>;
  static constexpr std::uint32_t end_of_chain = 0xffffffff;
  // fetch() is called this number of requests before make_reply(): early enough to hide a load from
  // memory, and late enough that the cache line is still there.
  static constexpr std::size_t fetch_ahead = 24;
  // outstanding_ stores only the low 32 bits of the number of a request. The full number can be
  // computed as long as all outstanding numbers differ by less than 2^32. Without window_, one slow
  // request may stay outstanding while many later requests get their replies. So sending stops at
  // each multiple of max_number_range until all replies have arrived.
  static constexpr std::size_t max_number_range = std::size_t{1} << 31;
  // The state of an outstanding request, if window_ is used.
  struct window_entry {
    // position of another request that waits for the same reply
    std::uint32_t next_in_chain = end_of_chain;
    bool arrived = false;
    Reply reply;
  };

  // The function objects reply_to_batch and take_batch do not depend on MakeRequest. So the
  // receiving code is compiled once for all kinds of requests.
  template <class MakeReply>
  struct reply_to_batch {
    request_reply& self;
    MakeReply& make_reply;
    std::size_t operator()(auto source_of, std::span<const Request> requests) const {
      return self.reply_to(source_of, requests, make_reply);
    }
  };
  template <reply_order Order, class Receive>
  struct take_batch {
    request_reply& self;
    Receive& receive;
    std::size_t operator()(auto source_of, std::span<const Reply> replies) const {
      return self.template take_replies<Order>(source_of, replies, receive);
    }
  };

  static engine_options engine_for(engine_options options, std::size_t item_bytes,
                                   bool carries_replies) {
    options.item_bytes = item_bytes;
    options.with_source = true;
    options.items_create_items = false;
    options.carries_replies = carries_replies;
    return options;
  }
  static std::size_t window_of(const request_reply_options& options, const Engine& engine) {
    // `all_buffers` outstanding requests fill a buffer on each link, if they are spread evenly. A
    // larger window gains nothing and no longer fits the cache. With several hops, requests and
    // replies fill buffers on the way at the same time.
    const std::size_t ways = engine.has_rank_buffers() ? 1 : 2;
    const std::size_t all_buffers = ways * engine.options().buffer_items * engine.link_count();
    constexpr std::size_t min_items = 4096;
    std::size_t wanted = options.window_items;
    if (wanted == 0) {
      wanted = detail::larger(min_items, detail::smaller<std::size_t>(all_buffers, 65536));
      // Between hosts, requests and replies are under way for the time of a round trip.
      wanted = detail::larger(wanted,
                              detail::smaller<std::size_t>(engine.items_between_hosts(), 262144));
      if (options.expected_requests > 0)
        wanted = detail::smaller(wanted, detail::larger(min_items, options.expected_requests));
    }
    return std::bit_ceil(detail::smaller(wanted, max_number_range));
  }

  // Whether the call needs window_: to keep replies until their turn, or to find the requests that
  // wait for the same reply.
  template <reply_order Order>
  [[nodiscard]] bool needs_window() const noexcept {
    return Order == reply_order::requested || recent_.is_used();
  }

  // The number of the first request that may not be sent yet. If window_ is used, a request counts
  // as outstanding until the user has its reply and the replies of all earlier requests. Otherwise
  // a request counts as outstanding until its reply arrives.
  [[nodiscard]] std::size_t sending_limit(std::size_t n, bool with_window) const noexcept {
    if (with_window) return detail::smaller(n, delivered_ + window_items_);
    if (sent_ % max_number_range == 0 && sent_ != received_) return sent_;
    const std::size_t range_end = (sent_ / max_number_range + 1) * max_number_range;
    return detail::smaller(detail::smaller(n, received_ + window_items_), range_end);
  }

  // Sends requests until the window or a buffer is full. Returns whether a buffer was full.
  template <reply_order Order, class MakeRequest>
  bool send_requests(std::size_t n, MakeRequest& make_request) {
    const bool with_window = needs_window<Order>();
    const std::size_t end = sending_limit(n, with_window);
    const int ranks = requests_.ranks().size();
    // The number of the request from which on send_batch() is tried again. send_batch() writes many
    // requests directly into buffers, if all buffers have room. Otherwise requests are pushed one
    // by one.
    std::size_t next_batch = with_window ? end : sent_;
    while (sent_ < end) {
      if (unsent_requests_.empty()) {
        if (sent_ >= next_batch) {
          if (const std::size_t items = batch_size(ranks, end - sent_)) {
            send_batch(ranks, sent_ + items, make_request);
            continue;
          }
          next_batch = sent_ + request_batch::min_items;
        }
        unsent_requests_.make(make_request, sent_, end - sent_);
      }
      for (; !unsent_requests_.empty(); ++unsent_requests_.next, ++sent_)
        if (!send_one(with_window, unsent_requests_.items[unsent_requests_.next])) return true;
    }
    return false;
  }

  bool send_one(bool with_window, const addressed<Request>& request) {
    const auto position = static_cast<std::uint32_t>(sent_ & (window_items_ - 1));
    if (recent_.is_used() && join_outstanding(request, position)) return true;
    if (!outstanding_.has_room(request.rank)) {
      requests_.make_epoch_urgent();
      return false;
    }
    if (!requests_.push(request.rank, request.item)) return false;
    if (recent_.is_used()) recent_.remember(request, sent_);
    outstanding_.add(request.rank, static_cast<std::uint32_t>(sent_));
    if (with_window) {
      window_[position].next_in_chain = end_of_chain;
      window_[position].arrived = false;
    }
    return true;
  }

  // room() looks at all ranks, so it is called only if a batch pays.
  [[nodiscard]] std::size_t batch_size(int ranks, std::size_t wanted) {
    const std::size_t items = request_batch::batch_size(requests_, ranks, wanted);
    if (items == 0) return 0;
    const std::size_t room = outstanding_.room();
    return items <= room ? items : request_batch::batch_size(requests_, ranks, room);
  }

  template <class MakeRequest>
  void send_batch(int ranks, std::size_t end, MakeRequest& make_request) {
    request_batch::write(
        requests_, ranks, sent_, end, make_request,
        [write = outstanding_.writer()](int rank, std::size_t k, std::size_t i) {
          write(rank, k, static_cast<std::uint32_t>(i));
        },
        [this](int rank, std::size_t count) { outstanding_.add_sent(rank, count); });
  }

  // If an equal request is outstanding, lets the request at `position` of the window wait for the
  // same reply, and returns true.
  bool join_outstanding(const addressed<Request>& request, std::uint32_t position) {
    const std::size_t earlier = recent_.find(request);
    if (earlier == recent_.not_found || earlier < delivered_) return false;
    window_entry& first = window_[earlier & (window_items_ - 1)];
    if (first.arrived) return false;
    window_[position].next_in_chain = first.next_in_chain;
    window_[position].arrived = false;
    first.next_in_chain = position;
    ++combined_;
    return true;
  }

  template <class SourceOf, class MakeReply>
  [[gnu::noinline]] std::size_t reply_to(SourceOf source_of, std::span<const Request> requests,
                                         MakeReply& make_reply) {
    if constexpr (SourceOf::is_single)
      if (replies_.has_rank_buffers()) return reply_in_place(source_of(0), requests, make_reply);
    const int ranks = replies_.ranks().size();
    const auto reply = [&](std::size_t k) {
      const int source = source_of(k);
      return addressed<Reply>{source, Reply(make_reply(source, requests[k]))};
    };
    const auto fetch = [&](std::size_t first, std::size_t count) {
      if constexpr (requires { make_reply.fetch(requests[first]); })
        for (std::size_t k = first + fetch_ahead;
             k < detail::smaller(first + fetch_ahead + count, requests.size()); ++k)
          make_reply.fetch(requests[k]);
    };
    std::size_t replied = 0, next_batch = 0;
    while (push_unsent_replies() && replied < requests.size()) {
      if (replied >= next_batch) {
        if (const std::size_t items =
                reply_batch::batch_size(replies_, ranks, requests.size() - replied)) {
          const auto fetch_and_reply = [&](std::size_t k) {
            fetch(k, 1);
            return reply(k);
          };
          reply_batch::write(
              replies_, ranks, replied, replied + items, fetch_and_reply,
              [](int, std::size_t, std::size_t) {}, [](int, std::size_t) {});
          continue;
        }
        next_batch = replied + reply_batch::min_items;
      }
      const std::size_t count = detail::smaller(detail::group_items, requests.size() - replied);
      fetch(replied, count);
      unsent_replies_.make(reply, replied, count);
      replied += count;
    }
    return replied;
  }

  // Returns whether all replies that were made are in a buffer.
  bool push_unsent_replies() {
    std::size_t pushed = 0;
    return unsent_replies_.push_to(replies_, pushed);
  }

  // Writes replies to one rank directly into its buffer, as many at a time as the buffer takes.
  template <class MakeReply>
  std::size_t reply_in_place(int source, std::span<const Request> requests, MakeReply& make_reply) {
    std::size_t replied = 0;
    while (replied < requests.size()) {
      auto& to = replies_.buffer_to(source);
      std::byte* next = to.next;
      const std::size_t room = static_cast<std::size_t>(to.end - next) / sizeof(Reply);
      if (room == 0) break;
      const Request* const request = requests.data() + replied;
      const std::size_t count = detail::smaller(room, requests.size() - replied);
      std::size_t k = 0;
      if constexpr (requires { make_reply.fetch(request[k]); })
        for (; k + fetch_ahead < count; ++k, next += sizeof(Reply)) {
          make_reply.fetch(request[k + fetch_ahead]);
          detail::store_item(next, Reply(make_reply(source, request[k])));
        }
      for (; k < count; ++k, next += sizeof(Reply))
        detail::store_item(next, Reply(make_reply(source, request[k])));
      to.next = next;
      replies_.finish_append_to(source);
      replied += count;
    }
    return replied;
  }

  template <reply_order Order, class SourceOf, class Receive>
  [[gnu::noinline]] std::size_t take_replies(SourceOf source_of, std::span<const Reply> replies,
                                             Receive& receive) {
    const bool with_window = needs_window<Order>();
    if (SourceOf::is_single && outstanding_.has_rings()) {
      // The position in outstanding_ stays in a register.
      const auto number = outstanding_.oldest(source_of(0));
      take_numbered<Order>(with_window, number, replies, receive);
      outstanding_.add_replied(source_of(0), replies.size());
    } else {
      for (std::size_t first = 0; first < replies.size(); first += detail::group_items) {
        std::uint32_t numbers[detail::group_items];
        const std::size_t count = detail::smaller(detail::group_items, replies.size() - first);
        for (std::size_t k = 0; k < count; ++k)
          numbers[k] = outstanding_.take_oldest(source_of(first + k));
        take_numbered<Order>(
            with_window, [&numbers](std::size_t k) { return numbers[k]; },
            replies.subspan(first, count), receive);
      }
    }
    if (with_window)
      deliver_in_order<Order>(receive);
    else
      received_ += replies.size();
    return replies.size();
  }

  // Passes replies to the user, or keeps them in window_. number(k) gives the low 32 bits of the
  // number of the request that replies[k] answers. The loop works on copies, because `receive` may
  // store anywhere.
  template <reply_order Order, class Number, class Receive>
  void take_numbered(bool with_window, Number number, std::span<const Reply> replies,
                     Receive& receive) {
    const std::size_t sent = sent_, count = replies.size();
    const Reply* const reply = replies.data();
    if (with_window) {
      for (std::size_t k = 0; k < count; ++k) take_into_window<Order>(number(k), reply[k], receive);
      return;
    }
    // The full number of a request is sent - d, where d is how many requests ago it was sent. d is
    // less than 2^32 (max_number_range), so 32-bit arithmetic gives d.
    detail::loop_copy<Receive> receive_copy = receive;
#pragma GCC unroll 4
    for (std::size_t k = 0; k < count; ++k)
      receive_copy(sent - static_cast<std::uint32_t>(sent - number(k)), reply[k]);
  }

  template <reply_order Order, class Receive>
  void take_into_window(std::uint32_t number, const Reply& reply, Receive& receive) {
    const std::size_t mask = window_items_ - 1;
    for (std::uint32_t position = number & static_cast<std::uint32_t>(mask);
         position != end_of_chain; position = window_[position].next_in_chain) {
      window_[position].arrived = true;
      if constexpr (Order == reply_order::requested)
        window_[position].reply = reply;
      else
        receive(delivered_ + ((position - delivered_) & mask), reply);
    }
  }

  template <reply_order Order, class Receive>
  void deliver_in_order(Receive& receive) {
    const std::size_t mask = window_items_ - 1;
    for (; delivered_ < sent_ && window_[delivered_ & mask].arrived; ++delivered_)
      if constexpr (Order == reply_order::requested)
        receive(delivered_, window_[delivered_ & mask].reply);
  }

  Engine requests_, replies_;
  std::size_t window_items_;  // a power of two
  detail::outstanding_requests outstanding_;
  detail::recent_requests<Request> recent_;
  detail::pending_items<Request> unsent_requests_;
  std::vector<window_entry> window_;  // request i is at i % window_items_; empty if never used
  detail::pending_items<Reply> unsent_replies_;
  std::uint64_t combined_ = 0;
  // Counts of this epoch. If window_ is used, the user has the replies to all requests below
  // delivered_; otherwise received_ counts the replies.
  std::size_t sent_ = 0, received_ = 0, delivered_ = 0;
  std::size_t requests_activity_ = 0;
};

}  // namespace longshore
