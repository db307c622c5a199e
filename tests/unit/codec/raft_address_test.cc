#include "codec/raft_address.h"

#include <gtest/gtest.h>

namespace wardmote::codec {
namespace {

TEST(RaftAddress, HasOneNormalForm) {
  EXPECT_EQ(normal_address("tcp:[0:0:0:0:0:0:0:1]:6645"), "tcp:[::1]:6645");
  EXPECT_EQ(normal_address("ssl:[FE80::00A1]:6643"), "ssl:[fe80::a1]:6643");
  EXPECT_EQ(normal_address("tcp:[::ffff:127.0.0.1]:6645"), "tcp:127.0.0.1:6645");
  EXPECT_EQ(normal_address("tcp:OVN-0.ovn.Svc.:6643"), "tcp:ovn-0.ovn.svc:6643");
  EXPECT_EQ(normal_address("tcp:10.0.0.1:6643"), "tcp:10.0.0.1:6643");
  EXPECT_EQ(normal_address("ssl:[fe80::1%eth0]:6643"), "ssl:[fe80::1%eth0]:6643");
}

TEST(RaftAddress, WhatHasNoHostStaysAsItIs) {
  for (const char* const address :
       {"", "unix:/run/OVN/nb.raft", "tcp:", "tcp:[", "tcp::6643", "[]"})
    EXPECT_EQ(normal_address(address), address);
}

}  // namespace
}  // namespace wardmote::codec
