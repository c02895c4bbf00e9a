// request_reply: requests to any rank and their replies, over any engine. A reply needs no token
// that names its request: items of one pair of ranks arrive in order in both directions, so the
// next reply from a rank belongs to the oldest outstanding request to it. Only the source must be
// known.
#pragma once

#include <longshore/aggregate/deliver.hpp>
#include <longshore/aggregate/detail/outstanding_requests.hpp>
#include <longshore/aggregate/detail/recent_requests.hpp>
#include <longshore/aggregate/engine_options.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <exception>
#include <type_traits>
#include <vector>

namespace longshore {

/// The order in which replies are handed over.
enum class reply_order {
  /// receive(0, ...), receive(1, ...), receive(2, ...): an early reply waits in the window
  requested,
  arrived,  ///< as replies arrive, each with the number of its request; no reply is stored
  asked [[deprecated("use requested")]] = requested,
};

struct request_reply_options {
  /// request_reply sets item_bytes, with_source and ship_when_idle itself
  engine_options engine;
  /// maximum of outstanding requests of a rank, rounded up to a power of two; 0: enough to fill one
  /// buffer on each link, at least 4096 and at most 65536
  std::size_t window_items = 0;
  /// > 0: a request that is outstanding is not sent again. So many requests are remembered, rounded
  /// up to a power of two.
  std::size_t combine_entries = 0;
};
/// @cond Old name, until the next version.
using dialogue_options [[deprecated("use request_reply_options")]] = request_reply_options;
/// @endcond

/// Two engines, one for requests and one for replies, and the window of outstanding requests. Made
/// once, used often. Memory per rank: the engines; 8 bytes per item of the window or 256 bytes per
/// rank (outstanding_requests.hpp); and 8 + sizeof(Reply) bytes per item of the window, from the
/// first use that combines or hands replies over in the order of requests.
template <class Engine, trivially_copyable Request, trivially_copyable Reply>
class request_reply {
 public:
  /// Collective.
  request_reply(team& team, const request_reply_options& options)
      : requests_(team, with_items(options.engine, sizeof(Request))),
        replies_(team, with_items(options.engine, sizeof(Reply))),
        window_(window_of(options, requests_)),
        outstanding_(team.size(), window_),
        recent_(options.combine_entries) {}

  /// Collective. Sends the requests make_request(0), ..., make_request(n - 1), each an
  /// addressed<Request>; they are made in this order. The destination calls make_reply(source,
  /// request) -> Reply, once for each request that arrives. This rank then calls receive(i, reply)
  /// for each i, in the given order. Returns when all ranks have all their replies.
  ///
  /// If make_reply has a member fetch(request), it is called for a request some requests ahead, to
  /// prefetch what make_reply will read.
  ///
  /// If make_request throws, this rank serves the others to the end of the use. Then it rethrows
  /// the exception, and the other ranks throw errc::peer_failed. The object can be used again.
  /// After an exception of make_reply or receive it can only be destroyed.
  template <reply_order Order = reply_order::requested, class MakeRequest, class MakeReply,
            class Receive>
  void operator()(std::size_t n, MakeRequest&& make_request, MakeReply&& make_reply,
                  Receive&& receive) {
    const int failed_rank = try_run<Order>(n, make_request, make_reply, receive);
    if (failed_rank >= 0) detail::throw_peer_failed(requests_.ranks().rank(), failed_rank);
  }

  /// As operator(), but where that throws errc::peer_failed, this returns the lowest rank whose
  /// make_request threw. Returns -1 if none threw.
  template <reply_order Order = reply_order::requested, class MakeRequest, class MakeReply,
            class Receive>
  [[nodiscard]] int try_run(std::size_t n, MakeRequest&& make_request, MakeReply&& make_reply,
                            Receive&& receive) {
    idle_waiter idle(replies_);
    sent_ = received_ = delivered_ = 0;
    recent_.clear();
    if ((Order == reply_order::requested || recent_.is_used()) && window_slots_.empty())
      window_slots_.resize(window_);
    std::exception_ptr failure;
    for (bool sending = true, more = true; more;) {
      const std::size_t sent_before = sent_;
      bool refused = false;
      try {
        refused = send_requests<Order>(n, make_request);
      } catch (...) {
        detail::engine_access::fail_use(requests_);
        failure = std::current_exception();
        n = sent_;
      }
      if (sending) sending = requests_.advance(sent_ == n);
      std::size_t moved = sent_ - sent_before;
      moved += detail::engine_access::drain_batches<Request>(
          requests_, reply_to_batch<std::remove_reference_t<MakeReply>>{*this, make_reply});
      sending = sending && !requests_.ended();
      more = replies_.advance(!sending && requests_.ended() && push_pending());
      moved += detail::engine_access::drain_batches<Reply>(
          replies_, take_batch<Order, std::remove_reference_t<Receive>>{*this, receive});
      const std::size_t now = requests_.activity();
      const bool busy = moved > 0 || now != requests_activity_;
      requests_activity_ = now;
      idle.after_iteration(busy, refused);
    }
    const int failed_rank = detail::engine_access::failed_rank(requests_);
    requests_.restart();
    replies_.restart();
    if (failure) std::rethrow_exception(failure);
    return failed_rank;
  }

  /// The engine of the requests.
  [[nodiscard]] const Engine& requests() const noexcept { return requests_; }
  [[deprecated("use requests()")]] [[nodiscard]] const Engine& questions() const noexcept {
    return requests_;
  }
  /// The engine of the replies.
  [[nodiscard]] const Engine& replies() const noexcept { return replies_; }
  /// Requests that were not sent since the object was made, because an equal one was outstanding.
  [[nodiscard]] std::uint64_t combined() const noexcept { return combined_; }

 private:
  using request_batch = detail::item_batch_writer<Request, Engine>;
  static constexpr std::uint32_t none = 0xffffffff;
  static constexpr std::size_t fetch_ahead = 24;  // requests
  // The window stores the low 32 bits of a request's number. If replies are not kept, one slow
  // reply could stay outstanding while 2^32 later requests pass it. So at each multiple of this
  // number, sending stops until all replies have come.
  static constexpr std::size_t max_number_range = std::size_t{1} << 31;
  // The state of an outstanding request whose reply may have to wait or serves several
  // requests.
  struct window_slot {
    // the slot of another request that waits for the same reply
    std::uint32_t next_in_chain = none;
    bool arrived = false;
    Reply reply;
  };

  // These two function objects depend on MakeReply or Receive only, not on MakeRequest. So the
  // receiving code is compiled once for all kinds of requests.
  template <class MakeReply>
  struct reply_to_batch {
    request_reply& owner;
    MakeReply& make_reply;
    std::size_t operator()(auto source_of, std::span<const Request> requests) const {
      return owner.reply_to(source_of, requests, make_reply);
    }
  };
  template <reply_order Order, class Receive>
  struct take_batch {
    request_reply& owner;
    Receive& receive;
    std::size_t operator()(auto source_of, std::span<const Reply> replies) const {
      return owner.template take_replies<Order>(source_of, replies, receive);
    }
  };

  static engine_options with_items(engine_options options, std::size_t item_bytes) {
    options.item_bytes = item_bytes;
    options.with_source = true;
    // A rank with a full window waits for replies and fills no buffers; its partial ones must
    // leave.
    options.ship_when_idle = true;
    options.elastic = options.items_create_items = false;
    return options;
  }
  static std::size_t window_of(const request_reply_options& options, const Engine& engine) {
    // A window that fills a buffer on each link lets all buffers leave full. A larger window gains
    // nothing and no longer fits the cache.
    const std::size_t buffered = engine.options().buffer_items * engine.link_count();
    const std::size_t wanted =
        options.window_items > 0
            ? options.window_items
            : std::clamp<std::size_t>(buffered, std::size_t{1} << 12, std::size_t{1} << 16);
    return std::bit_ceil(std::min(wanted, max_number_range));
  }

  // The number of the first request that may not be sent yet. `kept`: replies are kept in the
  // window. Then a request leaves the window when its reply is delivered. Otherwise it leaves when
  // the reply arrives; at the end of a range of numbers no request is sent until all replies have
  // come.
  [[nodiscard]] std::size_t sending_limit(std::size_t n, bool kept) const noexcept {
    if (kept) return std::min(n, delivered_ + window_);
    if (sent_ % max_number_range == 0 && sent_ != received_) return sent_;
    const std::size_t range_end = (sent_ / max_number_range + 1) * max_number_range;
    return std::min({n, received_ + window_, range_end});
  }

  // Sends requests until the window or a buffer is full. Returns whether it was a buffer.
  template <reply_order Order, class MakeRequest>
  bool send_requests(std::size_t n, MakeRequest& make_request) {
    const bool kept = Order == reply_order::requested || recent_.is_used();
    const std::size_t end = sending_limit(n, kept);
    const int ranks = requests_.ranks().size();
    std::size_t next_batch = kept || ranks > request_batch::max_ranks ? end : sent_;
    while (sent_ < end) {
      if (unsent_requests_.empty()) {
        if (sent_ >= next_batch) {
          if (const std::size_t items = request_batch::batch_size(
                  requests_, ranks, std::min(end - sent_, outstanding_.room()))) {
            send_batch(ranks, sent_ + items, make_request);
            continue;
          }
          next_batch = sent_ + request_batch::min_items;
        }
        unsent_requests_.make(make_request, sent_, end - sent_);
      }
      for (; !unsent_requests_.empty(); ++unsent_requests_.next, ++sent_)
        if (!send_one(kept, unsent_requests_.items[unsent_requests_.next])) return true;
    }
    return false;
  }

  bool send_one(bool kept, const addressed<Request>& request) {
    const auto slot = static_cast<std::uint32_t>(sent_ & (window_ - 1));
    if (recent_.is_used() && join_outstanding(request, slot)) return true;
    if (!outstanding_.has_room(request.rank) || !requests_.push(request.rank, request.item))
      return false;
    if (recent_.is_used()) recent_.remember(request, sent_);
    outstanding_.writer()(request.rank, 0, static_cast<std::uint32_t>(sent_));
    outstanding_.add_sent(request.rank, 1);
    if (kept) {
      window_slots_[slot].next_in_chain = none;
      window_slots_[slot].arrived = false;
    }
    return true;
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

  // If an equal request is outstanding, lets the request in `slot` wait for its reply, and returns
  // true.
  bool join_outstanding(const addressed<Request>& request, std::uint32_t slot) {
    const std::size_t earlier = recent_.find(request);
    if (earlier == recent_.not_found || earlier < delivered_) return false;
    window_slot& first = window_slots_[earlier & (window_ - 1)];
    if (first.arrived) return false;
    window_slots_[slot].next_in_chain = first.next_in_chain;
    window_slots_[slot].arrived = false;
    first.next_in_chain = slot;
    ++combined_;
    return true;
  }

  template <class SourceOf, class MakeReply>
  [[gnu::noinline]] std::size_t reply_to(SourceOf source_of, std::span<const Request> requests,
                                         MakeReply& make_reply) {
    if constexpr (SourceOf::is_single)
      if (detail::engine_access::has_rank_buffers(replies_))
        return reply_in_place(source_of(0), requests, make_reply);
    std::size_t done = 0;
    while (push_pending() && done < requests.size()) {
      const std::size_t count = std::min(detail::group_items, requests.size() - done);
      if constexpr (requires { make_reply.fetch(requests[done]); })
        for (std::size_t k = done + fetch_ahead;
             k < std::min(done + fetch_ahead + count, requests.size()); ++k)
          make_reply.fetch(requests[k]);
      const auto reply = [&](std::size_t k) {
        const int source = source_of(k);
        return addressed<Reply>{source, Reply(make_reply(source, requests[k]))};
      };
      unsent_replies_.make(reply, done, count);
      done += count;
    }
    return done;
  }

  // Pushes replies that were made. Returns whether all are in a buffer.
  bool push_pending() {
    std::size_t pushed = 0;
    return unsent_replies_.push_to(replies_, pushed);
  }

  // Writes replies to one rank directly into its buffer, as many at a time as the buffer takes.
  template <class MakeReply>
  std::size_t reply_in_place(int source, std::span<const Request> requests, MakeReply& make_reply) {
    std::size_t done = 0;
    while (done < requests.size()) {
      auto& to = detail::engine_access::buffer_to(replies_, source);
      std::byte* next = to.next;
      const std::size_t room = static_cast<std::size_t>(to.end - next) / sizeof(Reply);
      if (room == 0) break;
      const Request* const from = requests.data() + done;
      const std::size_t count = std::min(room, requests.size() - done);
      std::size_t k = 0;
      if constexpr (requires { make_reply.fetch(from[k]); })
        for (; k + fetch_ahead < count; ++k, next += sizeof(Reply)) {
          make_reply.fetch(from[k + fetch_ahead]);
          detail::store_item(next, Reply(make_reply(source, from[k])));
        }
      for (; k < count; ++k, next += sizeof(Reply))
        detail::store_item(next, Reply(make_reply(source, from[k])));
      to.next = next;
      detail::engine_access::appended_to(replies_, source);
      done += count;
    }
    return done;
  }

  template <reply_order Order, class SourceOf, class Receive>
  [[gnu::noinline]] std::size_t take_replies(SourceOf source_of, std::span<const Reply> replies,
                                             Receive& receive) {
    const bool kept = Order == reply_order::requested || recent_.is_used();
    if constexpr (SourceOf::is_single) {  // all replies of one rank: its ring stays in registers
      const auto number = outstanding_.oldest(source_of(0));
      take_numbered<Order>(kept, number, replies, receive);
      outstanding_.add_replied(source_of(0), replies.size());
    } else {
      for (std::size_t first = 0; first < replies.size(); first += detail::group_items) {
        std::uint32_t numbers[detail::group_items];
        const std::size_t count = std::min(detail::group_items, replies.size() - first);
        for (std::size_t k = 0; k < count; ++k) {
          const int source = source_of(first + k);
          numbers[k] = outstanding_.oldest(source)(0);
          outstanding_.add_replied(source, 1);
        }
        take_numbered<Order>(
            kept, [&numbers](std::size_t k) { return numbers[k]; }, replies.subspan(first, count),
            receive);
      }
    }
    if (kept)
      deliver_in_order<Order>(receive);
    else
      received_ += replies.size();
    return replies.size();
  }

  // Takes replies whose request numbers are known. The loop works on copies, since `receive` may
  // store anywhere.
  template <reply_order Order, class Number, class Receive>
  void take_numbered(bool kept, Number number, std::span<const Reply> replies, Receive& receive) {
    const std::size_t sent = sent_, count = replies.size();
    const Reply* const reply = replies.data();
    if (kept) {
      for (std::size_t k = 0; k < count; ++k) take_kept<Order>(number(k), reply[k], receive);
      return;
    }
    detail::loop_copy<Receive> hand_over = receive;
#pragma GCC unroll 4
    for (std::size_t k = 0; k < count; ++k)
      hand_over(sent - static_cast<std::uint32_t>(sent - number(k)), reply[k]);
  }

  template <reply_order Order, class Receive>
  void take_kept(std::uint32_t number, const Reply& reply, Receive& receive) {
    const std::size_t mask = window_ - 1;
    for (std::uint32_t slot = number & static_cast<std::uint32_t>(mask); slot != none;
         slot = window_slots_[slot].next_in_chain) {
      window_slots_[slot].arrived = true;
      if constexpr (Order == reply_order::requested)
        window_slots_[slot].reply = reply;
      else
        receive(delivered_ + ((slot - delivered_) & mask), reply);
    }
  }

  template <reply_order Order, class Receive>
  void deliver_in_order(Receive& receive) {
    const std::size_t mask = window_ - 1;
    for (; delivered_ < sent_ && window_slots_[delivered_ & mask].arrived; ++delivered_)
      if constexpr (Order == reply_order::requested)
        receive(delivered_, window_slots_[delivered_ & mask].reply);
  }

  Engine requests_, replies_;
  std::size_t window_;  // a power of two
  detail::outstanding_requests outstanding_;
  detail::recent_requests<Request> recent_;
  detail::pending_items<Request> unsent_requests_;
  std::vector<window_slot> window_slots_;        // where replies are kept: slot number % window_
  detail::pending_items<Reply> unsent_replies_;  // replies that were made and are in no buffer yet
  std::uint64_t combined_ = 0;
  // Of this use: requests sent, replies received, and the number below which all replies are
  // delivered.
  std::size_t sent_ = 0, received_ = 0, delivered_ = 0;
  std::size_t requests_activity_ = 0;
};

/// @cond Old name, until the next version.
template <class Engine, trivially_copyable Request, trivially_copyable Reply>
using dialogue [[deprecated("use request_reply")]] = request_reply<Engine, Request, Reply>;
/// @endcond

}  // namespace longshore
