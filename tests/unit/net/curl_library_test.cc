#include "net/curl/library.h"

#include <gtest/gtest.h>

#include "base/result.h"

namespace wardmote::net {
namespace {

TEST(CurlLibrary, IsThere) {
  const Result<void> loaded = load_curl();
  ASSERT_TRUE(loaded) << loaded.error().describe();
  EXPECT_STREQ(curl().easy_strerror(CURLE_OK), "No error");
}

TEST(CurlLibrary, ThatIsNotInstalledIsNamed) {
  const auto none = open_curl("libcurl-of-nobody.so.4");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, Errc::kMissing);
  EXPECT_TRUE(none.error().describe().contains("libcurl-of-nobody.so.4"))
      << none.error().describe();
}

TEST(CurlLibrary, ThatIsAnotherOneIsNone) {
  const auto other = open_curl("libm.so.6");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, Errc::kMissing);
  EXPECT_TRUE(other.error().describe().contains("curl_")) << other.error().describe();
}

}  // namespace
}  // namespace wardmote::net
