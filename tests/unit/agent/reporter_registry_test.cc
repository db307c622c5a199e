#include "agent/reports/reporter_registry.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "net/asio_runtime.h"
#include "net/unique_fd.h"

namespace wardmote::agent {
namespace {

using namespace std::chrono_literals;
using judge::Outcome;

class ReporterRegistryTest : public ::testing::Test {
 protected:
  ReporterRegistryTest() {
    std::string pattern = ::testing::TempDir() + "wardmote-registry-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
  }
  ~ReporterRegistryTest() override {
    runtime_.run(reporters_.stop());
    std::filesystem::remove_all(folder_);
  }

  config::Reporter felix(Duration timeout = 30s) {
    config::Reporter reporter{"felix", {.timeout = timeout}, {}};
    reporter.socket = runtime::Endpoint::unix_socket((folder_ / "felix").string());
    return reporter;
  }
  void reload(const std::vector<config::Reporter>& reporters) {
    auto sockets = reporters_.open(reporters);
    ASSERT_TRUE(sockets.has_value()) << (sockets ? "" : sockets.error().describe());
    reporters_.reload(reporters, *std::move(sockets));
  }
  Outcome outcome(std::string quality) {
    config::Check check;
    check.name = "felix." + quality;
    check.params["reporter"] = std::string("felix");
    check.params["quality"] = std::move(quality);
    const auto probe = reporters_.probe(check);
    const auto seen = net::run_task(runtime_, probe->look(runtime_.deadline_in(1s)));
    presumed_ = seen.presumed;
    return seen.outcome;
  }
  void send(std::string_view message) {
    const net::UniqueFd fd(::socket(AF_UNIX, SOCK_DGRAM, 0));
    sockaddr_un to{.sun_family = AF_UNIX, .sun_path = {}};
    std::strncpy(to.sun_path, (folder_ / "felix").c_str(), sizeof to.sun_path - 1);
    ASSERT_EQ(::sendto(fd.get(), message.data(), message.size(), 0,
                       reinterpret_cast<sockaddr*>(&to), sizeof to),
              static_cast<ssize_t>(message.size()));
    runtime_.run(until_heard(heard_.size()));
  }
  runtime::Task<void> until_heard(std::size_t before) {
    while (heard_.size() == before) co_await runtime_.sleep_until(runtime_.now() + 1ms);
  }
  serve::Ask ask(std::string_view name, std::string body) {
    request_.method = "PUT";
    request_.body = std::move(body);
    return {view_, request_, who_, name};
  }

  std::filesystem::path folder_;
  net::AsioRuntime runtime_;
  bool presumed_ = false;
  std::vector<std::string> heard_;
  ReporterRegistry reporters_{runtime_,
                              [this](std::string_view check) { heard_.emplace_back(check); }};
  serve::AgentView view_;
  runtime::HttpRequest request_;
  serve::Who who_;
};

TEST_F(ReporterRegistryTest, ADatagramIsHeardAtOnce) {
  reload({felix()});
  EXPECT_EQ(outcome("live"), Outcome::kOk);
  EXPECT_EQ(outcome("ready"), Outcome::kUnknown) << "nothing was said yet";
  send("READY=1\nSTATUS=in sync");
  EXPECT_EQ(heard_, (std::vector<std::string>{"felix.live", "felix.ready"}));
  EXPECT_EQ(outcome("ready"), Outcome::kOk);
  send(R"({"ready": false, "detail": "resyncing"})");
  EXPECT_EQ(outcome("ready"), Outcome::kFail);
  EXPECT_EQ(outcome("live"), Outcome::kOk) << "what is not said is as it was";
  EXPECT_EQ(reporters_.standings().at(0).report.detail, "resyncing");
}

TEST_F(ReporterRegistryTest, NonsenseChangesNothingAndTheNextIsHeard) {
  reload({felix()});
  send("READY=1");
  EXPECT_FALSE(reporters_.accept("felix", "nonsense").has_value());
  EXPECT_EQ(reporters_.accept("nobody", "READY=1").error().code, Errc::kMissing);
  EXPECT_EQ(outcome("ready"), Outcome::kOk);
  send("STOPPING=1");
  EXPECT_EQ(outcome("ready"), Outcome::kFail);
}

TEST_F(ReporterRegistryTest, AReloadKeepsWhatStaysTheSame) {
  reload({felix()});
  send("READY=1");
  reload({felix(), {"other", {}, {}}});
  EXPECT_EQ(outcome("ready"), Outcome::kOk);
  send("READY=1");
  reload({felix(60s)});
  EXPECT_EQ(outcome("ready"), Outcome::kOk) << "another rule: what it reported stays";
  reload({});
  EXPECT_EQ(outcome("ready"), Outcome::kUnknown);
  EXPECT_TRUE(reporters_.standings().empty());
}

TEST_F(ReporterRegistryTest, ThatItIsLiveBeforeItReportsIsPresumed) {
  reload({felix()});
  EXPECT_EQ(outcome("live"), Outcome::kOk);
  EXPECT_TRUE(presumed_);
  send("READY=1");
  EXPECT_EQ(outcome("live"), Outcome::kOk);
  EXPECT_FALSE(presumed_);
}

TEST_F(ReporterRegistryTest, TenThousandReportersLoseNothing) {
  constexpr int kReporters = 10'000;
  std::vector<config::Reporter> reporters(kReporters);
  for (int i = 0; i < kReporters; ++i) reporters[i].name = fmt::format("r{}", i);
  reload(reporters);
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < kReporters; ++i) {
      const bool ready = (i + round) % 2 == 0;
      const Result<void> accepted = reporters_.accept(
          reporters[i].name, fmt::format(R"({{"ready":{},"detail":"{} {}"}})", ready, i, round));
      ASSERT_TRUE(accepted) << accepted.error().describe();
    }
  }
  EXPECT_EQ(heard_.size(), 2U * 10 * kReporters);
  const auto standings = reporters_.standings();
  ASSERT_EQ(standings.size(), std::size_t{kReporters});
  for (const judge::ReporterStanding& standing : standings) {
    const int number = std::stoi(standing.name.substr(1));
    EXPECT_EQ(standing.ready(), (number + 9) % 2 == 0) << standing.name;
    EXPECT_EQ(standing.report.detail, fmt::format("{} 9", number));
  }
}

// It starved the agent.
TEST_F(ReporterRegistryTest, WhoFloodsHisSocketWaits) {
  reload({felix()});
  const TimePoint begun = runtime_.now();
  for (int i = 0; i < 101; ++i) send("READY=1");
  EXPECT_GE(runtime_.now() - begun, 1500ms) << "50 a second are read";
}

TEST_F(ReporterRegistryTest, OverHttp) {
  reload({felix()});
  const auto routes = reporters_.routes();
  const auto route = [&](std::string_view method, std::string_view path) {
    return *std::ranges::find_if(
        routes, [&](const serve::Route& one) { return one.method == method && one.path == path; });
  };
  const serve::Route put = route("PUT", "/api/v1/reporters/{name}");
  EXPECT_EQ(put.answer(ask("felix", R"({"live":true,"ready":true})")).status, 200);
  EXPECT_EQ(outcome("ready"), Outcome::kOk);
  EXPECT_EQ(put.answer(ask("nobody", "{}")).status, 404);
  EXPECT_EQ(put.answer(ask("felix", R"({"raedy":true})")).status, 400);
  EXPECT_EQ(put.answer(ask("felix", std::string(20'000, 'x'))).status, 413);
  const std::string list = route("GET", "/api/v1/reporters").answer(ask("", "")).body;
  EXPECT_TRUE(list.contains(R"("name":"felix","live":true,"ready":true)")) << list;
}

}  // namespace
}  // namespace wardmote::agent
