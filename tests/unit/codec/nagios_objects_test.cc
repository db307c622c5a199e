#include "codec/nagios_objects.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace wardmote::codec {
namespace {

using Directives = std::vector<std::pair<std::string, std::string>>;

TEST(NagiosObjects, ReadsDefinitionsAsNagiosDoes) {
  const auto file = parse_nagios_objects(
      "# a comment\n"
      "define host {\n"
      "  host_name\tone   ; the name\n"
      "  # not this ; one\n"
      "  notes  a \\; b\n"
      "  alias  long \\\n"
      "         name\n"
      "}\n"
      "define service{\n  check_command  c!1!2\r\n}\n"
      "$USER1$=/usr/lib/nagios/plugins\n"
      "what is this\n");
  ASSERT_TRUE(file);
  ASSERT_EQ(file->objects.size(), 2U);
  EXPECT_EQ(file->objects[0].type, "host");
  EXPECT_EQ(file->objects[0].line, 2U);
  EXPECT_EQ(file->objects[0].directives,
            (Directives{{"host_name", "one"}, {"notes", "a ; b"}, {"alias", "long name"}}));
  EXPECT_EQ(file->objects[1].type, "service");
  EXPECT_EQ(file->objects[1].directives, (Directives{{"check_command", "c!1!2"}}));
  EXPECT_EQ(file->settings,
            (std::vector<NagiosSetting>{{"$USER1$", "/usr/lib/nagios/plugins", 12}}));
  EXPECT_EQ(file->broken, std::vector<std::size_t>{13});
}

TEST(NagiosObjects, SaysWhereADefinitionIsWrong) {
  const auto open = parse_nagios_objects("\ndefine host {\n host_name a\n");
  ASSERT_FALSE(open);
  EXPECT_EQ(open.error().context, "line 2: the definition does not end: add a line with }");
  const auto within = parse_nagios_objects("define host {\ndefine host {\n}\n");
  ASSERT_FALSE(within);
  EXPECT_TRUE(within.error().context.starts_with("line 2: a definition within the one of line 1"));
  const auto zero = parse_nagios_objects(std::string("a=b\nc\0d=e\n", 11));
  ASSERT_FALSE(zero);
  EXPECT_EQ(zero.error().context, "line 2: a zero byte");
  EXPECT_EQ(parse_nagios_objects(std::string(kLargestNagiosFile + 1, '#')).error().code,
            Errc::kLimit);
}

}  // namespace
}  // namespace wardmote::codec
