#include "codec/yaml/yaml_json.h"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <span>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace wardmote::codec {
namespace {

namespace json = boost::json;

/// A document of one key `k`, and the value of that as JSON.
struct Row {
  std::string_view yaml;
  std::string_view json;
};

/// The values are those of sigs.k8s.io/yaml 1.3.0 with go-yaml 2.4.0, which kubectl has, and of
/// PyYAML 6.0 where it reads the text (it takes no tab after a colon or within plain text). Those
/// that are texts were also read by kubectl 1.20.2, as the data of a ConfigMap.
void expect_values(std::span<const Row> rows) {
  for (const Row& row : rows) {
    const auto documents = read_yaml(row.yaml);
    if (!documents) {
      ADD_FAILURE() << row.yaml << "\nis refused: " << documents.error().why;
      continue;
    }
    ASSERT_EQ(documents->size(), 1U) << row.yaml;
    EXPECT_EQ(documents->front().value, json::value(json::object{{"k", json::parse(row.json)}}))
        << row.yaml << "\nis " << json::serialize(documents->front().value);
  }
}

bool is_refused(std::string_view yaml) {
  return !read_yaml(yaml);
}

TEST(YamlJson, QuotedTextsAreFoldedAsByKubectl) {
  constexpr Row kRows[] = {
      {"k: \"line\n\n\n    \"", R"("line\n\n")"},
      {"k: 'line\n\n\n    '", R"("line\n\n")"},
      {"k: \"\n\n    \"", R"("\n")"},
      {"k: '\n\n  '", R"("\n")"},
      {"k: \"\n  \"", R"(" ")"},
      {"k: \"\n\n\n  \"", R"("\n\n")"},
      {"k: \"a\n  \"", R"("a ")"},
      {"k: \"a\n\n  \"", R"("a\n")"},
      {"k: \"a \n  b\"", R"("a b")"},
      {"k: \"a\n  b\n\n  c\n\n\n  d\"", R"("a b\nc\n\nd")"},
      {"k: 'a\n  b\n\n  c'", R"("a b\nc")"},
      {"k: \"a\\\n  b\"", R"("ab")"},
      {"k: \"a \\\n  \\  b\"", R"("a   b")"},
      {"k: \"a\\\n\n  b\"", R"("a\nb")"},
      {"k: \"a\\n\n  b\"", R"("a\n b")"},
      {"k: \"\n  a\n  \"", R"(" a ")"},
      {"k: \"  a  \"", R"("  a  ")"},
      {"k: ' a\n  '", R"(" a ")"},
      {"k: \"a\t\n\t b\"", R"("a b")"},
      {"k: 'it''s\n  it'", R"("it's it")"},
      {"k: \"a # b\n  # c\"", R"("a # b # c")"},
      {"k: \"a\"  # c", R"("a")"},
      {"k: 'a' # 'b'", R"("a")"},
      {"k: \"a\r\n  b\r\n\r\n  c\"", R"("a b\nc")"},
      {"k: \"a\n  \n  b\"", R"("a\nb")"},
      {"k: \"a\n \t \n  b\"", R"("a\nb")"},
  };
  expect_values(kRows);
}

TEST(YamlJson, EscapesAreThoseOfKubectl) {
  constexpr Row kRows[] = {
      {"k: \"\\0\\a\\b\\t\\n\\v\\f\\r\\e\\\"\\\\\"", R"("\u0000\u0007\b\t\n\u000b\f\r\u001b\"\\")"},
      {"k: \"\\ x\"", R"(" x")"},
      {"k: \"a\\_b\"", R"("a\u00a0b")"},
      {"k: \"a\\Nb\"", R"("a\u0085b")"},
      {"k: \"a\\Lb\"", R"("a\u2028b")"},
      {"k: \"a\\Pb\"", R"("a\u2029b")"},
      {"k: \"\\x41\\x7f\\x80\\xa0\\xff\"", R"("A\u007f\u0080\u00a0\u00ff")"},
      {"k: \"\\u00e9\\u0085\\u2028\\ufeff\\ud7ff\\ufffd\"",
       R"("\u00e9\u0085\u2028\ufeff\ud7ff\ufffd")"},
      {"k: \"\\U0001f600\\U0010ffff\"", R"("\ud83d\ude00\udbff\udfff")"},
      {"k: \"a\\\tb\"", R"("a\tb")"},
      {"k: '\\n\\_'", R"("\\n\\_")"},
      {"k: \"a\xc2\x85"
       "  b\"",
       R"("a b")"},
      {"k: \"a\u2028  b\"", R"("a\u2028b")"},
      {"k: \"a\u2029\n  b\"", R"("a\u2029\nb")"},
      {"k: 'a\xc2\x85"
       "\xc2\x85"
       "  b'",
       R"("a\nb")"},
  };
  expect_values(kRows);
}

/// A line that ends with U+0085, U+2028 or U+2029 ends, as YAML 1.1 has it.
TEST(YamlJson, BlockScalarsAreThoseOfKubectl) {
  constexpr Row kRows[] = {
      {"k: |\n  a\n", R"("a\n")"},
      {"k: |-\n  a\n", R"("a")"},
      {"k: |+\n  a\n", R"("a\n")"},
      {"k: |\n  a\n\n\n", R"("a\n")"},
      {"k: |-\n  a\n\n\n", R"("a")"},
      {"k: |+\n  a\n\n\n", R"("a\n\n\n")"},
      {"k: >\n  a\n", R"("a\n")"},
      {"k: >-\n  a\n\n", R"("a")"},
      {"k: >+\n  a\n\n", R"("a\n\n")"},
      {"k: >+\n    a\n\n", R"("a\n\n")"},
      {"k: >+\n  a\n\n\n", R"("a\n\n\n")"},
      {"k: >+\n  a\n", R"("a\n")"},
      {"k: >\n  a\n  b\n\n  c\n\n\n  d\n", R"("a b\nc\n\nd\n")"},
      {"k: >\n  a\n    b\n  c\n", R"("a\n  b\nc\n")"},
      {"k: >\n  a\n\n    b\n\n  c\n", R"("a\n\n  b\n\nc\n")"},
      {"k: >-\n  a\n  \tb\n  c\n", R"("a\n\tb\nc")"},
      {"k: |\n  a\n    b\n  c\n", R"("a\n  b\nc\n")"},
      {"k: |2\n    a\n   b\n", R"("  a\n b\n")"},
      {"k: |1\n   a\n", R"("  a\n")"},
      {"k: >2-\n    a\n    b\n", R"("  a\n  b")"},
      {"k: |-2\n    a\n", R"("  a")"},
      {"k: |+1\n  a\n\n", R"(" a\n\n")"},
      {"k: |\n\n\n  a\n", R"("\n\na\n")"},
      {"k: >\n\n\n  a\n", R"("\n\na\n")"},
      {"k: |\n\n", R"("")"},
      {"k: |+\n\n", R"("\n")"},
      {"k: |+\n\n\n", R"("\n\n")"},
      {"k: >+\n\n", R"("\n")"},
      {"k: |-\n\n", R"("")"},
      {"k: >\n\n", R"("")"},
      {"k: |\n", R"("")"},
      {"k: |+\n", R"("")"},
      {"k: | # c\n  a # b\n", R"("a # b\n")"},
      {"k: >- # c\n  a\n  # b\n", R"("a # b")"},
      {"k: |\n  a\n# c\n", R"("a\n")"},
      {"k: |+\n  a\n\n# c\n", R"("a\n\n")"},
      {"k: |\n  a\n \n  b\n", R"("a\n\nb\n")"},
      {"k: |\n  a\n   \n  b\n", R"("a\n \nb\n")"},
      {"k: |\n  a\t\n  \tb\n", R"("a\t\n\tb\n")"},
      {"k: |\n  a  \n", R"("a  \n")"},
      {"k: >\n  a  \n  b\n", R"("a   b\n")"},
      {"k: |\r\n  a\r\n  b\r\n", R"("a\nb\n")"},
      {"k: >+\r\n  a\r\n\r\n", R"("a\n\n")"},
      {"k: |\n  a\n  ", R"("a\n")"},
      {"k: |\n  a", R"("a\n")"},
      {"k: |+\n  a", R"("a\n")"},
      {"k: >\n  a", R"("a\n")"},
      {"k: |+\n  a\n  ", R"("a\n\n")"},
      {"k: |\n  a\n   ", R"("a\n \n")"},
      {"k: |\n  ---\n", R"("---\n")"},
      {"k: |\n  a: b\n  - c\n  \"d\"\n  '\n", R"("a: b\n- c\n\"d\"\n'\n")"},
      {"k: >\n  a\xc2\x85"
       "  b\n",
       R"("a b\n")"},
      {"k: |\n  a\u2028  b\n", R"("a\u2028b\n")"},
      {"k: |\n  a\\nb\n", R"("a\\nb\n")"},
  };
  expect_values(kRows);
}

TEST(YamlJson, PlainTextsAreThoseOfKubectl) {
  constexpr Row kRows[] = {
      {"k: a\n  b", R"("a b")"},
      {"k: a\n\n  b", R"("a\nb")"},
      {"k: a\n\n\n  b\n", R"("a\n\nb")"},
      {"k: a # c\n", R"("a")"},
      {"k: a#b", R"("a#b")"},
      {"k: a\n  b # c\n", R"("a b")"},
      {"k: a:b", R"("a:b")"},
      {"k: a  b", R"("a  b")"},
      {"k: a\tb", R"("a\tb")"},
      {"k: a\t# c", R"("a")"},
      {"k: a\r\n  b\r\n", R"("a b")"},
      {"k: -a", R"("-a")"},
      {"k: it's", R"("it's")"},
      {"k: a\"b\"", R"("a\"b\"")"},
      {"k: a\\nb", R"("a\\nb")"},
      {"k: http://u/v?w#x", R"("http://u/v?w#x")"},
      {"k: ?a", R"("?a")"},
      {"k: :a", R"(":a")"},
      {"k: a - b", R"("a - b")"},
      {"k: a\u00a0b", R"("a\u00a0b")"},
      {"k: a\xc2\x85"
       "  b",
       R"("a b")"},
      {"k: a\u2028  b", R"("a\u2028b")"},
      {"k: ''", R"("")"},
      {"k: \"\"", R"("")"},
      {"k: ", R"(null)"},
      {"k:  ", R"(null)"},
      {"k: ~", R"(null)"},
      {"k:  # c", R"(null)"},
      {"k: \n", R"(null)"},
      {"k: \ta", R"("a")"},
  };
  expect_values(kRows);
}

TEST(YamlJson, CollectionsAreThoseOfKubectl) {
  constexpr Row kRows[] = {
      {"k: [a,b, c]", R"(["a", "b", "c"])"},
      {"k: [a\n  b,\n  c]", R"(["a b", "c"])"},
      {"k: [\"a\n  b\", 'c\n\n  d']", R"(["a b", "c\nd"])"},
      {"k: {a: b, c: \"d\"}", R"({"a": "b", "c": "d"})"},
      {"k: {a: b,\n  c: d,}", R"({"a": "b", "c": "d"})"},
      {"k: {\"a\":b}", R"({"a": "b"})"},
      {"k: {a: , b: \"\"}", R"({"a": null, "b": ""})"},
      {"k: {a, b: c}", R"({"a": null, "b": "c"})"},
      {"k: [a: b]", R"([{"a": "b"}])"},
      {"k: [\"a\" : b]", R"([{"a": "b"}])"},
      {"k: [[a], {b: [c]}]", R"([["a"], {"b": ["c"]}])"},
      {"k: []", R"([])"},
      {"k: {}", R"({})"},
      {"k: [ a # c\n  , b ]", R"(["a", "b"])"},
      {"k: {? a : b}", R"({"a": "b"})"},
      {"k: {a:b}", R"({"a:b": null})"},
      {"k: [a:b]", R"(["a:b"])"},
      {"k: [http://u/v]", R"(["http://u/v"])"},
      {"k: {a: http://u/v}", R"({"a": "http://u/v"})"},
      {"k: [?a]", R"([{"a": null}])"},
      {"k: {?a: b}", R"({"a": "b"})"},
      {"k: {a: \"b?\"}", R"({"a": "b?"})"},
      {"k: [? a]", R"([{"a": null}])"},
      {"k: [-a]", R"(["-a"])"},
      {"k: [a\tb]", R"(["a\tb"])"},
      {"k: \n  a: b\n", R"({"a": "b"})"},
      {"k: \n- a\n- b\n", R"(["a", "b"])"},
      {"k: \n  - a\n  -\n  - - b\n    - c\n", R"(["a", null, ["b", "c"]])"},
      {"k: \n  - a: b\n    c: d\n", R"([{"a": "b", "c": "d"}])"},
      {"k: \n  ? a\n  : b\n", R"({"a": "b"})"},
      {"k: \n  \"a\": b\n  'c': d\n", R"({"a": "b", "c": "d"})"},
      {"k: \n  a:\tb", R"({"a": "b"})"},
  };
  expect_values(kRows);
}

TEST(YamlJson, WhatKubectlRefusesIsRefused) {
  for (const std::string_view yaml :
       {"k: \"a\":",     "k: [a?b]",     "k: [a, b?]",          "k: {a?: b}",       "k: [- a]",
        "k: [a]b",       "k: \n\ta: b",  "k: \n  a: b\n\tc: d", "k: |\n\ta\n",      "k: @a",
        "k: `a",         "k: %a",        "k: \"a\" b",          "k: \"a",           "k: 'a",
        "k: \"a\\qb\"",  "k: \"\\xg0\"", "k: \"\\ud800\"",      "k: \"a\n---\nb\"", "k: |0\n  a\n",
        "k: |10\n  a\n", "k: |x\n a\n",  "k: |3\n  a\n",        "k: a: b",          "k: a:\n  b",
        "k: - a",        "k: : a"})
    EXPECT_TRUE(is_refused(yaml)) << yaml;
}

/// kubectl has another value for these than libyaml, or none.
TEST(YamlJson, WhatOnlySomeReadersTakeInBracketsOrBehindATagIsRefused) {
  for (const std::string_view yaml :
       {"k: [a?]", "k: {a: b?c}", "k: ! a", "k: ! 12", "k: ! \"12\"", "k: ! |\n  a\n", "k: ! [a]",
        "k: !", "k: \u00e9\n\u00e9: ! a", "\ufeffk: ! a", "k: {\r\n  a: \u2028! b}"})
    EXPECT_TRUE(is_refused(yaml)) << yaml;
  // An exclamation mark within a text is no tag.
  for (const std::string_view yaml : {"k: a!", "k: a !b", "\u00e9: b!\nk: c", "\ufeffk: a!"})
    EXPECT_FALSE(is_refused(yaml)) << yaml;
}

/// go-yaml takes it for text there, and libyaml leaves it out. Within a line it is text for both.
TEST(YamlJson, AByteOrderMarkMayOnlyBeginTheFile) {
  for (const std::string_view yaml :
       {"\ufeff\ufeffk: a", "k: a\n\ufeffb: c", "k: [\r\ufeff]", "k: \u2028\ufeffa", "\n\ufeff"})
    EXPECT_TRUE(is_refused(yaml)) << yaml;
  EXPECT_EQ(read_yaml("\ufeffk: a\nb: c")->front().value, json::parse(R"({"k": "a", "b": "c"})"));
  EXPECT_EQ(read_yaml("k: |\n  \ufeffa\n")->front().value, json::parse(R"({"k": "\ufeffa\n"})"));
}

/// Each directive is compared with all before it by libyaml, which took five minutes for this text.
TEST(YamlJson, ManyDirectivesTakeNoTime) {
  std::string text;
  for (int i = 0; i < 250'000; ++i) text += "%TAG !a" + std::to_string(i) + "! x\n";
  EXPECT_TRUE(is_refused(text + "--- a\n"));
  EXPECT_TRUE(is_refused("\ufeff%TAG !a! x\n--- a\n"));
  EXPECT_FALSE(is_refused("k: 100 %TAG\n"));
}

/// Every reader but go-yaml has the same value, as JSON has.
TEST(YamlJson, ASlashMayBeEscaped) {
  EXPECT_EQ(read_yaml(R"("a\/b")")->front().value, json::value("a/b"));
}

TEST(YamlJson, AFaultHasItsPlace) {
  const auto place = [](std::string_view yaml) {
    const auto documents = read_yaml(yaml);
    return documents ? std::string("it was read")
                     : std::to_string(documents.error().line) + ":" +
                           std::to_string(documents.error().column) + ": " + documents.error().why;
  };
  EXPECT_EQ(place("a: b\nc: \"d\\q\""),
            "2:6: while parsing a quoted scalar from 2:4: found unknown escape character");
  EXPECT_EQ(place("a:\n  b: 1\n c: 2\n"),
            "3:2: while parsing a block mapping from 1:1: did not find expected key");
  EXPECT_EQ(place("a: b\nc: \u0080"), "2:4: control characters are not allowed");
  EXPECT_EQ(place("\u00e9: b\n\u00e9: c"), "2:1: the key '\u00e9' is given twice");
}

/// `1.0` and `1e3` are integers to the server: Go writes them as 1 and 1000.
TEST(YamlJson, NumbersWithoutAFractionAreIntegers) {
  constexpr Row kRows[] = {
      {"k: 1.0", "1"},     {"k: 1e3", "1000"},  {"k: -0.0", "0"},
      {"k: 5.", "5"},      {"k: 1.5e1", "15"},  {"k: 1e15", "1000000000000000"},
      {"k: 0.1", "0.1"},   {"k: 1e21", "1e21"}, {"k: -2.5", "-2.5"},
      {"k: 1e-7", "1e-7"},
  };
  expect_values(kRows);
}

TEST(YamlJson, NumbersThatOnlyGoYamlHasAreRefused) {
  for (const std::string_view yaml :
       {"k: 0O17", "k: -0O17", "k: 0B11", "k: 0b-1", "k: +9223372036854775808", "k: +0b1", "k: -_1",
        "k: 0_x1f", "k: 1_e3", "k: 0_b1", "k: 0x1_", "k: 1:3_0"})
    EXPECT_TRUE(is_refused(yaml)) << yaml;
}

/// Go writes the shortest digits of it, and zeros behind them: 570286727066319170.
TEST(YamlJson, ALargeFloatThatWouldBecomeAnotherIntegerIsRefused) {
  EXPECT_TRUE(is_refused("k: 570286727066319194."));
  EXPECT_TRUE(is_refused("k: -1e18"));
  EXPECT_FALSE(is_refused("k: 570286727066319194"));
}

/// sigs.k8s.io/yaml makes texts of keys, from their values.
TEST(YamlJson, AKeyThatKubectlWritesInAnotherWayIsRefused) {
  for (const std::string_view key :
       {"0x10",    "010", "1.10", "True",       "yes",
        "on",      "y",   "N",    "+1",         "1e3",
        "1.0",     ".5",  "-0",   "1_0",        "1234567.5",
        "0.00001", "~",   "null", "16777217.5", "18446744073709551615"})
    EXPECT_TRUE(is_refused(std::string(key) + ": a")) << key;
  for (const std::string_view key : {"0x10", "1.10", "True", "on", "null"})
    EXPECT_FALSE(is_refused("\"" + std::string(key) + "\": a")) << key;
}

TEST(YamlJson, AKeyThatKubectlWritesAsItIsStays) {
  for (const std::string_view key : {"8080", "-1", "true", "1.5", "-10.25", "1.2.3", "a"}) {
    const auto documents = read_yaml(std::string(key) + ": a");
    ASSERT_TRUE(documents) << key;
    EXPECT_TRUE(documents->front().value.get_object().contains(key)) << key;
  }
}

}  // namespace
}  // namespace wardmote::codec
