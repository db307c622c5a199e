#include "codec/report_message.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace wardmote::codec {
namespace {

using namespace std::chrono_literals;

TEST(ReportMessage, AsJson) {
  EXPECT_EQ(
      parse_report_message(R"({"live":true,"ready":false,"detail":"no leader","timeout":"30s"})")
          .value(),
      (ReportMessage{true, false, "no leader", 30s}));
  EXPECT_EQ(parse_report_message(" {}\n").value(), ReportMessage{});
  EXPECT_EQ(parse_report_message(R"({"timeout":"0s"})")->timeout, 0s);
  for (const std::string_view bad :
       {R"({"live":1})", R"({"live":"true"})", R"({"raedy":true})", R"({"detail":7})",
        R"({"timeout":"soon"})", R"({"timeout":30})", "{", "{} {}", R"({"a":[[[[[[1]]]]]]})"}) {
    EXPECT_EQ(parse_report_message(bad).error().code, Errc::kProtocol) << bad;
  }
}

TEST(ReportMessage, AsSdNotify) {
  EXPECT_EQ(parse_report_message("READY=1\nSTATUS=Serving\nMAINPID=412").value(),
            (ReportMessage{true, true, "Serving", {}}));
  EXPECT_EQ(parse_report_message("WATCHDOG=1\n").value(), (ReportMessage{true, {}, {}, {}}));
  EXPECT_EQ(parse_report_message("WATCHDOG=trigger").value(), (ReportMessage{false, {}, {}, {}}));
  EXPECT_EQ(parse_report_message("STOPPING=1")->ready, false);
  EXPECT_EQ(parse_report_message("RELOADING=1\nMONOTONIC_USEC=5")->ready, false);
  EXPECT_EQ(parse_report_message("WATCHDOG_USEC=20000000")->timeout, 20s);
  EXPECT_EQ(parse_report_message("X_ANYTHING=a=b").value(), ReportMessage{});
  for (const std::string_view bad : {"", "\n\n", "READY", "WATCHDOG_USEC=x", "WATCHDOG_USEC=-1",
                                     "WATCHDOG_USEC=99999999999999999999"}) {
    EXPECT_EQ(parse_report_message(bad).error().code, Errc::kProtocol) << bad;
  }
}

TEST(ReportMessage, Caps) {
  EXPECT_EQ(parse_report_message(std::string((16 << 10) + 1, 'x')).error().code, Errc::kLimit);
  EXPECT_EQ(parse_report_message("STATUS=" + std::string(10'000, 'x'))->detail->size(), 4096U);
}

}  // namespace
}  // namespace wardmote::codec
