#include "base/result.h"

#include <gtest/gtest.h>

namespace wardmote {
namespace {

Result<int> connect() {
  return fail(Errc::kRefused, "connect {}", "/run/ovn/ovnnb_db.sock");
}

Result<int> ask() {
  const Result<int> connected = connect();
  if (!connected) return with_context(connected, "ovsdb {}", "nb");
  return connected;
}

TEST(Result, EachLayerAddsItsContextOnce) {
  EXPECT_EQ(ask().error().describe(), "ovsdb nb: connect /run/ovn/ovnnb_db.sock: refused");
}

TEST(Result, AnErrorWithoutContextIsStillReadable) {
  EXPECT_EQ((Error{Errc::kTimeout, ""}).describe(), "timed out");
}

}  // namespace
}  // namespace wardmote
