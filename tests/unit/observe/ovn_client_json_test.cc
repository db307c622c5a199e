#include "observe/ovn/client_json.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <chrono>

#include "support/ovn_captures.h"

namespace wardmote::observe::ovn {
namespace {

using namespace std::chrono_literals;

TEST(ClientJson, IsWhatGoWritesOfTheOriginalsSnapshot) {
  HealthSnapshot snapshot;
  snapshot.local = ServerLocalView{true, true, "b563dad3-5d5e-4b38-a150-859542fb32c9",
                                   "dea645fa-f66d-419f-89d2-9ef5ed65767e", 4};
  snapshot.full = read_cluster_status(testing::statuses_of("01-healthy.txt").at(0), 10s).value();
  // The types and the tags of pkg/ovnstatus/ovnstatus.go, the values of the capture.
  EXPECT_EQ(boost::json::parse(to_json(snapshot)), boost::json::parse(R"({
    "DB": "OVN_Northbound",
    "Local": {"leader": true, "connected": true, "cid": "b563dad3-5d5e-4b38-a150-859542fb32c9",
              "sid": "dea645fa-f66d-419f-89d2-9ef5ed65767e", "index": 4},
    "Full": {"name": "OVN_Northbound", "role": "leader", "term": 1, "index": 4, "connected": true,
      "servers": [
        {"sid": "1430", "address": "tcp:127.0.0.1:16643", "role": "follower", "connected": true,
         "lastMsgMs": 336, "nextIndex": 5, "matchIndex": 4},
        {"sid": "dea6", "address": "tcp:127.0.0.1:16641", "role": "leader", "self": true,
         "connected": true, "nextIndex": 2, "matchIndex": 4},
        {"sid": "499b", "address": "tcp:127.0.0.1:16642", "role": "follower", "connected": true,
         "lastMsgMs": 336, "nextIndex": 5, "matchIndex": 4}]},
    "Errors": []})"));
}

TEST(ClientJson, AZeroThatIsKnownIsWrittenAndAnEmptyFieldIsNot) {
  HealthSnapshot snapshot;
  snapshot.database = Database::kSouthbound;
  snapshot.full = ClusterStatus{.name = "",
                                .role = "",
                                .servers = {{.sid = "1430",
                                             .address = "",
                                             .role = "",
                                             .last_message_ms = 0,
                                             .next_index = {},
                                             .match_index = {}}}};
  EXPECT_EQ(
      to_json(snapshot),
      R"({"DB":"OVN_Southbound","Local":null,"Full":{"servers":[{"sid":"1430","lastMsgMs":0}]},"Errors":[]})");
}

TEST(ClientJson, WhatIsMissingIsNullAndSaysWhy) {
  HealthSnapshot snapshot;
  snapshot.errors = {{ClientErrorCode::kQueryFailed, "ovsdb-client: \"refused\""}};
  EXPECT_EQ(
      to_json(snapshot),
      R"({"DB":"OVN_Northbound","Local":null,"Full":null,"Errors":[{"code":"query_failed","context":"ovsdb-client: \"refused\""}]})");
}

}  // namespace
}  // namespace wardmote::observe::ovn
