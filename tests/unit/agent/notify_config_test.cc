#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "agent/config/config.h"
#include "agent/receivers.h"
#include "sim/sim_runtime.h"
#include "sim/world.h"

namespace wardmote::agent::config {
namespace {

using namespace std::chrono_literals;
using Lines = std::vector<std::string>;

const std::string kChecks = "checks:\n- {name: a, tcp: {address: \"127.0.0.1:1\"}}\n";

auto parse(const std::string& yaml) {
  return parse_config(kChecks + yaml, observe::probe_kinds());
}

Lines complaints(const std::string& yaml) {
  Lines lines;
  const auto config = parse(yaml);
  if (config) return lines;
  for (const Problem& problem : config.error()) lines.push_back(describe("f", problem).substr(2));
  return lines;
}

constexpr const char* kWhole = R"(
notify:
  receivers:
    - name: oncall
      timeout: 5s
      webhook: {url: "https://h/x", secret_file: /s, token_file: /t, trust: /ca, body: '{"t": "{{title}}"}'}
    - {name: am, alertmanager: {urls: ["http://am-1:9093/", "http://am-2:9093"]}}
    - {name: pager, exec: {command: [/bin/page, now]}}
    - {name: journal, log: {}}
  routes:
    - {receiver: journal, continue: true}
    - {receiver: oncall, match: [severity=critical, "root!=check:x*"], group_by: [cluster, code],
       group_wait: 10s, group_interval: 1m, repeat_interval: 0s}
  maintenance:
    - {name: nightly, match: ["root=check:*"], days: [mon, sun], from: "22:30", for: 3h}
)";

TEST(NotifyConfig, ReadsAWholeSection) {
  const auto config = parse(kWhole);
  ASSERT_TRUE(config) << complaints(kWhole).front();
  const Notify& notify = config->notify;
  ASSERT_EQ(notify.receivers.size(), 4U);
  EXPECT_EQ(notify.receivers[0].kind, Receiver::Kind::kWebhook);
  EXPECT_EQ(notify.receivers[0].timeout, 5s);
  EXPECT_EQ(notify.receivers[0].secret_file, "/s");
  EXPECT_EQ(notify.receivers[1].urls, (Lines{"http://am-1:9093", "http://am-2:9093"}));
  EXPECT_EQ(notify.receivers[2].command, (Lines{"/bin/page", "now"}));
  ASSERT_EQ(notify.routes.size(), 2U);
  EXPECT_TRUE(notify.routes[0].go_on);
  EXPECT_EQ(notify.routes[0].group_by, Lines{"root"});
  EXPECT_EQ(notify.routes[1].match.size(), 2U);
  EXPECT_EQ(notify.routes[1].repeat_interval, 0s);
  ASSERT_EQ(notify.maintenance.size(), 1U);
  EXPECT_EQ(notify.maintenance[0].days, 0x41);
  EXPECT_EQ(notify.maintenance[0].begins, 22h + 30min);
}

TEST(NotifyConfig, WithoutRoutesEverybodyHearsOfEverything) {
  const auto config = parse("notify: {receivers: [{name: a, log: {}}, {name: b, log: {}}]}\n");
  ASSERT_TRUE(config);
  ASSERT_EQ(config->notify.routes.size(), 2U);
  EXPECT_TRUE(config->notify.routes[0].go_on);
  EXPECT_TRUE(parse("")->notify.routes.empty());
}

TEST(NotifyConfig, NamesEveryProblem) {
  EXPECT_EQ(
      complaints(R"(notify:
  receivers:
    - {name: a}
    - {name: b, log: {}, exec: {command: [/x]}}
    - {name: c, webhook: {url: "ftp://user:SECRET@h"}}
    - {name: d, exec: {command: [page]}}
    - {name: e, webhook: {url: "http://h", body: "{{titel}}", secret_file: here}}
    - {name: e, log: {}}
  routes:
    - {receiver: aa}
    - {receiver: a, match: [severity]}
  maintenance:
    - {name: m, days: [monday], from: "25:00", for: 2h}
)"),
      (Lines{
          "5:7: receiver 1: it does not say how; give one of: webhook, alertmanager, masakari, "
          "kubernetes, mail, exec, journal, log",
          "6:7: receiver 2: it says more than one way; give one of: webhook, alertmanager, "
          "masakari, kubernetes, mail, exec, journal, log",
          "7:32: url: not an http:// or https:// address; write for example "
          "https://hooks.example.org/wardmote",
          "8:33: command: it does not begin with an absolute path; write command: "
          "[/usr/local/bin/page, argument]; there is no shell",
          "9:26: secret_file 'here': not an absolute path; write the path of a file that only "
          "root may read",
          "9:50: body: 'titel' is no field of a notice; see docs/notifications.md",
          "10:14: name 'e': already used in line 9; choose another name",
          "12:18: receiver 'aa': there is no such receiver; did you mean 'a'?",
          "13:29: match: 'severity': write label=pattern or label!=pattern; write for example "
          "severity=critical or root!=check:web-*",
          "15:24: 'monday': not a day; write one of: mon, tue, wed, thu, fri, sat, sun",
          "15:39: from '25:00': not a time of day; write it in UTC and in quotes: \"02:30\"",
      }));
}

TEST(NotifyConfig, SilencesHaveABeginningAndAnEnd) {
  const auto config = parse(R"(silences:
  - {name: upgrade, match: ["root=cluster:*", severity!=critical], from: 2026-11-21T02:00:00Z, until: "2026-11-21T04:00:00Z", comment: ticket 17}
)");
  ASSERT_TRUE(config);
  ASSERT_EQ(config->notify.silences.size(), 1U);
  const judge::notify::Silence& silence = config->notify.silences[0];
  EXPECT_EQ(silence.name, "upgrade");
  EXPECT_EQ(silence.match.size(), 2U);
  EXPECT_EQ(silence.until - silence.from, 2h);
  EXPECT_EQ(silence.comment, "ticket 17");
  EXPECT_EQ(
      complaints(R"(silences:
  - {name: a, match: [], from: 2026-11-21T02:00:00Z, until: 2026-11-21T02:00:00Z}
  - {name: a, match: [nonsense], from: 2026-11-21 02:00, until: tomorrow}
  - {match: ["root=*"], from: 2026-11-21T02:00:00Z, until: 2028-11-21T02:00:00Z, for: 2h}
)"),
      (Lines{
          "4:5: silence 1: it ends before it begins; write a later 'until'",
          "4:22: match: it matches nothing in particular; write for example "
          "root=cluster:ovn-nb, or root=* for everything",
          "5:12: name 'a': already used in line 4; choose another name",
          "5:23: match: 'nonsense': write label=pattern or label!=pattern; write for example "
          "severity=critical or root!=check:web-*",
          "5:40: from '2026-11-21 02:00': not a moment in UTC; write for example "
          "2026-11-21T04:00:00Z",
          "5:65: until 'tomorrow': not a moment in UTC; write for example "
          "2026-11-21T04:00:00Z",
          "6:5: silence 3: no 'name'; add 'name: upgrade'",
          "6:5: silence 3: it lasts longer than a year; write an earlier 'until', or a "
          "'maintenance' of the week in 'notify'",
          "6:82: unknown key 'for': silence 3 has no such key; it may have: name, match, from, "
          "until, comment",
      }));
}

TEST(NotifyConfig, ADependencyMustExist) {
  const auto config =
      parse_config("checks:\n- {name: a, tcp: {address: \"127.0.0.1:1\"}, depends_on: [b, a]}\n",
                   observe::probe_kinds());
  ASSERT_FALSE(config);
  EXPECT_EQ(config.error().size(), 2U);
}

class SilentHttp final : public runtime::HttpClient {
 public:
  runtime::Task<Result<runtime::HttpResponse>> call(runtime::HttpCall, runtime::Deadline) override {
    co_return fail(Errc::kRefused, "nobody listens");
  }
};

TEST(Receivers, ASecretThatCannotBeReadIsNamedByItsFile) {
  sim::World world(1);
  Notify notify;
  Receiver receiver;
  receiver.name = "hook";
  receiver.kind = Receiver::Kind::kWebhook;
  receiver.urls = {"http://h/PATHSECRET"};
  receiver.secret_file = "/no/such/file";
  notify.receivers.push_back(receiver);
  EXPECT_FALSE(make_receivers(notify, world.host("us"), {})) << "without an HTTP client";
  SilentHttp http;
  const auto made = make_receivers(notify, world.host("us"), {.http = &http});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, Errc::kMissing);
  EXPECT_EQ(made.error().context, "receiver hook: /no/such/file");
}

TEST(NotifyConfig, ReadsMasakariMailAndJournal) {
  const auto config = parse(R"(
notify:
  receivers:
    - name: masakari
      masakari: {type: instance, url: "http://m:15868/v1/", host: c1, name_label: uuid, trust: /ca,
        keystone: {url: "https://ks:5000", user: ann, project: ops, secret_file: /s, region: r, interface: internal}}
    - name: credential
      masakari: {keystone: {url: "https://ks:5000/v3/", credential: 1f, secret_file: /s}}
    - name: mail
      mail: {server: "[::1]:587", from: w@example.org, to: [a@example.org, b@example.org], user: u,
        password_file: /p, tls: whole, trust: /ca}
    - {name: journal, journal: {}}
)");
  ASSERT_TRUE(config) << describe("f", config.error().front());
  const auto& receivers = config->notify.receivers;
  EXPECT_EQ(receivers[0].timeout, 30s);
  EXPECT_EQ(receivers[0].urls, Lines{"http://m:15868/v1"});
  EXPECT_EQ(receivers[0].masakari.type, Masakari::Type::kInstance);
  EXPECT_EQ(receivers[0].masakari.keystone.url, "https://ks:5000/v3");
  EXPECT_EQ(receivers[0].masakari.keystone.project_domain, "Default");
  EXPECT_EQ(receivers[1].masakari.keystone.url, "https://ks:5000/v3");
  EXPECT_EQ(receivers[1].masakari.keystone.credential, "1f");
  EXPECT_EQ(receivers[1].masakari.name_label, "subject");
  EXPECT_EQ(receivers[2].mail.tls, Mail::Tls::kWhole);
  EXPECT_EQ(receivers[2].mail.to.size(), 2U);
  EXPECT_EQ(receivers[2].secret_file, "/p");
  EXPECT_EQ(receivers[3].kind, Receiver::Kind::kJournal);
}

TEST(NotifyConfig, WhatMasakariAndMailCannotBeIsRefused) {
  const auto of = [](const std::string& way) {
    return complaints("notify:\n  receivers:\n    - {name: a, " + way + "}\n");
  };
  for (const char* way :
       {"masakari: {}", "masakari: {type: guest, url: \"http://m/v1\"}",
        "timeout: 5s, masakari: {url: \"http://m/v1\"}",
        "masakari: {keystone: {url: \"http://k\", secret_file: /s}}",
        "masakari: {keystone: {url: \"http://k\", secret_file: /s, user: u, project: p, "
        "credential: c}}",
        "masakari: {keystone: {url: \"http://k\", secret_file: /s, credential: c, interface: x}}",
        "mail: {server: host, from: a@b, to: [c@d]}",
        "mail: {server: \"h/x:25\", from: a@b, to: [c@d]}",
        "mail: {server: \"h:25\", from: a, to: [c@d]}",
        "mail: {server: \"h:25\", from: a@b, to: []}",
        "mail: {server: \"h:25\", from: a@b, to: [\"c@d>\"]}",
        "mail: {server: \"h:25\", from: a@b, to: [c@d], user: u}",
        "mail: {server: \"h:25\", from: a@b, to: [c@d], user: u, password_file: /p, tls: never}"}) {
    EXPECT_EQ(of(way).size(), 1U) << way;
  }
}

}  // namespace
}  // namespace wardmote::agent::config
