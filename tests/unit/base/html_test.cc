#include "base/html.h"

#include <gtest/gtest.h>

namespace wardmote {
namespace {

TEST(EscapeHtml, TextStaysTextAlsoInAnAttribute) {
  EXPECT_EQ(escape_html("<a href=\"x\">&amp;\n"), "&lt;a href=&quot;x&quot;&gt;&amp;amp;\n");
  EXPECT_EQ(escape_html(""), "");
}

}  // namespace
}  // namespace wardmote
