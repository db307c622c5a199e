#include "codec/ovsdb.h"

#include <gtest/gtest.h>

#include <cstring>

#include "support/ovn_captures.h"

namespace wardmote::codec {
namespace {

/// A reader that holds one message.
struct Said {
  explicit Said(std::string_view bytes) {
    while (!bytes.empty()) {
      const std::span<char> room = reader.room();
      const std::size_t size = std::min(room.size(), bytes.size());
      std::memcpy(room.data(), bytes.data(), size);
      reader.received(size);
      bytes.remove_prefix(size);
    }
    Result<std::optional<RpcMessage>> next = reader.next();
    EXPECT_TRUE(next && *next);
    if (next && *next) message = **next;
  }
  JsonRpcReader reader;
  RpcMessage message;
};

Result<std::optional<ServerRow>> row_in(std::string_view reply) {
  return read_server_row(Said(reply).message);
}

/// What `ovsdb-client query` printed in a capture, in the order of the members.
std::vector<ServerRow> rows_of(std::string_view capture) {
  std::vector<ServerRow> rows;
  for (const std::string& line : testing::lines_after(capture, "")) {
    if (!line.starts_with("[{\"rows\":")) continue;
    const auto row = parse_query_output(line);
    EXPECT_TRUE(row.has_value()) << (row ? "" : row.error().describe());
    if (row && *row) rows.push_back(**row);
  }
  return rows;
}

/// The messages of a push capture, in order: `SECONDS {json}`.
std::vector<std::string> pushed(std::string_view capture) {
  std::vector<std::string> messages;
  for (const std::string& line : testing::lines_after(capture, "")) {
    const std::size_t brace = line.find('{');
    if (brace != std::string::npos) messages.push_back(line.substr(brace));
  }
  return messages;
}

TEST(ServerRow, HealthyLeaderAndFollower) {
  const std::vector<ServerRow> rows = rows_of("01-healthy.txt");
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_TRUE(rows[0].leader);
  EXPECT_TRUE(rows[0].connected);
  EXPECT_EQ(rows[0].cluster_id, "b563dad3-5d5e-4b38-a150-859542fb32c9");
  EXPECT_EQ(rows[0].server_id, "dea645fa-f66d-419f-89d2-9ef5ed65767e");
  EXPECT_EQ(rows[0].index, 4U);
  EXPECT_FALSE(rows[1].leader);
}

TEST(ServerRow, JoiningHasNoIndexAndMaybeAZeroCluster) {
  const ServerRow stuck = rows_of("22-joining-stuck.txt").at(0);
  EXPECT_EQ(stuck.cluster_id, "00000000-0000-0000-0000-000000000000");
  EXPECT_EQ(stuck.index, std::nullopt);
  EXPECT_FALSE(stuck.connected);
  const ServerRow adding = rows_of("32-adding-phase.txt").at(1);
  EXPECT_EQ(adding.cluster_id, "dc92f2a5-6b40-4558-9fbe-b9e63cadebd6");
  EXPECT_EQ(adding.index, std::nullopt);
}

TEST(ServerRow, StandaloneAndRelay) {
  const ServerRow standalone = rows_of("27-standalone.txt").at(1);
  EXPECT_EQ(standalone.model, "standalone");
  EXPECT_TRUE(standalone.leader);
  EXPECT_EQ(standalone.cluster_id, "");
  EXPECT_EQ(standalone.server_id, "");
  const ServerRow relay = rows_of("28-relay.txt").at(1);
  EXPECT_EQ(relay.model, "relay");
  EXPECT_FALSE(relay.leader);
  EXPECT_TRUE(relay.connected);
}

TEST(ServerRow, NoRowsMeansTheDatabaseIsNotCarried) {
  const auto row = row_in(R"({"id":1,"result":[{"rows":[]}],"error":null})");
  ASSERT_TRUE(row.has_value());
  EXPECT_EQ(*row, std::nullopt);
}

TEST(ServerRow, AMissingColumnIsNeverFalse) {
  const auto row = row_in(
      R"({"id":1,"result":[{"rows":[{"leader":true,"cid":["set",[]],"sid":["set",[]],"index":4}]}]})");
  ASSERT_FALSE(row.has_value());
  EXPECT_EQ(row.error(), (Error{Errc::kProtocol, "_Server.Database: a row without connected"}));
}

TEST(ServerRow, ColumnsOfAnotherTypeAreRefused) {
  const auto code = [](std::string_view index, std::string_view cid) {
    const auto row = row_in(fmt::format(
        R"({{"id":1,"result":[{{"rows":[{{"leader":true,"connected":true,"cid":{},"sid":["set",[]],"index":{}}}]}}]}})",
        cid, index));
    return row ? Errc::kInternal : row.error().code;
  };
  EXPECT_EQ(code("4", R"(["uuid","b563dad3-5d5e-4b38-a150-859542fb32c9"])"), Errc::kInternal)
      << "this one is good";
  EXPECT_EQ(code("-4", R"(["set",[]])"), Errc::kProtocol);
  EXPECT_EQ(code("4.5", R"(["set",[]])"), Errc::kProtocol);
  EXPECT_EQ(code("4", R"("b563")"), Errc::kProtocol);
  EXPECT_EQ(code("4", R"(["uuid"])"), Errc::kProtocol);
  EXPECT_EQ(code("4", R"(["named-uuid","x"])"), Errc::kProtocol);
}

TEST(ServerRow, RequestsAsOvsAcceptsThem) {
  EXPECT_EQ(
      select_server_row("OVN_Northbound"),
      R"(["_Server",{"op":"select","table":"Database","where":[["name","==","OVN_Northbound"]],)"
      R"("columns":["model","leader","connected","cid","sid","index"]}])");
  EXPECT_EQ(
      watch_server_row(MonitorFlavour::kMonitorCondSince, "OVN_Northbound"),
      R"(["_Server","wardmote",{"Database":[{"columns":["name","model","leader","connected","cid","sid"],)"
      R"("where":[["name","==","OVN_Northbound"]]}]},"00000000-0000-0000-0000-000000000000"])");
}

TEST(ServerRowTracker, FollowsALeaderChangeAsCaptured) {
  const std::vector<std::string> messages =
      pushed("06-push-monitor-member3-during-leader-kill.txt");
  ASSERT_GE(messages.size(), 2U);
  ServerRowTracker tracker("OVN_Northbound");
  ASSERT_TRUE(tracker.begin(MonitorFlavour::kMonitorCondSince, Said(messages[0]).message));
  ASSERT_TRUE(tracker.row().has_value());
  EXPECT_FALSE(tracker.row()->leader) << "a default value is omitted";
  EXPECT_TRUE(tracker.row()->connected);
  bool changed = false;
  for (std::size_t i = 1; i < messages.size(); ++i) {
    const Result<bool> applied = tracker.apply(Said(messages[i]).message);
    ASSERT_TRUE(applied.has_value()) << messages[i];
    changed = changed || *applied;
  }
  EXPECT_TRUE(changed);
  EXPECT_TRUE(tracker.row()->leader);
  EXPECT_EQ(tracker.row()->server_id, "1430fed6-ec54-4795-89a5-cf985d758750");
}

TEST(ServerRowTracker, LosesLeadershipThenConnection) {
  const std::vector<std::string> messages = pushed("11c-leader-survivor-push.txt");
  ServerRowTracker tracker("OVN_Northbound");
  ASSERT_TRUE(tracker.begin(MonitorFlavour::kMonitorCondSince, Said(messages.at(0)).message));
  EXPECT_TRUE(tracker.row()->leader);
  for (std::size_t i = 1; i < messages.size(); ++i)
    ASSERT_TRUE(tracker.apply(Said(messages[i]).message));
  EXPECT_FALSE(tracker.row()->leader);
  EXPECT_FALSE(tracker.row()->connected);
}

TEST(ServerRowTracker, AllThreeFlavoursBeginAlike) {
  // Replies 1 to 3 with id 2 or 3 in the capture: monitor, monitor_cond, monitor_cond_since.
  std::vector<std::string> replies;
  for (const std::string& line : testing::lines_after("04-raw-jsonrpc.txt", "<< ")) {
    if (line.contains("\"Database\":{")) replies.push_back(line);
  }
  ASSERT_EQ(replies.size(), 3U);
  std::vector<std::optional<ServerRow>> rows;
  for (const MonitorFlavour flavour : {MonitorFlavour::kMonitor, MonitorFlavour::kMonitorCond,
                                       MonitorFlavour::kMonitorCondSince}) {
    ServerRowTracker tracker("OVN_Northbound");
    ASSERT_TRUE(tracker.begin(flavour, Said(replies.at(rows.size())).message));
    rows.push_back(tracker.row());
    ASSERT_TRUE(rows.back().has_value());
    rows.back()->model.clear();  // only the plain monitor asked for it
  }
  EXPECT_EQ(rows[0], rows[1]);
  EXPECT_EQ(rows[0], rows[2]);
  EXPECT_EQ(rows[0]->server_id, "dea645fa-f66d-419f-89d2-9ef5ed65767e");
}

TEST(ServerRowTracker, DeletedReplacedAndForeignRows) {
  ServerRowTracker tracker("NB");
  ASSERT_TRUE(tracker.begin(
      MonitorFlavour::kMonitorCond,
      Said(R"({"id":1,"result":{"Database":{"u1":{"initial":{"name":"NB","leader":true}},)"
           R"("u9":{"initial":{"name":"_Server","connected":true}}}}})")
          .message));
  EXPECT_TRUE(tracker.row()->leader);
  EXPECT_FALSE(tracker.row()->connected);

  // A row replaced in one update, whichever comes first.
  auto applied = tracker.apply(
      Said(
          R"({"id":null,"method":"update2","params":["m",{"Database":{"u2":{"insert":{"name":"NB","connected":true}},)"
          R"("u1":{"delete":null}}}]})")
          .message);
  EXPECT_EQ(applied, true);
  EXPECT_TRUE(tracker.row()->connected);

  applied = tracker.apply(
      Said(
          R"({"id":null,"method":"update2","params":["m",{"Database":{"u9":{"modify":{"connected":false}}}}]})")
          .message);
  EXPECT_EQ(applied, false) << "another database's row";

  applied = tracker.apply(
      Said(
          R"({"id":null,"method":"update3","params":["m","0",{"Database":{"u2":{"delete":null}}}]})")
          .message);
  EXPECT_EQ(applied, true);
  EXPECT_EQ(tracker.row(), std::nullopt);

  applied = tracker.apply(
      Said(
          R"({"id":null,"method":"update","params":["m",{"Database":{"u3":{"new":{"name":"NB"}}}}]})")
          .message);
  EXPECT_EQ(applied, true);
  applied = tracker.apply(
      Said(
          R"({"id":null,"method":"update","params":["m",{"Database":{"u3":{"old":{"name":"NB"}}}}]})")
          .message);
  EXPECT_EQ(applied, true);
  EXPECT_EQ(tracker.row(), std::nullopt);
}

TEST(ServerRowTracker, MalformedUpdatesAreErrors) {
  ServerRowTracker tracker("NB");
  for (const std::string_view params :
       {R"([])", R"(["m","0",7])", R"(["m","0",{"Database":7}])",
        R"(["m","0",{"Database":{"u":7}}])", R"(["m","0",{"Database":{"u":{"insert":7}}}])",
        R"(["m","0",{"Database":{"u":{"insert":{"leader":"yes"}}}}])"}) {
    const auto applied = tracker.apply(
        Said(fmt::format(R"({{"id":null,"method":"update3","params":{}}})", params)).message);
    ASSERT_FALSE(applied.has_value()) << params;
    EXPECT_EQ(applied.error().code, Errc::kProtocol);
  }
}

TEST(DatabaseNames, OfAllThatAServerCarriesButItsOwn) {
  const auto names = parse_database_names(
      R"([{"rows":[{"name":"_Server"},{"name":"OVN_Southbound"},{"name":"OVN_Northbound"}]}])");
  ASSERT_TRUE(names.has_value());
  EXPECT_EQ(*names, (std::vector<std::string>{"OVN_Northbound", "OVN_Southbound"}));
  EXPECT_EQ(split_database_names("OVN_Northbound\n_Server\n"),
            std::vector<std::string>{"OVN_Northbound"});
  EXPECT_EQ(split_database_names(""), std::vector<std::string>());
}

TEST(DatabaseNames, AreFewAndShort) {
  std::string lines;
  for (int i = 0; i < 1000; ++i) lines += fmt::format("db{}\n", i);
  EXPECT_EQ(split_database_names(lines).size(), kMostDatabases);
  EXPECT_EQ(split_database_names(std::string(65, 'x')), std::vector<std::string>());
}

TEST(DatabaseNames, WhatIsNoListOfNamesIsAnError) {
  for (const char* text : {"", "[]", "7", R"([{"rows":7}])", R"([{"rows":[7]}])",
                           R"([{"rows":[{}]}])", R"([{"rows":[{"name":7}]}])"}) {
    EXPECT_EQ(parse_database_names(text).error().code, Errc::kProtocol) << text;
  }
}

}  // namespace
}  // namespace wardmote::codec
