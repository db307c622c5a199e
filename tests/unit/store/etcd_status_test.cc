#include "store/etcd/status.h"

#include <gtest/gtest.h>

#include "codec/grpc.h"

namespace wardmote::store::etcd {
namespace {

constexpr int kUnknown = 2;
constexpr int kInvalidArgument = 3;
constexpr int kUnauthenticated = 16;

// etcd 3.4 and 3.5 say so in several ways (etcdserver/api/v3rpc/rpctypes/error.go).
TEST(EtcdStatus, ATokenIsStaleByTheCodeOrByWhatIsSaid) {
  EXPECT_TRUE(is_stale_token({kUnauthenticated, ""}));
  EXPECT_TRUE(is_stale_token({kUnknown, "etcdserver: invalid auth token"}));
  EXPECT_TRUE(is_stale_token({kInvalidArgument, "etcdserver: revision of auth store is old"}));
  EXPECT_FALSE(is_stale_token({kInvalidArgument, "etcdserver: authentication failed"}));
  EXPECT_FALSE(is_stale_token({kUnknown, "etcdserver: leader changed"}));
}

}  // namespace
}  // namespace wardmote::store::etcd
