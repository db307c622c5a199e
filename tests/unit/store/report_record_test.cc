#include "store/report_record.h"

#include <gtest/gtest.h>

#include <chrono>

#include "judge/report/reporters.h"

namespace wardmote::store {
namespace {

using namespace std::chrono_literals;

TEST(ReportRecord, ComesBackAsItWas) {
  for (const judge::Report& report : {judge::Report{.live = true, .ready = false, .detail = "a"},
                                      judge::Report{.live = false, .ready = true, .timeout = 2s},
                                      judge::Report{.live = false, .timeout = 0s}}) {
    const auto back = decode_report(encode(report));
    ASSERT_TRUE(back);
    EXPECT_EQ(*back, report);
  }
}

TEST(ReportRecord, WhatSaysNothingIsNone) {
  for (const char* const text : {"", "[]", "{}", R"({"live":true})", R"({"ready":true})"})
    EXPECT_FALSE(decode_report(text)) << text;
}

}  // namespace
}  // namespace wardmote::store
