// UCX reads its settings from the environment, even if another library calls UCX.
#include <longshore/transport/detail/long_tcp_segments.hpp>

#include <cstdlib>

namespace longshore::detail {
namespace {

constexpr const char* sent_variable = "UCX_TCP_TX_SEG_SIZE";
// The variable for received pieces, 64 KiB by default. Sent pieces must not be longer.
constexpr const char* received_variable = "UCX_TCP_RX_SEG_SIZE";

}  // namespace

void use_long_tcp_segments() {
  if (std::getenv(sent_variable) == nullptr && std::getenv(received_variable) == nullptr)
    setenv(sent_variable, "64k", 1);
}

}  // namespace longshore::detail
