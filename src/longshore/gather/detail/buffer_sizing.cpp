// Chooses the capacity of buffers from the number of requests of a call. The ranks agree on that
// number.
#include <longshore/gather/detail/buffer_sizing.hpp>

#include <longshore/transport/team.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace longshore::detail {
namespace {

// Buffers of a rank that take no more than this always have their full size.
constexpr std::size_t full_sized_bytes = std::size_t{4} << 20;
constexpr std::size_t min_items = 32;
// If a call of an exstack takes more rounds than this, its requests are not spread evenly, and the
// buffers grow.
constexpr std::size_t max_rounds = 2;

}  // namespace

std::size_t size_agreement::class_of_call(std::size_t requests) {
  constexpr unsigned max_gap = 16;
  // In the two largest classes an allreduce costs little compared with the requests.
  const bool is_large = current_ + 2 >= request_classes;
  if (calls_left_ > 0 && !is_large) {
    --calls_left_;
    return current_;
  }
  const auto max_requests = static_cast<std::size_t>(
      team_.allreduce_value(static_cast<std::int64_t>(requests), reduction::max));
  const std::size_t agreed = request_class_of(max_requests);
  gap_ = agreed != current_ ? 1 : std::min(2 * gap_, max_gap);
  calls_left_ = gap_ - 1;
  current_ = agreed;
  return current_;
}

buffer_sizing::buffer_sizing(team& team, const gather_options& options,
                             std::size_t link_bytes_per_item)
    : ranks_(static_cast<std::size_t>(team.size())),
      max_items_(options.buffer_items),
      items_(max_items_) {
  if (link_bytes_per_item == 0 || max_items_ * link_bytes_per_item * ranks_ <= full_sized_bytes)
    return;
  const auto expected =
      team.allreduce_value(static_cast<std::int64_t>(options.expected_requests), reduction::max);
  items_ = items_for(static_cast<double>(expected));
  if (expected == 0 && items_ < max_items_) agreement_.emplace(team);
}

std::size_t buffer_sizing::items_for(double requests) const {
  const double mean = requests / static_cast<double>(ranks_);
  // Estimates the items of the fullest of all ranks^2 buffers. If requests go to random ranks, the
  // items of a buffer have a Poisson distribution. A single buffer that is too small costs all
  // ranks another round.
  const double deviations = std::max(4.0, 2 * std::sqrt(std::log(static_cast<double>(ranks_))));
  const double most = mean + deviations * std::sqrt(mean) + deviations * deviations / 6;
  if (most >= static_cast<double>(max_items_)) return max_items_;
  return std::min(max_items_,
                  std::max(min_items, std::bit_ceil(static_cast<std::size_t>(most) + 1)));
}

bool buffer_sizing::grows_for(std::size_t requests) {
  if (!agreement_) return false;
  const std::size_t call_class = agreement_->class_of_call(requests);
  if (call_class + 1 == request_classes) return grow_to(max_items_);
  // The boundary of this class and the next.
  return grow_to(items_for(std::sqrt(static_cast<double>(measured_requests[call_class]) *
                                     static_cast<double>(measured_requests[call_class + 1]))));
}

bool buffer_sizing::grows_after(std::size_t rounds) {
  return rounds > max_rounds && grow_to(std::min(4 * items_, max_items_));
}

bool buffer_sizing::grow_to(std::size_t items) {
  if (items <= items_) return false;
  items_ = items;
  if (items_ == max_items_) agreement_.reset();
  return true;
}

}  // namespace longshore::detail
