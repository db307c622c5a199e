#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "config/config.h"

namespace wardmote::config {
namespace {

using namespace std::chrono_literals;
using act::notify::AlertmanagerOptions;
using act::notify::ExecOptions;
using act::notify::MailOptions;
using act::notify::MasakariOptions;
using act::notify::ServiceOptions;
using act::notify::WebhookOptions;
using Lines = std::vector<std::string>;

template <class T>
const T& options_of(const Receiver& receiver) {
  return std::get<T>(receiver.options);
}

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
       group_wait: 10s, group_interval: 1m, repeat_interval: 0s,
       active: [{days: [mon, tue, wed, thu, fri], from: "09:00", for: 8h, time_zone: Europe/Berlin}, {from: "00:00", for: 1h}]}
  maintenance:
    - {name: nightly, match: ["root=check:*"], days: [mon, sun], from: "22:30", for: 3h, time_zone: Asia/Kolkata}
)";

TEST(NotifyConfig, ReadsAWholeSection) {
  const auto config = parse(kWhole);
  ASSERT_TRUE(config) << complaints(kWhole).front();
  const Notify& notify = config->notify;
  ASSERT_EQ(notify.receivers.size(), 4U);
  EXPECT_EQ(kind_name(notify.receivers[0]), "webhook");
  EXPECT_EQ(notify.receivers[0].timeout, 5s);
  EXPECT_EQ(options_of<WebhookOptions>(notify.receivers[0]).secret.file, "/s");
  EXPECT_EQ(options_of<AlertmanagerOptions>(notify.receivers[1]).urls,
            (Lines{"http://am-1:9093", "http://am-2:9093"}));
  EXPECT_EQ(options_of<ExecOptions>(notify.receivers[2]).command, (Lines{"/bin/page", "now"}));
  ASSERT_EQ(notify.routes.size(), 2U);
  EXPECT_TRUE(notify.routes[0].go_on);
  EXPECT_EQ(notify.routes[0].group_by, Lines{"root"});
  EXPECT_EQ(notify.routes[1].match.size(), 2U);
  EXPECT_EQ(notify.routes[1].repeat_interval, 0s);
  ASSERT_EQ(notify.maintenance.size(), 1U);
  EXPECT_EQ(notify.maintenance[0].window.days, 0x41);
  EXPECT_EQ(notify.maintenance[0].window.begins, 22h + 30min);
  EXPECT_EQ(notify.maintenance[0].window.zone.name, "Asia/Kolkata");
  EXPECT_TRUE(notify.routes[0].active.empty());
  ASSERT_EQ(notify.routes[1].active.size(), 2U);
  EXPECT_EQ(notify.routes[1].active[0].days, 0x1f);
  EXPECT_EQ(notify.routes[1].active[0].length, 8h);
  EXPECT_EQ(notify.routes[1].active[0].zone.name, "Europe/Berlin");
  EXPECT_EQ(notify.routes[1].active[1], (judge::notify::WeeklyWindow{.begins = 0s, .length = 1h}));
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
    - {receiver: b, active: [{days: [], from: "02:00", for: 2h, time_zone: Europe/Berlni}, {for: 1h}]}
  maintenance:
    - {name: m, days: [monday], from: "25:00", for: 2h}
)"),
      (Lines{
          "5:7: receiver 1: it does not say how; give one of: webhook, alertmanager, masakari, "
          "kubernetes, mail, exec, journal, log, slack, teams, pagerduty, opsgenie, ntfy, gotify, "
          "telegram, matrix",
          "6:7: receiver 2: it says more than one way; give one of: webhook, alertmanager, "
          "masakari, kubernetes, mail, exec, journal, log, slack, teams, pagerduty, opsgenie, "
          "ntfy, "
          "gotify, telegram, matrix",
          "7:32: url: not an http:// or https:// address; write for example "
          "https://hooks.example.org:8443/wardmote",
          "8:33: command: it does not begin with an absolute path; write command: "
          "[/usr/local/bin/page, argument]; there is no shell",
          "9:50: body: 'titel' is not a field of a notice; see docs/notifications.md",
          "9:76: secret_file 'here': not an absolute path; write the path of a file that only "
          "root may read",
          "10:14: name 'e': already used in line 9; choose another name",
          "12:18: receiver 'aa': there is no such receiver; did you mean 'a'?",
          "13:29: match: 'severity': write label=pattern, label!=pattern, label=~regex or "
          "label!~regex; write for example "
          "severity=critical or root!=check:web-*",
          "14:37: days: no day; leave 'days' out for every day",
          "14:76: time_zone 'Europe/Berlni': this host knows no such time zone; write one of "
          "'timedatectl list-timezones', as Europe/Berlin; 'tzdata' must be there",
          "14:92: time 2 of route 3: no 'from'; add 'from: \"02:00\"'",
          "16:24: 'monday': not a day; write one of: mon, tue, wed, thu, fri, sat, sun",
          "16:39: from '25:00': not a time of day; write it in quotes: \"02:30\"",
      }));
}

TEST(NotifyConfig, ReadsEachServiceByItsRow) {
  const auto config = parse(R"(
notify:
  receivers:
    - {name: s, slack: {url_file: /u, text: "{{title}}"}}
    - {name: t, teams: {url: "https://h/x"}}
    - {name: p, pagerduty: {routing_key_file: /k}}
    - {name: o, opsgenie: {key_file: /k, team: ops, url: "https://api.eu.opsgenie.com/"}}
    - {name: n, ntfy: {url: "https://ntfy.sh/topic", token_file: /k}}
    - {name: g, gotify: {url: "https://g/", token_file: /k}}
    - {name: b, telegram: {token_file: /k, chat: "-1001"}}
    - {name: m, matrix: {url: "https://m", token_file: /k, room: "!r:m", trust: /ca}}
)");
  ASSERT_TRUE(config);
  const std::vector<Receiver>& all = config->notify.receivers;
  ASSERT_EQ(all.size(), act::notify::services().size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(kind_name(all[i]), act::notify::services()[i].name);
    EXPECT_EQ(options_of<ServiceOptions>(all[i]).service, &act::notify::services()[i]);
  }
  EXPECT_EQ(options_of<ServiceOptions>(all[0]).url_file.file, "/u");
  EXPECT_EQ(options_of<ServiceOptions>(all[0]).text, "{{title}}");
  EXPECT_EQ(options_of<ServiceOptions>(all[2]).url, "https://events.pagerduty.com");
  EXPECT_EQ(options_of<ServiceOptions>(all[3]).url, "https://api.eu.opsgenie.com");
  EXPECT_EQ(options_of<ServiceOptions>(all[3]).to, "ops");
  EXPECT_EQ(options_of<ServiceOptions>(all[6]).to, "-1001");
  EXPECT_EQ(options_of<ServiceOptions>(all[7]).token.file, "/k");
}

TEST(NotifyConfig, SaysWhatAServiceLacks) {
  const auto lines = complaints(R"(notify:
  receivers:
    - {name: s, slack: {}}
    - {name: t, teams: {url: "https://h/x", url_file: /u}}
    - {name: p, pagerduty: {routing_key: SECRET}}
    - {name: n, ntfy: {url: "https://ntfy.sh"}}
    - {name: m, matrix: {url: "https://m", token_file: relative, room: "!r:m", text: "{{x}}"}}
)");
  ASSERT_EQ(lines.size(), 7U);
  EXPECT_TRUE(lines[0].contains("url is missing")) << lines[0];
  EXPECT_TRUE(lines[1].contains("url and url_file are the same thing")) << lines[1];
  EXPECT_TRUE(lines[2].contains("routing_key_file")) << lines[2];
  EXPECT_TRUE(lines[3].contains("routing_key")) << lines[3];
  EXPECT_TRUE(lines[4].contains("it has no topic")) << lines[4];
  EXPECT_TRUE(lines[5].contains("not an absolute path")) << lines[5];
  EXPECT_TRUE(lines[6].contains("'x' is not a field of a notice")) << lines[6];
  for (const std::string& line : lines) EXPECT_FALSE(line.contains("SECRET")) << line;
}

/// Each kind of receiver, since each reads its own.
TEST(NotifyConfig, AnAddressThatCanNeverWorkIsRefused) {
  const auto problems_of = [](std::string_view receiver) {
    return complaints(
        fmt::format("notify:\n  receivers:\n    - {{name: a, {}}}\n"
                    "  routes: [{{receiver: a}}]\n",
                    receiver));
  };
  const std::string_view ways[] = {
      R"(webhook: {{url: "{}"}})", R"(alertmanager: {{urls: ["{}"]}})",
      R"(masakari: {{url: "{}"}})",
      R"(masakari: {{keystone: {{url: "{}", credential: c, secret_file: /etc/hostname}}}})"};
  for (const std::string_view way : ways) {
    for (const std::string_view url :
         {"http://", "http:///x", "https://?x", "http://x:99999/", "http://h:0/", "http://h:x/",
          "http://[::1/", "http://u:SECRET@h/"}) {
      const Lines lines = problems_of(fmt::format(fmt::runtime(way), url));
      ASSERT_FALSE(lines.empty()) << way << " " << url;
      EXPECT_TRUE(lines[0].contains("no host in it, a port that is not 1 to 65535")) << lines[0];
      EXPECT_FALSE(lines[0].contains("SECRET"));
    }
    for (const std::string_view url :
         {"http://h", "https://[fd00::1]:8443/x?y=http://", "http://h_1:80#f", "http://10.0.0.1/ü"})
      EXPECT_EQ(problems_of(fmt::format(fmt::runtime(way), url)), Lines{}) << way << " " << url;
  }
  for (const std::string_view server : {"h:0", "h:99999", ":25", "a:b:25", "[::1:25"}) {
    const std::string mail =
        fmt::format("mail: {{server: \"{}\", from: a@b.c, to: [a@b.c]}}", server);
    EXPECT_FALSE(problems_of(mail).empty()) << server;
  }
  EXPECT_EQ(problems_of("mail: {server: \"[::1]:25\", from: a@b.c, to: [a@b.c]}"), Lines{});
}

TEST(NotifyConfig, AMatcherAsksForALabelThatThereIs) {
  const std::string known =
      "; there are cluster, code, node, root, scope, severity, subject, uuid, zone; write one of "
      "these, "
      "or add it to 'labels' of 'node'";
  EXPECT_EQ(
      complaints(R"(node: {name: n, labels: {zone: a}}
silences:
  - {name: a, match: [zone=a, sevrity=critical], from: 2026-11-21T02:00:00Z, until: 2026-11-21T04:00:00Z}
notify:
  receivers: [{name: a, log: {}}]
  routes: [{receiver: a, match: ["team!=ops"]}]
  maintenance: [{name: n, match: [clusters=nb], from: "02:00", for: 2h}]
)"),
      (std::vector<std::string>{"5:31: match: no incident has the label 'sevrity'" + known,
                                "8:34: match: no incident has the label 'team'" + known,
                                "9:35: match: no incident has the label 'clusters'" + known}));
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
          "5:23: match: 'nonsense': write label=pattern, label!=pattern, label=~regex or "
          "label!~regex; write for example "
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

TEST(NotifyConfig, DependenciesDoNotGoInACircle) {
  const auto config = parse_config(
      "checks:\n"
      "- {name: web, tcp: {address: \"127.0.0.1:1\"}, depends_on: [a]}\n"
      "- {name: a, tcp: {address: \"127.0.0.1:1\"}, depends_on: [b]}\n"
      "- {name: b, tcp: {address: \"127.0.0.1:1\"}, depends_on: [c, d]}\n"
      "- {name: c, tcp: {address: \"127.0.0.1:1\"}, depends_on: [a]}\n"
      "- {name: d, tcp: {address: \"127.0.0.1:1\"}}\n",
      observe::probe_kinds());
  ASSERT_FALSE(config);
  ASSERT_EQ(config.error().size(), 1U) << "once, and not for what only leads into it";
  EXPECT_EQ(describe("f", config.error()[0]),
            "f:3:3: depends_on: it goes in a circle: a -> b -> c -> a; remove one of them: what "
            "fails cannot be its own cause");
}

TEST(NotifyConfig, TwoMayDependOnTheSameThing) {
  EXPECT_TRUE(
      parse_config("checks:\n"
                   "- {name: host, tcp: {address: \"127.0.0.1:1\"}}\n"
                   "- {name: a, tcp: {address: \"127.0.0.1:1\"}, depends_on: [host]}\n"
                   "- {name: b, tcp: {address: \"127.0.0.1:1\"}, depends_on: [host, a]}\n",
                   observe::probe_kinds()));
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
        password_file: /p, tls: implicit, trust: /ca}
    - {name: journal, journal: {}}
)");
  ASSERT_TRUE(config) << describe("f", config.error().front());
  const auto& receivers = config->notify.receivers;
  EXPECT_EQ(receivers[0].timeout, 30s);
  const auto& by_user = options_of<MasakariOptions>(receivers[0]);
  EXPECT_EQ(by_user.url, "http://m:15868/v1");
  EXPECT_EQ(by_user.type, MasakariOptions::Type::kInstance);
  EXPECT_EQ(by_user.microversion, "1.0");
  EXPECT_EQ(by_user.keystone.url, "https://ks:5000/v3");
  EXPECT_EQ(by_user.keystone.login.project_domain, "Default");
  EXPECT_EQ(by_user.keystone.interface, "internal");
  const auto& by_credential = options_of<MasakariOptions>(receivers[1]);
  EXPECT_EQ(by_credential.keystone.url, "https://ks:5000/v3");
  EXPECT_EQ(by_credential.keystone.login.credential, "1f");
  EXPECT_EQ(by_credential.keystone.interface, "public");
  EXPECT_EQ(by_credential.type, MasakariOptions::Type::kProcess);
  EXPECT_EQ(by_credential.name_label, "subject");
  const auto& mail = options_of<MailOptions>(receivers[2]);
  EXPECT_EQ(mail.tls, runtime::MailCall::Tls::kImplicit);
  EXPECT_EQ(mail.to.size(), 2U);
  EXPECT_EQ(mail.password.file, "/p");
  EXPECT_EQ(kind_name(receivers[3]), "journal");
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
}  // namespace wardmote::config
