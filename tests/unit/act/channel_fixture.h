#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "judge/incident/incident.h"
#include "judge/notify/notice.h"
#include "runtime/deadline.h"
#include "runtime/http.h"
#include "runtime/http_client.h"
#include "runtime/task.h"
#include "sim/sim_runtime.h"
#include "sim/world.h"

namespace wardmote::act::notify {

// The words of all tests of channels.
using judge::incident::Phase;
using judge::notify::Notice;
using judge::notify::NoticeItem;
using judge::notify::NoticeKind;
using runtime::Deadline;
using runtime::HttpCall;
using runtime::HttpResponse;
using runtime::Task;
using sim::SimRuntime;
using sim::World;

/// A simulated host, and what is to be told there.
class ChannelTest : public ::testing::Test {
 protected:
  /// Empty: there is none.
  static std::string header(const HttpCall& call, std::string_view name) {
    for (const auto& [each, value] : call.headers) {
      if (each == name) return value;
    }
    return {};
  }

  World world{1};
  SimRuntime& us = world.host("us");
  Notice notice;
};

}  // namespace wardmote::act::notify
