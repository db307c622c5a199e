#include "daemon/config_command.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>
#include <boost/json/parse.hpp>

#include "config/config.h"
#include "config/effective.h"
#include "config/yaml.h"
#include "observe/kinds.h"

namespace wardmote::daemon {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFile =
    "# what ctl-1 watches\n"
    "clusters:\n"
    "  - name: nb\n"
    "    ovn:\n"
    "      database: OVN_Northbound\n"
    "      members: [{name: ctl-1, control: /run/1.ctl}]\n"
    "checks: [{name: a, tcp: {address: 127.0.0.1:1}, every: 1000ms}]\n";

class ConfigCommandTest : public ::testing::Test {
 protected:
  ConfigCommandTest() { fs::create_directories(folder_); }
  ~ConfigCommandTest() override { fs::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }
  [[nodiscard]] std::string read(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(folder_ / name).rdbuf();
    return text.str();
  }
  ConfigAnswer run(ConfigOrder order) { return run_config(order, files_, overrides_); }

  const fs::path folder_ =
      fs::temp_directory_path() / ("wardmote-config-" + std::to_string(::getpid()));
  config::LocalFiles files_;
  config::Environment overrides_;
};

TEST_F(ConfigCommandTest, CheckSaysOkOrEveryProblem) {
  const std::string good = write("good.yaml", kFile);
  EXPECT_EQ(run({ConfigVerb::kCheck, {good}}).output, "ok\n");
  const std::string bad = write("bad.yaml", "chekcs: []\nnode: {nmae: x}\n");
  const ConfigAnswer answer = run({ConfigVerb::kCheck, {bad}});
  EXPECT_EQ(answer.exit_code, 65);
  EXPECT_TRUE(answer.errors.starts_with(bad + ":1:1: unknown key 'chekcs'")) << answer.errors;
  EXPECT_TRUE(answer.errors.contains("\n" + bad + ":2:8: unknown key 'nmae'")) << answer.errors;
}

/// Else the start refuses what the check has called good.
TEST_F(ConfigCommandTest, CheckReadsTheFilesOfTokensAsTheStartDoes) {
  const std::string token = write("good.token", "0123456789abcdef0123456789abcdef\n");
  const std::string shorter = write("short.token", "short\n");
  const std::string nowhere = folder_ / "none.token";
  const auto with = [&](const std::string& tokens) {
    return run(
        {ConfigVerb::kCheck,
         {write("tokens.yaml", "api: {socket: /run/a.sock, tokens: [" + tokens + "]}\n" + kFile)}});
  };
  EXPECT_EQ(with("{name: a, role: viewer, file: " + token + "}").output, "ok\n");
  const ConfigAnswer answer = with("{name: a, role: viewer, file: " + shorter +
                                   "}, {name: b, role: admin, file: " + nowhere + "}");
  EXPECT_EQ(answer.exit_code, 65);
  EXPECT_TRUE(answer.errors.contains("token a: " + shorter + ": holds no token")) << answer.errors;
  EXPECT_TRUE(answer.errors.contains("token b: " + nowhere + ": cannot be read"))
      << "all of them, not the first: " << answer.errors;
  const ConfigAnswer group =
      run({ConfigVerb::kCheck,
           {write("group.yaml",
                  std::string("api: {socket: /run/a.sock, groups: {no-such-group: admin}}\n") +
                      kFile)}});
  EXPECT_EQ(group.exit_code, 65);
  EXPECT_TRUE(group.errors.contains("no group is named 'no-such-group'")) << group.errors;
}

TEST_F(ConfigCommandTest, CheckLooksForTheFolderAndTheSecretsOfReceivers) {
  const auto with = [&](const std::string& more) {
    return run({ConfigVerb::kCheck, {write("around.yaml", more + kFile)}});
  };
  const std::string folder = folder_;
  EXPECT_EQ(with("data: " + folder + "\n").output, "ok\n");
  const ConfigAnswer missing = with("data: " + folder + "/none\n");
  EXPECT_EQ(missing.exit_code, 65);
  EXPECT_TRUE(missing.errors.contains("/none: there is no such folder; create it"))
      << missing.errors;
  EXPECT_TRUE(missing.errors.contains("install -d -m 0750")) << missing.errors;
  const std::string file = write("a-file", "");
  EXPECT_TRUE(with("data: " + file + "\n").errors.contains("is not a folder"));
  const ConfigAnswer secrets = with(
      "notify:\n  receivers:\n"
      "    - {name: one, webhook: {url: 'http://127.0.0.1:1/', secret_file: /nope/one}}\n"
      "    - {name: two, alertmanager: {urls: ['http://127.0.0.1:1'], token_file: /nope/two}}\n"
      "  routes: [{receiver: one}, {receiver: two}]\n");
  EXPECT_EQ(secrets.exit_code, 65);
  EXPECT_TRUE(secrets.errors.contains("receiver one: /nope/one")) << secrets.errors;
  EXPECT_TRUE(secrets.errors.contains("receiver two: /nope/two")) << "all: " << secrets.errors;
}

TEST_F(ConfigCommandTest, CheckKnowsTheLabelsThatIncidentsHave) {
  const auto with = [&](const std::string& labels) {
    return run({ConfigVerb::kCheck,
                {write("labels.yaml",
                       "node: {name: n, labels: {rack: r1}}\nnotify:\n  receivers: "
                       "[{name: a, log: {}}]\n  routes: [{receiver: a, group_by: [" +
                           labels + "]}]\n" + kFile)}});
  };
  EXPECT_EQ(with("cluster, code, rack").output, "ok\n") << with("cluster, code, rack").errors;
  const ConfigAnswer answer = with("foo");
  EXPECT_EQ(answer.exit_code, 65);
  EXPECT_TRUE(answer.errors.contains("no incident has the label 'foo'; there are cluster"))
      << answer.errors;
}

TEST_F(ConfigCommandTest, CheckShowsWhatTheFileAndWhatTheProbesRefuseTogether) {
  const std::string bad = write("both.yaml",
                                "chekcs: []\n"
                                "checks:\n"
                                "  - {name: a, http: {url: 'ftp://x/'}}\n"
                                "  - {name: b, tcp: {}}\n"
                                "  - {name: c, tcp: {address: nonsense}}\n");
  const ConfigAnswer answer = run({ConfigVerb::kCheck, {bad}});
  EXPECT_EQ(answer.exit_code, 65);
  for (const char* part : {"unknown key 'chekcs'", "check 'a'", ":4:", "address 'nonsense'"})
    EXPECT_TRUE(answer.errors.contains(part)) << part << "\n" << answer.errors;
  EXPECT_FALSE(answer.errors.contains("check 'b'")) << "said already: " << answer.errors;
}

TEST_F(ConfigCommandTest, ShowPrintsWhatTheFilesSayTogether) {
  write("more.yaml", "checks: [{name: b, tcp: {address: 127.0.0.1:2}}]\n");
  const std::string file = write("main.yaml", std::string("include: [more.yaml]\n") + kFile);
  overrides_ = {{"WARDMOTE_NODE_NAME", "me"}};
  EXPECT_EQ(run({ConfigVerb::kShow, {file}}).output,
            "clusters:\n"
            "  - name: nb\n"
            "    ovn:\n"
            "      database: OVN_Northbound\n"
            "      members:\n"
            "        - name: ctl-1\n"
            "          control: /run/1.ctl\n"
            "checks:\n"
            "  - name: a\n"
            "    tcp:\n"
            "      address: \"127.0.0.1:1\"\n"
            "    every: 1000ms\n"
            "  - name: b\n"
            "    tcp:\n"
            "      address: \"127.0.0.1:2\"\n"
            "node:\n"
            "  name: me\n");
}

TEST_F(ConfigCommandTest, TheEffectiveConfigurationIsTheSameWhenReadAgain) {
  const std::string file = write("a.yaml", kFile);
  const std::string shown =
      run({.verb = ConfigVerb::kShow, .files = {file}, .effective = true}).output;
  for (const char* line :
       {"  listen: tcp:127.0.0.1:9470\n", "    every: 1s\n", "    timeout: 900ms\n",
        "    fall: 3\n", "    optional: false\n", "    unknown_limit: 1m\n",
        "gates:\n  ready:\n    all:\n      - nb\n      - a\n"}) {
    EXPECT_TRUE(shown.contains(line)) << line << "\nin\n" << shown;
  }
  auto before = config::parse_config(kFile, observe::probe_kinds());
  auto after = config::parse_config(shown, observe::probe_kinds());
  ASSERT_TRUE(before && after);
  for (std::size_t i = 0; i < 2; ++i) before->checks.at(i).at = after->checks.at(i).at;
  EXPECT_EQ(before->clusters, after->clusters);
  EXPECT_EQ(before->checks, after->checks);
  EXPECT_EQ(before->api, after->api);
  EXPECT_EQ(before->gates, after->gates);
  const std::string again = write("b.yaml", shown);
  EXPECT_EQ(run({.verb = ConfigVerb::kShow, .files = {again}, .effective = true}).output, shown);
}

TEST_F(ConfigCommandTest, DiffTellsWhatAChangeWouldMean) {
  const std::string from = write("from.yaml", kFile);
  EXPECT_EQ(run({ConfigVerb::kDiff, {from, from}}).exit_code, 0);
  const std::string same = write("same.yaml",
                                 "checks: [{tcp: {address: 127.0.0.1:1}, name: a, every: 1s}]\n"
                                 "clusters: [{name: nb, every: 1s, ovn: {database: OVN_Northbound, "
                                 "members: [{name: ctl-1, control: /run/1.ctl}]}}]\n"
                                 "gates: {ready: {all: [nb, a]}}\n");
  EXPECT_EQ(run({ConfigVerb::kDiff, {from, same}}).output, "");
  const std::string to =
      write("to.yaml",
            "checks:\n"
            "  - {name: a, tcp: {address: 127.0.0.1:2}, every: 2s, timeout: 900ms}\n"
            "  - {name: b, tcp: {address: 127.0.0.1:1}}\n");
  const ConfigAnswer answer = run({ConfigVerb::kDiff, {from, to}});
  EXPECT_EQ(answer.exit_code, 1);
  EXPECT_EQ(answer.output,
            "~ check a\n"
            "    every: 1s -> 2s\n"
            "    tcp.address: 127.0.0.1:1 -> 127.0.0.1:2\n"
            "+ check b\n"
            "~ gate ready\n"
            "    all: [\"nb\",\"a\"] -> [\"a\",\"b\"]\n"
            "- cluster nb\n");
  EXPECT_EQ(run({ConfigVerb::kDiff, {from, "none.yaml"}}).exit_code, 65);
}

TEST_F(ConfigCommandTest, FmtLaysOutAndKeepsComments) {
  const std::string untidy =
      "\n\n# what ctl-1 watches  \r\nchecks:   \n\n\n\n  - {name: a, tcp: {address: 127.0.0.1:1}}  "
      "# here\n\n";
  const std::string tidy =
      "# what ctl-1 watches\nchecks:\n\n  - {name: a, tcp: {address: 127.0.0.1:1}}  # here\n";
  const std::string file = write("a.yaml", untidy);
  EXPECT_EQ(run({ConfigVerb::kFormat, {file}}).output, tidy);
  EXPECT_EQ(read("a.yaml"), untidy) << "only printed";
  fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read);
  fs::create_symlink("a.yaml", folder_ / "link.yaml");
  const std::string link = folder_ / "link.yaml";
  EXPECT_EQ(run({.verb = ConfigVerb::kFormat, .files = {link}, .write = true}).exit_code, 0);
  EXPECT_EQ(read("a.yaml"), tidy);
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(fs::status(file).permissions(),
            fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 2) << "nothing is left beside it";
}

TEST_F(ConfigCommandTest, FmtRefusesWhatWouldChangeItsMeaning) {
  const std::string block = write("a.yaml", "node:\n  labels:\n    text: |\n      a  \n      b\n");
  EXPECT_EQ(run({ConfigVerb::kFormat, {block}}).exit_code, 65);
  EXPECT_EQ(run({ConfigVerb::kFormat, {write("b.yaml", "node: {\n")}}).exit_code, 65);
}

TEST_F(ConfigCommandTest, ShowHidesWhatAReceiversAddressMayTell) {
  config::Problems problems;
  const auto document = config::parse_yaml(
      "notify:\n"
      "  receivers:\n"
      "    - {name: a, webhook: {url: 'https://h:8443/hooks/s3cret?k=v', token_file: /etc/t}}\n"
      "    - {name: b, alertmanager: {urls: ['http://am:9093', 'http://u:p@am-2:9093/s3cret']}}\n"
      "    - {name: c, masakari: {url: http://m/v1, keystone: {url: 'https://k/s3cret/v3'}}}\n"
      "    - {name: d, kubernetes: {server: 'https://u:p@k8s:6443'}}\n",
      {}, problems);
  EXPECT_EQ(config::to_json(document.root), boost::json::parse(R"json({"notify": {"receivers": [
      {"name": "a", "webhook": {"url": "https://h:8443/(hidden)", "token_file": "/etc/t"}},
      {"name": "b", "alertmanager": {"urls": ["http://am:9093", "http://am-2:9093/(hidden)"]}},
      {"name": "c", "masakari": {"url": "http://m/v1",
                                 "keystone": {"url": "https://k/(hidden)"}}},
      {"name": "d", "kubernetes": {"server": "https://k8s:6443"}}]}})json"));
}

TEST_F(ConfigCommandTest, ShowHidesTheHeadersThatOpenDoors) {
  config::Problems problems;
  const auto document = config::parse_yaml(
      "http: {url: http://h/, header: ['Host: h', 'authorization: Basic eDp5', 'X-Api-Key: k', "
      "'Cookie: c', 'X-Auth-Token: t']}",
      {}, problems);
  EXPECT_EQ(config::to_json(document.root),
            boost::json::parse(R"json({"http": {"url": "http://h/", "header": ["Host: h",
                "authorization: (hidden)", "X-Api-Key: (hidden)", "Cookie: (hidden)",
                "X-Auth-Token: (hidden)"]}})json"));
}

TEST_F(ConfigCommandTest, SchemaIsJson) {
  EXPECT_TRUE(boost::json::parse(run({ConfigVerb::kSchema, {}}).output).is_object());
}

TEST_F(ConfigCommandTest, ImportTakesAllFilesOfAProgramAndNamesThemInNotes) {
  const std::string modules =
      write("blackbox.yml", "modules:\n  web: {prober: http}\n  odd: {prober: unix}\n");
  const std::string jobs = write(
      "prometheus.yml",
      "scrape_configs:\n  - metrics_path: /probe\n    params: {module: [web]}\n    "
      "static_configs: [{targets: ['http://10.0.0.1/']}]\n    relabel_configs: [{source_labels: "
      "[__address__], target_label: __param_target}]\n");
  const ConfigAnswer made = run({ConfigVerb::kImport, {modules, jobs}});
  EXPECT_EQ(made.exit_code, 0) << made.errors;
  EXPECT_TRUE(made.errors.contains("note: " + modules + ": line 3: module odd: left out"))
      << made.errors;
  EXPECT_EQ(run({ConfigVerb::kCheck, {write("made.yaml", made.output)}}).output, "ok\n");
  const std::string monit = write("monitrc", "set daemon 5\n");
  const ConfigAnswer mixed = run({ConfigVerb::kImport, {modules, monit}});
  EXPECT_EQ(mixed.exit_code, 65);
  EXPECT_TRUE(mixed.errors.contains("import them one after the other")) << mixed.errors;
  const ConfigAnswer none = run({ConfigVerb::kImport, {write("none", "what is this\n")}});
  EXPECT_TRUE(none.errors.contains("not a file that can be imported. These can:\n  masakari"))
      << none.errors;
}

}  // namespace
}  // namespace wardmote::daemon
