#include <gtest/gtest.h>

#include <string>

#include "config/import/secrets.h"
#include "config/import/shell_words.h"
#include "unit/config/import_fixture.h"

namespace wardmote::config {
namespace {

bool tells(const std::string& line) {
  return command_may_hold_a_secret(shell_words(line).words);
}

TEST(ImportSecrets, ACommandTellsByItsOptions) {
  for (const std::string line : {"/p/check_snmp -H h -C public",
                                 "/p/check_snmp_load.pl -H h -C public",
                                 "/p/check_http -H h -a me:you",
                                 "/p/check_own --password=x",
                                 "/p/check_own --password x",
                                 "/p/check_own -p x",
                                 "sudo /p/check_mysql -px",
                                 "/usr/bin/curl -fsu nagios:s3cr3t http://x/",
                                 "/usr/bin/curl -u nagios:s3cr3t http://x/",
                                 "/usr/bin/curl -unagios:s3cr3t http://x/",
                                 "/usr/bin/curl --user nagios:s3cr3t http://x/",
                                 "/usr/bin/curl --user=nagios:s3cr3t x",
                                 "/usr/bin/curl -sb sid=1 http://x/",
                                 "/usr/bin/smbclient -U me%you //h/s",
                                 "/usr/bin/mysqladmin -uroot -p123 ping",
                                 "/usr/bin/sshpass -p 22 ssh h",
                                 "/usr/bin/redis-cli -a abc ping",
                                 "/usr/bin/ldapsearch -x -w abc",
                                 "/usr/bin/openssl x509 -passin pass:abc",
                                 "/p/check_oracle --cache SID me you",
                                 "/usr/bin/own -p 123456"})
    EXPECT_TRUE(tells(line)) << line;
}

TEST(ImportSecrets, AWordTellsByItsText) {
  for (const std::string line :
       {"/p/check_http -H h -k 'Authorization: Bearer abc'",
        "/p/check_http -H h -k 'X-Api-Key:abc'", "/p/check_http -H h -k Cookie:sid=1",
        "/p/check_http -H h -P 'user=a&password=b'", "/p/check_http -H h -u '/x?token=abc'",
        "/p/check_own http://me:you@h/", "/p/check_own me:you@h", "/usr/bin/sqlplus me/you@db",
        "/p/own '{\"password\": \"abc\"}'", "/usr/bin/env PGPASSWORD=abc psql",
        "/p/own 'host=h password=abc'", "/p/check_tcp -p 6379 -s 'AUTH abc'",
        "/p/check_tcp -p 143 -s 'a1 LOGIN me you'", "/p/check_tcp -p 6379 -s 'auth abc'",
        "/p/own 'Bearer ab12'", "/p/own ghp_0123456789abcdefghij",
        "/p/own -H https://h/eyJhbGciOiJIUzI1NiJ9.e30.x"})
    EXPECT_TRUE(tells(line)) << line;
}

TEST(ImportSecrets, ACommandLineWithinAWordTellsToo) {
  for (const std::string line :
       {"/bin/sh -c 'PGPASSWORD=abc psql'", "/bin/sh -c 'mysql -pabc | grep -q 1'",
        "/p/check_by_ssh -H h -C 'mysqladmin -uroot -pabc ping'",
        "/bin/bash -c \"sh -c 'curl -u a:b http://x'\"", "/bin/sh -c 'true; mysqladmin -p12 ping'"})
    EXPECT_TRUE(tells(line)) << line;
}

TEST(ImportSecrets, WhatIsEverydayTellsNothing) {
  for (const std::string line :
       {"/p/check_own -p 80", "/p/check_disk -w 10% -p /", "/p/check_http -H h -u /a:b -p 8080",
        "/p/check_http -H h -u http://h:80/x", "/usr/bin/curl -fsS -o /dev/null http://h:8080/x",
        "/usr/bin/curl -so /dev/null http://auth.example.org:8443/",
        "/p/check_tcp -H token-server:8443 -p 80", "/usr/bin/psql -h h -p 5432 -c 'select 1'",
        "/bin/sh -c '/p/count | grep -q ok'", "/p/check_nrpe -H h -c check_load -a 5 10",
        "/usr/bin/curl http://h/@someone", "/p/check_http -H h -s 'Please login first'",
        "/p/check_http -H h -s 'Basic health'", "/p/check_own -f ops@example.org"})
    EXPECT_FALSE(tells(line)) << line;
}

/// Every import asks, since the draft does.
TEST(ImportSecrets, NoImportCopiesOne) {
  const std::string nagios = R"(
define command {
  command_name own
  command_line $ARG1$
}
define host {
  host_name h
  check_command own!/usr/bin/true
}
define service {
  host_name h
  service_description header
  check_command own!/p/check_http -H h -k "Authorization: Bearer not-to-be-copied"
}
define service {
  host_name h
  service_description curl
  check_command own!/usr/bin/curl -fsu nagios:not-to-be-copied http://x/
}
define service {
  host_name h
  service_description shell
  check_command own!/bin/sh -c "PGPASSWORD=not-to-be-copied psql"
}
)";
  const std::string monit = R"(
check program a with path "/bin/sh -c 'PGPASSWORD=not-to-be-copied psql'"
  if status != 0 then alert
check program b with path "/usr/bin/curl" "-fsu" "me:not-to-be-copied" "http://x/"
  if status != 0 then alert
check host c with address 10.0.0.1
  if failed port 80 protocol http with http headers [X-Auth: not-to-be-copied] then alert
  if failed port 81 protocol http request "/?token=not-to-be-copied" then alert
  if failed port 82 protocol http hostheader "me:not-to-be-copied@h" then alert
  if failed port 83 then alert
)";
  const std::string blackbox = R"(modules:
  web: {prober: http, http: {headers: {X-Key: not-to-be-copied}}}
  body: {prober: http, http: {fail_if_body_not_matches_regexp: ["token=not-to-be-copied"]}}
  door: {prober: tcp}
scrape_configs:
  - job_name: a
    metrics_path: /probe
    params: {module: [door]}
    relabel_configs: [{source_labels: [__address__], target_label: __param_target}]
    static_configs: [{targets: ["http://me:not-to-be-copied@h:80", "h:80"]}]
  - job_name: b
    metrics_path: /probe
    params: {module: [body]}
    relabel_configs: [{source_labels: [__address__], target_label: __param_target}]
    static_configs: [{targets: ["http://h/"]}]
)";
  for (const std::string& text : {nagios, monit, blackbox}) {
    const Imported made = import_text(text);
    EXPECT_EQ(accepted(made).checks.size(), 1U) << made.yaml;
    EXPECT_FALSE(made.yaml.contains("not-to-be-copied")) << made.yaml;
    EXPECT_FALSE(says(made, "not-to-be-copied")) << all_notes(made);
    EXPECT_TRUE(says(made, "left out: ")) << all_notes(made);
  }
}

}  // namespace
}  // namespace wardmote::config
