// The setting of UCX for puts over TCP, and the environments that keep their own.
#include <longshore/transport/detail/long_tcp_segments.hpp>

#include <gtest/gtest.h>

#include <cstdlib>

namespace longshore::detail {
namespace {

TEST(LongTcpSegments, leave_the_settings_of_the_environment) {
  const char *const sent = "UCX_TCP_TX_SEG_SIZE", *const received = "UCX_TCP_RX_SEG_SIZE";
  unsetenv(sent);
  unsetenv(received);
  use_long_tcp_segments();
  EXPECT_STREQ(std::getenv(sent), "64k");
  setenv(sent, "16k", 1);
  use_long_tcp_segments();
  EXPECT_STREQ(std::getenv(sent), "16k");
  unsetenv(sent);
  setenv(received, "32k", 1);
  use_long_tcp_segments();
  EXPECT_EQ(std::getenv(sent), nullptr) << "longer than the pieces that a rank receives";
  unsetenv(received);
}

}  // namespace
}  // namespace longshore::detail
