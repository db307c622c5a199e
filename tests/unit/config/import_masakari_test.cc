#include "config/import/masakari.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "config/config.h"
#include "config/import/format.h"
#include "observe/kinds.h"
#include "support/test_data.h"

namespace wardmote::config {
namespace {

std::string read_text(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

Imported imported(std::string_view text) {
  const auto made = import_masakari(text);
  EXPECT_TRUE(made);
  return made.value_or(Imported());
}

Config config_of(const Imported& made) {
  auto config = parse_config(made.yaml, observe::probe_kinds());
  EXPECT_TRUE(config) << made.yaml;
  return config ? *std::move(config) : Config();
}

bool says(const Imported& made, std::string_view what) {
  return std::ranges::any_of(made.notes,
                             [&](const std::string& one) { return one.contains(what); });
}

/// The file as Debian's package has it (masakari-monitors-common 14.0.0-1.1, made by
/// oslo-config-generator from the options themselves), in which every option is commented out.
std::string sample() {
  return read_text(std::string(WARDMOTE_TEST_DATA) + "/masakari/masakarimonitors.conf");
}

/// The same with every option set to its default.
std::string sample_with_all() {
  std::string all;
  const std::string text = sample();
  for (const std::string_view line : split(text, '\n')) {
    const bool sets = line.starts_with('#') && line.contains(" =") && line.size() > 1 &&
                      line[1] >= 'a' && line[1] <= 'z' &&
                      !line.substr(1, line.find(" =") - 1).contains(' ');
    all += std::string(sets ? line.substr(1) : line) + "\n";
  }
  return all;
}

TEST(ImportMasakari, TheDefaultsOfTheOriginalAreItsDefaults) {
  const Config config = config_of(imported(sample()));
  ASSERT_TRUE(config.guests);
  EXPECT_TRUE(config.guests->policy.compat);
  EXPECT_EQ(config.guests->policy.interval, std::chrono::seconds(10));
  EXPECT_EQ(config.guests->policy.timeout, std::chrono::seconds(2));
  EXPECT_EQ(config.guests->policy.threshold, 3);
  EXPECT_EQ(config.guests->uri, "qemu:///system");
  EXPECT_EQ(config.guests->channel_path,
            "/var/lib/libvirt/qemu/org.qemu.guest_agent.*.instance-*.sock*");
  EXPECT_TRUE(says(imported(sample()), "there is no receiver")) << "nor can the original notify";
}

TEST(ImportMasakari, KnowsEveryOptionOfTheRealFile) {
  const std::string all = sample_with_all();
  EXPECT_GT(std::ranges::count(all, '='), 100) << "the options are set";
  const Imported made = imported(all);
  config_of(made);
  for (const std::string& note : made.notes) {
    EXPECT_FALSE(note.contains("no option that is known")) << note;
    EXPECT_FALSE(note.contains("neither an option")) << note;
  }
}

constexpr std::string_view kFile = R"([DEFAULT]
hostname = compute-1
[api]
auth_url = http://keystone:5000/v3/
username = masakari
password = not-to-be-copied
project_name = service
default_domain_name = Cloud
user_domain_id = default
api_interface = internal
cafile = /etc/ssl/ca.pem
timeout = 20
[introspectiveinstancemonitor]
guest_monitoring_interval: 5
guest_monitoring_timeout = 7
guest_monitoring_failure_threshold = 4
qemu_guest_agent_sock_path = '^/run/.*/org\.qemu\.guest_agent\.0\.instance-.+\.sock$'
[libvirt]
connection_uri = "qemu+tcp://localhost/system"
)";

TEST(ImportMasakari, TranslatesWhatTheFileSays) {
  EXPECT_EQ(imported(kFile).yaml, R"(data: /var/lib/wardmote
guests:
  uri: qemu+tcp://localhost/system
  every: 5s
  timeout: 5s
  threshold: 4
  rules: masakari
  channel_path: "/run/*/org.qemu.guest_agent.0.instance-*.sock"
notify:
  receivers:
    - name: masakari
      timeout: 20s
      masakari:
        host: compute-1
        trust: /etc/ssl/ca.pem
        keystone:
          region: RegionOne
          interface: internal
          url: http://keystone:5000/v3
          user: masakari
          project: service
          user_domain: Default
          project_domain: Cloud
          secret_file: /etc/wardmote/keystone.secret
        type: instance
  routes:
    - receiver: masakari
      match:
        - "scope=guest"
        - "code=GUEST_*"
      group_wait: 0s
      repeat_interval: 0s
)");
  config_of(imported(kFile));
}

TEST(ImportMasakari, NeverCopiesAPassword) {
  const Imported made = imported(kFile);
  EXPECT_FALSE(made.yaml.contains("not-to-be-copied"));
  EXPECT_FALSE(says(made, "not-to-be-copied"));
  EXPECT_TRUE(
      says(made, "the password is not copied: write it into /etc/wardmote/keystone.secret"));
}

TEST(ImportMasakari, SaysWhatItCouldNot) {
  const Imported made = imported(
      "[introspectiveinstancemonitor]\n"
      "qemu_guest_agent_sock_path = /run/(a|b)\\.sock\n"
      "guest_monitoring_interval = soon\n"
      "[callback]\nretry_max = 3\n"
      "[host]\nmonitoring_driver = consul\n"
      "[process]\nprocess_list_path = /x\n"
      "[api]\nusername = $who\nno_such = 1\nnothing at all\n");
  EXPECT_TRUE(says(made,
                   "line 2: [introspectiveinstancemonitor] qemu_guest_agent_sock_path: this "
                   "expression has no counterpart"));
  EXPECT_TRUE(says(made,
                   "line 3: [introspectiveinstancemonitor] guest_monitoring_interval: not a "
                   "whole number from 1 to 3600"));
  EXPECT_TRUE(says(made, "line 5: [callback] retry_max: no counterpart is needed"));
  EXPECT_TRUE(says(made, "line 7: [host] monitoring_driver: hosts are watched by the agents"));
  EXPECT_TRUE(says(made, "line 9: [process] process_list_path: write a check for each process"));
  EXPECT_TRUE(says(made, "line 11: [api] username: it refers to another option"));
  EXPECT_TRUE(says(made, "line 12: [api] no_such: no option that is known"));
  EXPECT_TRUE(says(made, "line 13: neither an option nor a group"));
  EXPECT_EQ(config_of(made).guests->channel_path, "") << "all agents rather than none";
}

TEST(ImportMasakari, AnAddressThatMayHoldAPasswordIsLeftOut) {
  const Imported made = imported(
      "[libvirt]\nconnection_uri = qemu+tcp://me:not-to-be-copied@h/system\n"
      "[api]\nauth_url = http://me:not-to-be-copied@k:5000\nusername = a\nproject_name = b\n");
  EXPECT_FALSE(made.yaml.contains("not-to-be-copied")) << made.yaml;
  for (const std::string line : {"2: [libvirt] connection_uri", "4: [api] auth_url"})
    EXPECT_TRUE(says(made, "line " + line + ": it may hold a password, which is not copied"));
}

/// The file comes from people: what the agent itself would refuse is left out, and said.
TEST(ImportMasakari, AnAddressThatTheAgentWouldRefuseIsLeftOut) {
  for (const std::string url : {"keystone:5000", "http://", "http:///v3", "https://k:0/v3",
                                "http://k:70000", "http://k k:5000"}) {
    const Imported made =
        imported("[api]\nauth_url = " + url + "\nusername = a\nproject_name = b\n");
    EXPECT_TRUE(says(made, "line 2: [api] auth_url: n")) << url;
    EXPECT_TRUE(config_of(made).notify.receivers.empty()) << url;
  }
}

TEST(ImportMasakari, TakesApplicationCredentialsAndNoLoginAtAll) {
  const Config by_credential = config_of(
      imported("[api]\nauth_section = login\n[login]\nauth_type = v3applicationcredential\n"
               "auth_url = https://k:5000\napplication_credential_id = 1a2b\n"
               "application_credential_secret = s\n"));
  EXPECT_EQ(by_credential.notify.receivers.size(), 1U);
  const Imported bare =
      imported("[api]\nauth_type = none\nendpoint_override = http://127.0.0.1:15868/v1\n");
  EXPECT_TRUE(bare.yaml.contains("url: http://127.0.0.1:15868/v1"));
  EXPECT_FALSE(bare.yaml.contains("keystone"));
  EXPECT_EQ(config_of(bare).notify.receivers.size(), 1U);
}

TEST(ImportFormat, IsKnownByTheTextAndNotByTheName) {
  const ImportFormat* const format = import_format_of(sample());
  ASSERT_NE(format, nullptr);
  EXPECT_EQ(format->name, "masakari");
  EXPECT_EQ(import_format_of("guests: {every: 10s}\n"), nullptr);
  EXPECT_EQ(import_format_of("[DEFAULT]\ndebug = true\n"), nullptr) << "any OpenStack service's";
  EXPECT_EQ(import_format_of(""), nullptr);
}

}  // namespace
}  // namespace wardmote::config
