#include "codec/yaml_text.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <yaml-cpp/yaml.h>
#include <boost/json/object.hpp>
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

TEST(YamlText, NumbersAreWrittenAsPeopleWriteThem) {
  EXPECT_EQ(yaml("[0.1, 1.10, -2.5, 0.000001, 1.0, 1e20, 0.0, 3, -7]"),
            "- 0.1\n- 1.1\n- -2.5\n- 0.000001\n- 1\n- 100000000000000000000\n- 0\n- 3\n- -7\n");
  EXPECT_EQ(yaml("[1e21, -1e300, 1.5e-7]"), "- 1E21\n- -1E300\n- 1.5E-7\n");
}

TEST(YamlText, QuotesAllThatIsNotPlainlyAWord) {
  for (const char* text :
       {"3",        "-1.5",   "1e3",    "0x1f",   "0b11", "0o17",       "1_000",
        "+1.5",     ".5",     "-5",     "5.",     ".inf", "-.INF",      ".nan",
        "inf",      "NaN",    "true",   "No",     "yes",  "no",         "ON",
        "off",      "y",      "N",      "~",      "null", "Null",       "<<",
        "=",        ".",      "+",      "...",    "---",  "1:30",       "12:30:45",
        "12:30",    "",       " a",     "a ",     "a: b", "a #b",       "a#b",
        "- a",      "[a",     "*a",     "'a'",    "a'b",  "a\nb",       "a\tb",
        "key:",     "{x}",    "a]",     "a}",     "a,b",  "2026-01-01", "2026-11-20 10:00:00",
        "10.0.0.1", "50%",    "5 s",    "5d",     "ms!",  "\x1b[31m",   "\x7f",
        "\u0085",   "\u2028", "\u202e", "\ufeff", "é"}) {
    const std::string drawn = yaml_text(boost::json::value(text));
    EXPECT_EQ(drawn.front(), '"') << text;
    EXPECT_TRUE(std::ranges::none_of(drawn, [](char c) { return c == '\x1b' || c == '\x7f'; }));
  }
  for (const char indicator : std::string_view("-?:,[]{}#&*!|>'\"%@`=<~."))
    EXPECT_EQ(yaml_text(boost::json::value(std::string(1, indicator) + "a")).front(), '"')
        << indicator;
  for (const char* text :
       {"ctl-1", "a-", "5s", "500ms", "24h", "tcp:10.0.0.1:6641", "/run/x.sock", "a:b", "_Server",
        "OVN_Northbound", "e85f", "nano", "voter 2 of 3 is alive", "user@host", "v1.2+b"}) {
    EXPECT_EQ(yaml_text(boost::json::value(text)), std::string(text) + "\n");
  }
}

// YAML 1.1 takes NEL, LS and PS for line ends, which it folds, and refuses what does not print.
TEST(YamlText, EscapesWhatOnlyYamlMinds) {
  EXPECT_EQ(yaml_text(boost::json::value("a\u0085b")), "\"a\\u0085b\"\n");
  EXPECT_EQ(yaml_text(boost::json::value("a\u2028b")), "\"a\\u2028b\"\n");
  EXPECT_EQ(yaml_text(boost::json::value("\ufeffb\uffff")), "\"\\ufeffb\\uffff\"\n");
  EXPECT_EQ(yaml_text(boost::json::value("caf\u00e9 \U0001f600")), "\"caf\u00e9 \U0001f600\"\n");
  EXPECT_EQ(yaml_text(boost::json::value("cut \xe2\x80")), "\"cut \\ufffd\\ufffd\"\n");
}

/// Texts as hostile as can be: what YAML has a meaning for, all that it might count as a number,
/// and any other character.
rc::Gen<std::string> hostile_text() {
  const auto piece = rc::gen::oneOf(
      rc::gen::map(rc::gen::string<std::string>(),
                   [](std::string text) {
                     std::erase_if(text,
                                   [](char c) { return static_cast<unsigned char>(c) > 0x7e; });
                     return text;
                   }),
      rc::gen::container<std::string>(
          rc::gen::elementOf(std::string("0123456789abefxo_+-.:~=<>TZ "))),
      rc::gen::element<std::string>("null", "true", "No", "on", ".inf", ".NaN", "<<", "=", "~",
                                    "---", "...", "0x", "1_0", "2026-01-01", ": ", " #", "\n",
                                    "\r\n", "\t", "\"", "\\", "'", "%", "@", "!", "&", "*", "|",
                                    ">"),
      rc::gen::element<std::string>("\u0085", "\u2028", "\u2029", "\ufeff", "\ufffd", "\ufffe",
                                    "\u202e", "\u00e9", "\u6f22", "\U0001f600", "\U0010ffff"));
  return rc::gen::map(rc::gen::container<std::vector<std::string>>(piece),
                      [](const std::vector<std::string>& pieces) {
                        std::string whole;
                        for (const std::string& one : pieces) whole += one;
                        return whole;
                      });
}

RC_GTEST_PROP(YamlText, IsReadBackAsTheSameText, ()) {
  const std::string text = *hostile_text();
  const YAML::Node alone = YAML::Load(yaml_text(boost::json::value(text)));
  RC_ASSERT(alone.IsScalar());
  RC_ASSERT(alone.Scalar() == text);
  if (alone.Tag() == "?") {  // it stands unquoted
    double number = 0;
    bool truth = false;
    RC_ASSERT(!YAML::convert<double>::decode(alone, number));
    RC_ASSERT(!YAML::convert<bool>::decode(alone, truth));
  }
  const std::string flow = yaml_text(boost::json::value(text));
  const YAML::Node inside = YAML::Load("{key: " + flow.substr(0, flow.size() - 1) + ", b: [c]}");
  RC_ASSERT(inside["key"].Scalar() == text);
  // A simple key may have 1,024 characters.
  const std::string key =
      text.substr(0, text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_-.:= "));
  const boost::json::object map{{key, {text, boost::json::object{{key, text}}}}};
  const YAML::Node tree = YAML::Load(yaml_text(map));
  RC_ASSERT(tree[key][0].Scalar() == text);
  RC_ASSERT(tree[key][1][key].Scalar() == text);
}

}  // namespace
}  // namespace wardmote::codec
