// buffer_sizing: how many items a buffer for each rank holds. With many ranks, full-sized buffers
// would take far more memory than the requests of a call.
#pragma once

#include <longshore/core/detail/shared_function.hpp>
#include <longshore/gather/options.hpp>

#include <cstddef>
#include <optional>
#include <utility>

namespace longshore {
class team;
}

namespace longshore::detail {

/// The ranks agree by an allreduce on the class of requests of a call. They do so at the first
/// call, and then after 2, 4, 8, 16, 16, ... calls. They also do so at the call after the class has
/// changed, and after a call of one of the two largest classes, in which an allreduce costs little
/// compared with the requests. Other calls count as the class last agreed on, because most plans
/// are used for calls of one size, and a choice for another size is slower but still correct.
class size_agreement {
 public:
  explicit size_agreement(team& team) : team_(team) {}
  /// Collective; all ranks get the same class. `requests`: the number of requests of this rank.
  std::size_t class_of_call(std::size_t requests);
  [[nodiscard]] std::size_t current() const noexcept { return current_; }

 private:
  team& team_;
  std::size_t current_ = 0;
  unsigned gap_ = 1;         // calls from one agreement to the next
  unsigned calls_left_ = 0;  // before the next agreement
};

/// Buffers have options.buffer_items items, unless the buffers of a rank would then take more than
/// 4 MiB. In that case a buffer is just large enough that a call of options.expected_requests
/// requests, to random ranks, needs only one message to each rank. If expected_requests is unknown,
/// buffers begin small and grow with the calls. The ranks then agree on the size of a call by class
/// size_agreement, like plans of strategy auto.
class buffer_sizing {
 public:
  /// Collective. `link_bytes_per_item`: the bytes of all buffers to one rank, per item of capacity;
  /// 0 for an engine of several hops, which has few buffers.
  buffer_sizing(team& team, const gather_options& options, std::size_t link_bytes_per_item);

  [[nodiscard]] std::size_t items() const noexcept { return items_; }
  /// Collective. Whether items() has grown for a call of `requests` requests.
  bool grows_for(std::size_t requests);
  /// Collective, with the same `rounds` on all ranks. Whether items() has grown because the last
  /// call took `rounds` rounds.
  bool grows_after(std::size_t rounds);

 private:
  bool grow_to(std::size_t items);
  [[nodiscard]] std::size_t items_for(double requests) const;

  std::size_t ranks_, max_items_, items_;
  std::optional<size_agreement> agreement_;  // if the size of calls is unknown
};

/// Holds the buffers of a plan for one strategy, or nothing. Makes them anew when they have to
/// grow.
template <class Exchange>
class sized_exchange {
 public:
  /// Makes the exchange in its argument, with buffers of `items` items.
  using make_exchange = shared_function<void(std::optional<Exchange>&, std::size_t items)>;

  /// Collective.
  void emplace(const buffer_sizing& sizing, make_exchange make) {
    sizing_.emplace(sizing);
    make_ = std::move(make);
    make_(exchange_, sizing_->items());
  }
  /// Collective; to be called before each use, with the requests of this rank. Throws
  /// errc::out_of_memory on all ranks if there is no memory for larger buffers; the next call tries
  /// again.
  void prepare(std::size_t requests) {
    if (!make_) return;
    bool grows = sizing_->grows_for(requests) || !exchange_;
    if constexpr (requires { exchange_->rounds(); })
      if (exchange_) grows = sizing_->grows_after(exchange_->rounds()) || grows;
    if (!grows) return;
    if (exchange_) stats_of_former_ += exchange_->stats();
    exchange_.reset();
    make_(exchange_, sizing_->items());
  }

  /// Whether emplace() was called.
  [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(make_); }
  [[nodiscard]] Exchange& operator*() noexcept { return *exchange_; }
  [[nodiscard]] Exchange* operator->() noexcept { return &*exchange_; }
  /// The statistics since emplace().
  [[nodiscard]] exchange_stats stats() const {
    exchange_stats sum = stats_of_former_;
    if (exchange_) sum += exchange_->stats();
    return sum;
  }

 private:
  std::optional<buffer_sizing> sizing_;
  make_exchange make_;
  std::optional<Exchange> exchange_;
  exchange_stats stats_of_former_;
};

}  // namespace longshore::detail
