#include "codec/masakari.h"

#include <array>
#include <string>

#include <gtest/gtest.h>

namespace wardmote::codec {
namespace {

constexpr const char* kUuid = "00000000-0000-4000-8000-000000000001";

TEST(MasakariList, KnowsANotificationByItsInstanceAndItsTime) {
  const std::string body =
      R"({"notifications":[7,{"payload":{"event":"STOPPED","process_name":"libvirtd"}},
      {"generated_time":"2026-11-20T08:11:38.000000","type":"VM","payload":{"event":"LIFECYCLE",
       "instance_uuid":"00000000-0000-4000-8000-000000000001","vir_domain_event":"STOPPED_FAILED"}}]})";
  const std::array<std::string, 2> times = {"2026-11-20T08:11:37", "2026-11-20T08:11:38"};
  EXPECT_TRUE(lists_masakari_notification(body, kUuid, times));
  const std::array<std::string, 1> other = {"2026-11-20T08:11:39"};
  EXPECT_FALSE(lists_masakari_notification(body, kUuid, other));
  EXPECT_FALSE(lists_masakari_notification(body, "00000000-0000-4000-8000-000000000002", times));
  for (const char* const none : {"", "[]", "{}", R"({"notifications":{}})"})
    EXPECT_FALSE(lists_masakari_notification(none, kUuid, times)) << none;
}

}  // namespace
}  // namespace wardmote::codec
