#include "codec/yaml_text.h"

#include <string>

#include <gtest/gtest.h>
#include <boost/json/parse.hpp>

namespace wardmote::codec {
namespace {

std::string yaml(std::string_view text) {
  return yaml_text(boost::json::parse(text));
}

TEST(YamlText, WritesMapsAndListsInBlocks) {
  EXPECT_EQ(
      yaml(
          R"({"node": {"name": "ctl-1"}, "checks": [{"name": "a", "tcp": {"port": 3}}, "b", [1, [2]]],
                     "none": null, "empty": {}, "nothing": []})"),
      "node:\n"
      "  name: ctl-1\n"
      "checks:\n"
      "  - name: a\n"
      "    tcp:\n"
      "      port: 3\n"
      "  - b\n"
      "  -\n"
      "    - 1\n"
      "    -\n"
      "      - 2\n"
      "none: null\n"
      "empty: {}\n"
      "nothing: []\n");
}

TEST(YamlText, AScalarIsADocumentToo) {
  EXPECT_EQ(yaml("3"), "3\n");
  EXPECT_EQ(yaml("[]"), "[]\n");
  EXPECT_EQ(yaml("\"a\""), "a\n");
}

TEST(YamlText, QuotesWhatWouldBeReadAsSomethingElse) {
  for (const char* text :
       {"3",          "-1.5",     "1e3", "0x1f", "true",     "No",   "~",    "null",
        "2026-11-20", "12:30:45", "",    " a",   "a ",       "a: b", "a #b", "- a",
        "[a",         "*a",       "'a'", "a\nb", "\x1b[31m", "key:", "{x}"}) {
    const std::string drawn = yaml_text(boost::json::value(text));
    EXPECT_EQ(drawn.front(), '"') << text;
    EXPECT_EQ(drawn.find('\x1b'), std::string::npos);
  }
  for (const char* text : {"ctl-1", "5s", "500ms", "tcp:10.0.0.1:6641", "/run/x.sock", "a:b",
                           "e85f!", "1 of 3 voters is alive"}) {
    EXPECT_EQ(yaml_text(boost::json::value(text)), std::string(text) + "\n");
  }
}

}  // namespace
}  // namespace wardmote::codec
