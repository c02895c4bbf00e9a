#include <longshore/gather/exchange_report.hpp>

namespace longshore {

exchange_report& exchange_report::operator+=(const exchange_report& more) {
  requests += more.requests;
  replies += more.replies;
  return *this;
}

exchange_report exchange_report::operator-(const exchange_report& earlier) const {
  return {requests - earlier.requests, replies - earlier.replies};
}

}  // namespace longshore
