#include <gtest/gtest.h>

#include <boost/json/serialize.hpp>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "codec/nagios_objects.h"
#include "config/import/draft.h"
#include "config/import/format.h"
#include "config/import/nagios_native.h"
#include "config/import/nagios_templates.h"
#include "config/import/shell_words.h"
#include "unit/config/import_fixture.h"

namespace wardmote::config {
namespace {

constexpr const char* kCommands = R"(
define command {
    command_name    check-host-alive
    command_line    $USER1$/check_ping -H '$HOSTADDRESS$' -w 5000,100% -c 5000,100% -p 1
}
define command {
    command_name    check_local_disk
    command_line    $USER1$/check_disk -w $ARG1$ -c $ARG2$ -p $ARG3$
}
define command {
    command_name    check_tcp
    command_line    $USER1$/check_tcp -H '$HOSTADDRESS$' -p '$ARG1$'
}
define command{
    command_name    check_db
    command_line    $USER1$/check_mysql -H $HOSTADDRESS$ -u $ARG1$ -p $ARG2$
}
define command{
    command_name    check_piped
    command_line    /usr/local/bin/count '$HOSTALIAS$' | grep -q ok
}
define command{
    command_name    check_door
    command_line    $USER1$/check_door --code $_HOSTDOORPASS$
}
)";

constexpr const char* kObjects = R"(
define host {
    name                  generic-host
    check_interval        5
    retry_interval        1
    max_check_attempts    10
    check_command         check-host-alive   ; as Debian has it
    contact_groups        admins
    register              0
}
define host {
    use                   generic-host
    host_name             core
    address               10.0.0.1
}
define host {
    use                   generic-host
    host_name             web1
    alias                 Web 1
    address               10.0.0.11
    parents               core
    hostgroups            web
    _DOORPASS             not-to-be-copied
}
define hostgroup {
    hostgroup_name        web
}
define service {
    name                  generic-service
    check_interval        10
    retry_interval        2
    max_check_attempts    3
    register              0
}
define service {
    use                   generic-service
    hostgroup_name        web
    service_description   Root Partition
    check_command         check_local_disk!20%!10%!/
}
define service {
    use                   generic-service
    host_name             web1
    service_description   SMTP
    check_command         check_tcp!25
    event_handler         restart-it
}
define service {
    use                   generic-service
    host_name             web1
    service_description   count
    check_command         check_piped
}
define contactgroup {
    contactgroup_name     admins
    members               root
}
define contact {
    contact_name          root
    email                 ops@example.org
}
define contact {
    contact_name          nobody
    email                 nobody@example.org
}
)";

Imported objects(const std::string& more) {
  return import_texts({{"objects.cfg", kObjects + more},
                       {"commands.cfg", kCommands},
                       {"resource.cfg",
                        "# macros\n$USER1$=/usr/lib/nagios/plugins\n"
                        "$USER3$=not-to-be-copied\n"}});
}

TEST(ImportNagios, HostsAndServicesBecomeChecks) {
  const Imported made = objects("");
  accepted(made);
  EXPECT_EQ(made.yaml, R"(checks:
  - name: core
    ping:
      host: "10.0.0.1"
      count: 1
      warn_lost: 1
      warn_rtt: 5s
      fail_rtt: 5s
    every: 300s
    timeout: 10s
    fall: 3
    rise: 1
  - name: web1
    ping:
      host: "10.0.0.11"
      count: 1
      warn_lost: 1
      warn_rtt: 5s
      fail_rtt: 5s
    every: 300s
    timeout: 10s
    fall: 3
    rise: 1
    depends_on:
      - core
  - name: web1-SMTP
    tcp:
      address: "10.0.0.11:25"
    every: 600s
    timeout: 10s
    fall: 2
    rise: 1
    depends_on:
      - web1
  - name: web1-count
    exec:
      program: /bin/sh
      args:
        - "-c"
        - "/usr/local/bin/count 'Web 1' | grep -q ok"
    every: 600s
    timeout: 60s
    fall: 2
    rise: 1
    depends_on:
      - web1
  - name: web1-Root-Partition
    exec:
      program: /usr/lib/nagios/plugins/check_disk
      args:
        - "-w"
        - "20%"
        - "-c"
        - "10%"
        - "-p"
        - /
    every: 600s
    timeout: 60s
    fall: 2
    rise: 1
    depends_on:
      - web1
notify:
  receivers:
    - name: root
      mail:
        server: "127.0.0.1:25"
        from: nagios@localhost
        to:
          - ops@example.org
        tls: never
)");
  EXPECT_TRUE(says(made, "objects.cfg: line 41: service event_handler: no counterpart"))
      << all_notes(made);
}

/// A list of the configuration has no empty text, so a shell keeps the argument.
TEST(ImportNagios, AnEmptyArgumentStaysOne) {
  const Imported made = objects(R"(
define service {
  use generic-service
  host_name web1
  service_description empty
  check_command check_local_disk!''!10%!/
}
)");
  accepted(made);
  EXPECT_TRUE(made.yaml.contains("\"/usr/lib/nagios/plugins/check_disk -w '' -c 10% -p /\""))
      << made.yaml;
}

TEST(ImportNagios, NeverCopiesAPassword) {
  const Imported made = objects(R"(
define service {
  use generic-service
  host_name web1
  service_description db
  check_command check_db!wardmote!not-to-be-copied
}
define service {
  use generic-service
  host_name web1
  service_description door
  check_command check_door
}
define service {
  use generic-service
  host_name web1
  service_description user
  check_command check_tcp!$USER3$
}
)");
  EXPECT_FALSE(made.yaml.contains("not-to-be-copied"));
  EXPECT_FALSE(says(made, "not-to-be-copied")) << all_notes(made);
  EXPECT_TRUE(says(made, "web1-db: left out: an argument may be a password")) << all_notes(made);
  EXPECT_TRUE(says(made, "web1-door: left out: the variable _DOORPASS may be a password"));
  EXPECT_TRUE(says(made, "web1-user: left out: $USER3$ of resource.cfg may be a password"));
}

TEST(ImportNagios, SaysWhatIsLeftOut) {
  const Imported made = objects(R"(
define service {
  use generic-service,missing
  host_name web1
  service_description passive
  active_checks_enabled 0
  check_command check_tcp!1
}
define service {
  use generic-service
  host_name web1
  service_description unknown
  check_command no_such!1
  frobnicate 1
}
define service {
  use generic-service
  host_name nowhere
  service_description homeless
  check_command check_tcp!1
}
define timeperiod {
  timeperiod_name 24x7
}
)");
  accepted(made);
  EXPECT_TRUE(says(made, "use missing: no file has this template")) << all_notes(made);
  EXPECT_TRUE(says(made, "web1-passive: left out: it is passive"));
  EXPECT_TRUE(says(made, "web1-unknown: left out: no file defines its check_command"));
  EXPECT_TRUE(says(made, "service frobnicate: no directive that is known"));
  EXPECT_TRUE(says(made, "homeless: left out: no file has a host of it"));
  EXPECT_TRUE(says(made, "1 of the type timeperiod are left out"));
}

/// xodtemplate_get_inherited_string(), and the documentation's rules of inheritance.
TEST(ImportNagios, TemplatesAreInheritedAsNagiosDoes) {
  ImportDraft draft({});
  const auto parsed = codec::parse_nagios_objects(R"(
define host {
  name a
  contact_groups x
  check_interval 1
  _COLOUR red
  notes of a
}
define host {
  name b
  use a
  contact_groups +y
  check_interval 2
  alias b
}
define host {
  use b,a
  host_name one
  contact_groups +z
  notes null
}
define host {
  use a,b
  host_name two
}
)");
  ASSERT_TRUE(parsed);
  const auto things = resolve_nagios(draft, std::span(&*parsed, 1));
  ASSERT_TRUE(things);
  const NagiosThing& one = things->at(2);
  EXPECT_EQ(one.get("contact_groups"), "x,y,z");
  EXPECT_EQ(one.get("check_interval"), "2");
  EXPECT_EQ(one.get("_COLOUR"), "red");
  EXPECT_EQ(one.get("notes"), "") << "null ends the inheritance";
  EXPECT_TRUE(one.registered) << "register is not inherited";
  EXPECT_EQ(things->at(3).get("check_interval"), "1") << "the first template wins";
  EXPECT_EQ(things->at(3).get("alias"), "b");
}

TEST(ImportNagios, HostileFilesAreRefused) {
  const Error circle = refused({{"c.cfg",
                                 "define host {\n name a\n use b\n}\ndefine host {\n name b\n use "
                                 "a\n}\n"}});
  EXPECT_EQ(circle.code, Errc::kInvalid);
  EXPECT_TRUE(circle.context.contains("line 1: `use` goes in a circle")) << circle.context;
  std::string deep = "define host {\n name 0\n}\n";
  for (int i = 1; i < 100; ++i)
    deep +=
        "define host {\n name " + std::to_string(i) + "\n use " + std::to_string(i - 1) + "\n}\n";
  // In the other order every template is resolved before it is used.
  std::string backwards;
  for (int i = 99; i > 0; --i)
    backwards +=
        "define host {\n name " + std::to_string(i) + "\n use " + std::to_string(i - 1) + "\n}\n";
  EXPECT_EQ(refused({{"d.cfg", backwards + "define host {\n name 0\n}\n"}}).code, Errc::kLimit);
  EXPECT_EQ(refused({{"e.cfg", "define host {\n host_name a\n"}}).code, Errc::kInvalid);
  EXPECT_EQ(refused({{"f.cfg", "define host {\ndefine host {\n}\n"}}).code, Errc::kInvalid);
  EXPECT_EQ(refused({{"n.cfg", std::string("define host {\n a\0b c\n}\n", 23)}}).code,
            Errc::kInvalid);
  EXPECT_EQ(refused({{"big.cfg", "define host {\n}\n" + std::string(5 << 20, '#')}}).code,
            Errc::kLimit);
}

TEST(ImportNagios, ParentsInACircleAreSaid) {
  const Imported made = import_texts(
      {{"a.cfg", std::string(kCommands) +
                     "define host {\n host_name a\n parents b\n check_command check-host-alive\n}\n"
                     "define host {\n host_name b\n parents a\n check_command "
                     "check-host-alive\n}\n"}});
  EXPECT_EQ(accepted(made).checks.size(), 2U);
  EXPECT_TRUE(says(made, "a: what it depends on goes in a circle: left out"));
}

TEST(ImportNagios, APluginIsReplacedOnlyWhereAProbeMeansTheSame) {
  const auto kind = [](const std::string& line) {
    const auto probe = native_probe(shell_words(line).words);
    return probe ? probe->kind : "";
  };
  EXPECT_EQ(kind("/p/check_ping -H h -w 100.0,20% -c 500.0,100% -p 5"), "ping");
  EXPECT_EQ(kind("/p/check_ping -H h -w 100.0,20% -c 500.0,60%"), "") << "60 % lost is critical";
  EXPECT_EQ(kind("/p/check_ping h 100 500"), "");
  EXPECT_EQ(kind("/p/check_tcp -H h -p 22 -t 5"), "tcp");
  EXPECT_EQ(kind("/p/check_tcp -H h -p 22 -e SSH"), "");
  EXPECT_EQ(kind("/p/check_http -H h -I 10.0.0.1 -e 200,204 -u /ok --string=fine"), "http");
  EXPECT_EQ(kind("/p/check_http -H h"), "") << "it warns of 404";
  EXPECT_EQ(kind("/p/check_http -H h -S -e 200"), "") << "it trusts every certificate";
  EXPECT_EQ(kind("/p/check_dig -H 10.0.0.53 -l example.org -T MX"), "dns");
  EXPECT_EQ(kind("/p/check_dns -H example.org"), "") << "it asks for two types";
  EXPECT_EQ(kind("/p/check_ssh h"), "") << "it reads the banner";
}

TEST(ImportNagios, TheSameServerAndVirtualHostAreAsked) {
  const auto params = [](const std::string& line) {
    const auto probe = native_probe(shell_words(line).words);
    return probe ? boost::json::serialize(probe->params) : "";
  };
  EXPECT_TRUE(params("/p/check_dig -l a.example").contains("\"127.0.0.1:53\""))
      << "the plugin asks this host, and no resolver";
  EXPECT_TRUE(params("/p/check_http -H a -I 10.0.0.1 -e 200").contains("\"Host: a\""));
  EXPECT_TRUE(params("/p/check_http -H a -I 10.0.0.1 -p 81 -e 200").contains("\"Host: a:81\""));
}

TEST(ImportNagios, WhatIsSlowThereIsNotHungHere) {
  const Imported made = import_texts({{"o.cfg", R"(
define command {
  command_name slow
  command_line /p/slow
}
define host {
  host_name h
}
define service {
  host_name h
  service_description s
  check_interval 20
  retry_interval 10
  max_check_attempts 3
  check_command slow
}
)"},
                                      {"nagios.cfg", "interval_length=1\n"}});
  EXPECT_EQ(accepted(made).checks.size(), 1U);
  EXPECT_TRUE(made.yaml.contains("every: 60s\n    timeout: 60s\n    fall: 2\n")) << made.yaml;
  EXPECT_TRUE(says(made, "h-s: every: 60s and not 20s")) << all_notes(made);
}

TEST(ImportNagios, ADependencyThatIsLostIsSaid) {
  const Imported made = objects(R"(
define host {
  use generic-host
  host_name lost
  check_command no_such
}
define host {
  use generic-host
  host_name below
  parents lost,core
}
define service {
  use generic-service
  host_name lost
  service_description SSH
  check_command check_tcp!22
}
)");
  accepted(made);
  EXPECT_TRUE(says(made, "below: depends on the host lost, which has no check here"))
      << all_notes(made);
  EXPECT_TRUE(says(made, "lost-SSH: depends on the host lost, which has no check here"));
  EXPECT_FALSE(says(made, "which has no check here: core"));
}

TEST(ShellWords, AreThoseOfNagios) {
  const auto words = [](const std::string& line) { return shell_words(line).words; };
  EXPECT_EQ(words(R"(a 'b c' "d \"e" f\ g)"),
            (std::vector<std::string>{"a", "b c", "d \"e", "f g"}));
  EXPECT_EQ(words("a ''"), (std::vector<std::string>{"a", ""}));
  EXPECT_FALSE(shell_words("a '|' \"<\"").needs_shell);
  for (const std::string line : {"a | b", "a $x", "a \"$x\"", "a > b", "a; b", "a *", "a 'b"})
    EXPECT_TRUE(shell_words(line).needs_shell) << line;
}

}  // namespace
}  // namespace wardmote::config
