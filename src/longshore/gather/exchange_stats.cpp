// Sums and differences of the statistics of requests and replies.
#include <longshore/gather/exchange_stats.hpp>

namespace longshore {

exchange_stats& exchange_stats::operator+=(const exchange_stats& more) {
  requests += more.requests;
  replies += more.replies;
  return *this;
}

exchange_stats exchange_stats::operator-(const exchange_stats& earlier) const {
  return {requests - earlier.requests, replies - earlier.replies};
}

}  // namespace longshore
