#include <gtest/gtest.h>

#include <string>

#include "base/result.h"
#include "config/import/format.h"
#include "unit/config/import_fixture.h"

namespace wardmote::config {
namespace {

constexpr const char* kControl = R"(# as monit(1) has them
set daemon 60 with start delay 240
set log syslog
set mailserver mail.example.org port 587
    username "monit" password "not-to-be-copied"
    using tls
set mail-format { from: monit@example.org }
set alert ops@example.org but not on { instance }
set httpd port 2812 and use address localhost
    allow admin:not-to-be-copied
include /etc/monit/conf.d/*

check process nginx with pidfile /run/nginx.pid
    group www
    start program = "/etc/init.d/nginx start" with timeout 60 seconds
    stop program  = "/etc/init.d/nginx stop"
    if failed host localhost port 80 protocol http
        and request "/status" with timeout 10 seconds for 4 times within 5 cycles then restart
    if memory usage > 256 MB for 3 cycles then alert
    if cpu > 60% for 2 cycles then alert
    if 4 restarts within 20 cycles then timeout
    depends on nginx_bin

check file nginx_bin with path /usr/sbin/nginx
    if failed checksum then unmonitor

check file backup path /var/backups/nb.db
    if timestamp is older than 26 hours then alert
    if size < 1 kB then alert

check host db with address 10.0.0.5
    if failed ping count 5 with timeout 5 seconds then alert
    if failed port 3306 protocol mysql then alert
    if failed port 443 protocol https and certificate valid > 30 days then alert
    if failed port 80 protocol http username "u" password "not-to-be-copied" then alert
    if succeeded port 23 then alert

check program disks with path "/usr/local/bin/disks --all" timeout 20 seconds
    if status != 0 then alert
    every 5 cycles

check filesystem rootfs with path /
    if space usage > 80% for 5 cycles then alert
    if inode usage > 90% then alert

check system $HOST
    if loadavg (1min) > 4 then alert
)";

TEST(ImportMonit, ServicesAndConnectionsBecomeChecks) {
  const Imported made = import_text(kControl);
  accepted(made);
  EXPECT_EQ(made.yaml, R"(checks:
  - name: nginx
    process:
      program: /run/nginx.pid
    every: 60s
    fall: 1
    rise: 1
    depends_on:
      - nginx_bin
  - name: nginx-memory
    process:
      program: /run/nginx.pid
      max_rss: "256MiB"
    every: 60s
    fall: 3
    rise: 1
    depends_on:
      - nginx
      - nginx_bin
  - name: nginx-80
    http:
      url: http://localhost:80/status
      redirects: 0
    every: 60s
    timeout: 10s
    fall: 4
    rise: 1
    depends_on:
      - nginx
      - nginx_bin
  - name: nginx_bin
    file:
      path: /usr/sbin/nginx
    every: 60s
    fall: 1
    rise: 1
  - name: backup
    file:
      path: /var/backups/nb.db
      max_age: 93600s
      min_size: "1KiB"
    every: 60s
    fall: 1
    rise: 1
  - name: db-ping
    ping:
      host: "10.0.0.5"
      count: 5
      warn_lost: 0
    every: 60s
    timeout: 5s
    fall: 1
    rise: 1
  - name: db-3306
    tcp:
      address: "10.0.0.5:3306"
    every: 60s
    timeout: 5s
    fall: 1
    rise: 1
  - name: db-443
    https:
      url: https://10.0.0.5:443/
      redirects: 0
      verify: none
      fail_days: 30
      warn_days: 30
    every: 60s
    timeout: 5s
    fall: 1
    rise: 1
  - name: disks
    exec:
      program: /usr/local/bin/disks
      args:
        - "--all"
      style: script
    every: 300s
    timeout: 20s
    fall: 1
    rise: 1
  - name: rootfs
    exec:
      program: /usr/lib/nagios/plugins/check_disk
      args:
        - "-E"
        - "-K"
        - "10%"
        - "-p"
        - /
    every: 60s
    fall: 1
    rise: 1
  - name: rootfs-space
    exec:
      program: /usr/lib/nagios/plugins/check_disk
      args:
        - "-E"
        - "-c"
        - "20%"
        - "-p"
        - /
    every: 60s
    fall: 5
    rise: 1
    depends_on:
      - rootfs
notify:
  receivers:
    - name: mail
      mail:
        server: mail.example.org:587
        from: monit@example.org
        to:
          - ops@example.org
        tls: starttls
        user: monit
        password_file: /etc/wardmote/mail.secret
)");
}

TEST(ImportMonit, SaysWhatHasNoCounterpart) {
  const Imported made = import_text(kControl);
  for (const std::string what :
       {"line 11: include /etc/monit/conf.d/*: files that a file names are not read",
        "line 9: set httpd: the API and the page of the agent", "line 8: set alert: which events",
        "nginx: if cpu: this test has no counterpart",
        "nginx: if 4: no counterpart: the agent restarts no service",
        "nginx_bin: if failed: this test has no counterpart", "db: protocol mysql: not spoken",
        "db: password: left out: the probe does not log in", "db: succeeded: left out",
        "system $HOST: no probe looks at this",
        "`X times within Y cycles` is X failures in a row here",
        "the password of the mail server is not copied: write it into /etc/wardmote/mail.secret"})
    EXPECT_TRUE(says(made, what)) << what << "\n" << all_notes(made);
  EXPECT_FALSE(says(made, "a word: no statement that is known")) << all_notes(made);
}

TEST(ImportMonit, NeverCopiesAPassword) {
  const Imported made = import_text(kControl);
  EXPECT_FALSE(made.yaml.contains("not-to-be-copied"));
  EXPECT_FALSE(says(made, "not-to-be-copied")) << all_notes(made);
}

TEST(ImportMonit, AnExpressionOverCommandLinesIsNoName) {
  const Imported made = import_text(
      "check process a matching \"cron\"\ncheck process b matching \"^/usr/bin/python.*x\"\n"
      "check process c matching \"vmware\"\n  if exist then alert\n");
  EXPECT_EQ(accepted(made).checks.size(), 2U);
  EXPECT_TRUE(says(made, "b: left out: `process` knows a process by its name"));
  EXPECT_TRUE(made.yaml.contains("max: 0")) << made.yaml;
}

TEST(ImportMonit, HostileFilesAreRefused) {
  EXPECT_EQ(refused({{"q", "check file a path \"/x\n"}}).code, Errc::kInvalid);
  EXPECT_EQ(refused({{"n", std::string("check file a path /x\0\n", 22)}}).code, Errc::kInvalid);
  EXPECT_EQ(refused({{"b", "set daemon 5\n" + std::string(2 << 20, '#')}}).code, Errc::kLimit);
  EXPECT_EQ(refused({{"e", "set daemon 5\n"}}).code, Errc::kInvalid) << "nothing to watch";
  std::string many;
  for (int i = 0; i < 10'010; ++i)
    many += "check file f" + std::to_string(i) + " path /x" + std::to_string(i) + "\n";
  EXPECT_EQ(refused({{"m", many}}).code, Errc::kLimit);
}

TEST(ImportMonit, DependenciesInACircleAreSaid) {
  const Imported made =
      import_text("check file a path /a\n depends on b\ncheck file b path /b\n depends on a\n");
  EXPECT_EQ(accepted(made).checks.size(), 2U);
  EXPECT_TRUE(says(made, "a: what it depends on goes in a circle: left out")) << all_notes(made);
}

}  // namespace
}  // namespace wardmote::config
