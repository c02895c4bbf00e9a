// Sends credits that were deferred, and decides which credits to defer.
#include <longshore/transport/one_sided/detail/credits.hpp>

namespace longshore::one_sided {

void deferred_credits::send_all() {
  for (auto* const receiver : receivers_) {
    receiver->send_credit();
    receiver->is_deferred_ = false;
  }
  receivers_.clear();
}

void receiver_credits::count_release() {
  ++consumed_;
  // A channel with fewer slots than this defers the credit. A reply may carry it, or the next empty
  // poll sends it.
  constexpr std::uint64_t min_slots = 4;
  if (all_slots_ >= min_slots && credit_is_due()) {
    send_credit();
  } else if (!is_deferred_ && !defers_credit()) {
    deferred_.add(*this);
    is_deferred_ = true;
  }
}

}  // namespace longshore::one_sided
