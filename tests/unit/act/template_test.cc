#include "act/notify/template.h"

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <string>

#include <gtest/gtest.h>

namespace wardmote::act::notify {
namespace {

namespace json = boost::json;

json::object notice() {
  return json::parse(R"({"title": "a \"b\"", "status": "open", "number": 3, "repeats": false,
      "left_out": 0, "labels": {"node": "ctl-1"}, "severity": "critical", "incidents": [
      {"id": 1, "severity": "critical", "labels": {"root": "r1"}, "names": ["a", "b"],
       "acknowledged_by": null},
      {"id": 2, "severity": "warning", "labels": {"root": "r2"}, "names": [],
       "acknowledged_by": "ann"}]})")
      .as_object();
}

std::string filled(const std::string& text, TemplateOf kind = TemplateOf::kPlainText) {
  EXPECT_TRUE(check_template(text)) << text;
  return fill_template(text, notice(), kind);
}

TEST(Template, UnknownFieldsAreNamed) {
  EXPECT_TRUE(check_template("plain"));
  EXPECT_TRUE(check_template("{{title}} {{labels.anything}} {{ severity }}"));
  EXPECT_TRUE(check_template("not closed {{title"));
  const auto wrong = check_template("{{titel}}");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().context, "'titel' is not a field of a notice");
  EXPECT_FALSE(check_template("{{labels.}}"));
  EXPECT_FALSE(check_template("{{summary}}")) << "an incident's, and there is no incident here";
  EXPECT_TRUE(check_template("{{#incidents}}{{summary}}{{/incidents}}"));
  EXPECT_FALSE(check_template("{{first}}"));
  EXPECT_FALSE(check_template("{{.}}"));
}

TEST(Template, SectionsMustBeClosedInOrder) {
  for (const char* const text : {"{{#status}}x", "{{/status}}", "{{#status}}{{/title}}",
                                 "{{#status}}{{^title}}{{/status}}{{/title}}"}) {
    EXPECT_FALSE(check_template(text)) << text;
  }
  std::string deep;
  for (int i = 0; i < 9; ++i) deep += "{{#status}}";
  for (int i = 0; i < 9; ++i) deep += "{{/status}}";
  EXPECT_FALSE(check_template(deep));
}

TEST(Template, AListInsideItselfIsRefused) {
  EXPECT_FALSE(check_template("{{#incidents}}{{#incidents}}x{{/incidents}}{{/incidents}}"));
  EXPECT_FALSE(
      check_template("{{#incidents}}{{#names}}{{#names}}x{{/names}}{{/names}}{{/incidents}}"));
}

TEST(Template, AListIsWrittenItemByItem) {
  EXPECT_EQ(filled("{{#incidents}}{{id}} {{labels.root}}{{^last}}, {{/last}}{{/incidents}}"),
            "1 r1, 2 r2");
  EXPECT_EQ(
      filled("{{#incidents}}{{#names}}[{{.}}]{{/names}}{{^names}}none{{/names}};{{/incidents}}"),
      "[a][b];none;");
  EXPECT_EQ(filled("{{#incidents}}{{#first}}first {{/first}}{{title}} {{/incidents}}"),
            "first a \"b\" a \"b\" ")
      << "what an incident has not is the notice's";
}

TEST(Template, ConditionsAskForTruthOrAValue) {
  EXPECT_EQ(filled("{{#status=open}}it burns{{/status}}{{#status=resolved}}over{{/status}}"),
            "it burns");
  EXPECT_EQ(filled("{{^status=open}}over{{/status}}"), "");
  EXPECT_EQ(filled("{{#number=3}}three{{/number}}"), "three");
  EXPECT_EQ(filled("{{#repeats}}again{{/repeats}}{{^repeats}}new{{/repeats}}"), "new");
  EXPECT_EQ(filled("{{#left_out}}and {{left_out}} more{{/left_out}}"), "") << "0 is nothing";
  EXPECT_EQ(filled("{{#labels.node}}on {{labels.node}}{{/labels.node}}{{#labels.x}}x{{/labels.x}}"),
            "on ctl-1");
  EXPECT_EQ(filled("{{#incidents}}{{#acknowledged_by}}{{id}}: {{acknowledged_by}}"
                   "{{/acknowledged_by}}{{/incidents}}"),
            "2: ann");
}

TEST(Template, ATextIsEscapedInJsonOnly) {
  EXPECT_EQ(filled("{{title}}"), "a \"b\"");
  EXPECT_EQ(filled("{\"t\": \"{{title}}\"}", TemplateOf::kJson), "{\"t\": \"a \\\"b\\\"\"}");
  EXPECT_EQ(filled("{{labels}}", TemplateOf::kJson), R"({"node":"ctl-1"})");
}

TEST(Template, ALongResultStops) {
  json::object big = notice();
  json::array& incidents = big["incidents"].emplace_array();
  for (int i = 0; i < 100; ++i)
    incidents.emplace_back(json::object{{"id", i}, {"summary", std::string(1000, 'x')}});
  std::string many = "{{#incidents}}";
  for (int i = 0; i < 100; ++i) many += "{{summary}}";
  many += "{{/incidents}}";
  EXPECT_LE(fill_template(many, big).size(), (1U << 20U) + 1000U);
}

}  // namespace
}  // namespace wardmote::act::notify
