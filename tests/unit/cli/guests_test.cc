#include <gtest/gtest.h>

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <string>
#include <vector>

#include "cli/exit_code.h"
#include "cli/explain/subject.h"
#include "cli/render/family.h"
#include "cli/render/guests.h"
#include "cli/render/style.h"
#include "cli/render/top.h"

namespace wardmote::cli {
namespace {

namespace json = boost::json;

// Two guests of a real host, as /api/v1/status has them.
constexpr const char* kStatus = R"({"guests":[
 {"guest":"instance-00000001","uuid":"00000000-0000-4000-8000-000000000001","instance":"web-1","flavor":"m1.small","project":"shop",
  "at":"2026-11-23T13:37:00.454Z","state":"reported","verdict":"GUEST_SPINNING","run":"running","channel":"connected","failures":7,
  "threshold":3,"booting":false,"since":"2026-11-23T13:37:01.632Z","last_answer":"2026-11-23T13:36:59.591Z","ping_ms":13,
  "findings":[{"code":"GUEST_SPINNING","severity":"critical","subjects":["instance-00000001"],"summary":"guest spins","evidence":[],
   "advice":null,"since":"2026-11-23T13:37:01.632Z","age_ms":5508}],"observed":[]},
 {"guest":"instance-00000002","uuid":"00000000-0000-4000-8000-000000000002","instance":null,"flavor":null,"project":null,
  "at":"2026-11-23T13:37:00.454Z","state":"error","verdict":"SILENT","run":"running","channel":"connected","failures":2,
  "threshold":3,"booting":false,"since":"2026-11-23T13:37:01.632Z","last_answer":null,"ping_ms":null,"findings":[],"observed":[]}]})";

const json::array& guests_of(const json::value& status) {
  return status.at("guests").as_array();
}

TEST(DrawGuests, HasALineForEach) {
  const json::value status = json::parse(kStatus);
  EXPECT_EQ(draw_guests(guests_of(status), {}),
            "GUEST              INSTANCE  VERDICT         STATE      RUN      CHANNEL    PING\n"
            "instance-00000001  web-1     GUEST_SPINNING  reported   running  connected  13ms\n"
            "instance-00000002  -         SILENT          error 2/3  running  connected  -\n");
  const std::string wide = draw_guests(guests_of(status), {.wide = true});
  EXPECT_TRUE(wide.contains("00000000-0000-4000-8000-000000000001")) << wide;
  EXPECT_TRUE(wide.contains("m1.small"));
  EXPECT_EQ(draw_guests({}, {}), "");
}

TEST(DrawGuests, TheExitCodeIsThatOfTheWorstFinding) {
  const json::value status = json::parse(kStatus);
  EXPECT_EQ(exit_of_guest(guests_of(status).at(0)), Exit::kCritical);
  EXPECT_EQ(exit_of_guest(guests_of(status).at(1)), Exit::kGood) << "not often enough to say";
  EXPECT_EQ(exit_of_guest(json::parse("7")), Exit::kGood);
}

TEST(DrawGuests, OddFieldsDoNoHarm) {
  const json::value odd = json::parse(
      R"([{"guest":7,"verdict":null,"failures":"x"},7,{"guest":"a\u001b[31mb","state":"error"}])");
  const std::string drawn = draw_guests(odd.as_array(), {});
  EXPECT_FALSE(drawn.contains('\x1b')) << drawn;
}

TEST(DrawGuests, TheirFindingsAreOnTheScreenOfTop) {
  const std::string drawn = draw_top(json::parse(kStatus), {});
  EXPECT_TRUE(drawn.contains("CRITICAL GUEST_SPINNING  instance-00000001")) << drawn;
}

TEST(DrawGuests, AreAmongTheNamesOfAllThings) {
  EXPECT_EQ(names_of_all(json::parse(kStatus)),
            (std::vector<std::string>{"guest/instance-00000001", "guest/instance-00000002"}));
}

TEST(ExplainGuest, ItIsKnownByEachOfItsNames) {
  const json::value status = json::parse(kStatus);
  for (const char* const name : {"instance-00000001", "00000000-0000-4000-8000-000000000001",
                                 "web-1", "guest:instance-00000001"}) {
    const auto explained = explain_subject(name, status);
    ASSERT_TRUE(explained) << name;
    EXPECT_EQ(explained->at("guests").as_array().size(), 1U) << name;
    EXPECT_EQ(explained->at("findings").as_array().size(), 1U) << name;
    EXPECT_EQ(explained->at("findings").at(0).at("guest"), "instance-00000001");
  }
  EXPECT_FALSE(explain_subject("instance-00000003", status));
}

}  // namespace
}  // namespace wardmote::cli
