#include "observe/params.h"

#include <gtest/gtest.h>

#include <string>

namespace wardmote::observe {
namespace {

using runtime::Endpoint;

TEST(UnixSocketParam, IsAUnixSocketOrAnError) {
  const auto given = [](std::string text) {
    return unix_socket_param({{"socket", std::move(text)}}, "socket");
  };
  EXPECT_EQ(unix_socket_param({}, "socket").value(), std::nullopt);
  EXPECT_EQ(given("/run/bird.ctl").value(), Endpoint::unix_socket("/run/bird.ctl"));
  EXPECT_EQ(given("unix:/run/bird.ctl").value(), Endpoint::unix_socket("/run/bird.ctl"));
  for (const char* const wrong : {"tcp:10.0.0.1:179", "tcp:[::1]:179", "", "bird.ctl"}) {
    const auto refused = given(wrong);
    ASSERT_FALSE(refused.has_value()) << wrong;
    EXPECT_EQ(refused.error().code, Errc::kInvalid) << wrong;
    EXPECT_TRUE(refused.error().context.starts_with("socket: ")) << refused.error().context;
  }
  EXPECT_EQ(given("tcp:10.0.0.1:179").error().context,
            "socket: tcp:10.0.0.1:179 is not a unix socket");
}

}  // namespace
}  // namespace wardmote::observe
