// A check of Monit is translated to one that asks the same, or less with a note, or to none.
// What Monit means was asked of monit 5.33 (`monit -t -v`, and what it runs and sends).
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "config/import/shell_words.h"
#include "unit/config/import_fixture.h"

namespace wardmote::config {
namespace {

/// Beside it stands a check that can always be translated, which is not in the result.
std::string checks_of(const Imported& made) {
  constexpr std::string_view kBegin = "checks:\n";
  const std::size_t end = made.yaml.find("  - name: beside\n");
  EXPECT_NE(end, std::string::npos) << made.yaml;
  return made.yaml.substr(kBegin.size(), end - kBegin.size());
}

Imported import_beside(const std::string& text) {
  Imported made = import_text(text + "\ncheck file beside path /etc/hosts\n");
  accepted(made);
  return made;
}

void expect_left_out(const std::string& text, std::string_view note) {
  const Imported made = import_beside(text);
  EXPECT_EQ(checks_of(made), "") << text;
  EXPECT_TRUE(says(made, note)) << note << "\n" << all_notes(made);
}

TEST(ImportMonitTruth, WhatMustNotRunIsAskedByNameOnly) {
  expect_left_out("check process weird with pidfile /run/w.pid\n if exist then alert\n",
                  "weird: left out: if exist: the probe has no way to be content without it");
  expect_left_out("check filesystem f path /mnt\n if exist then alert\n",
                  "f: left out: if exist: the probe has no way to be content without it");
  expect_left_out("check file f path /x\n if exist then alert\n if not exist then alert\n",
                  "f: left out: it is a failure there whether it exists or not");
  const Imported made =
      import_beside("check process v matching \"vmware\"\n if exist then alert\n");
  EXPECT_TRUE(made.yaml.contains("min: 0\n      max: 0")) << made.yaml;
}

TEST(ImportMonitTruth, AFolderThatMustNotExistIsNoFolderThatMust) {
  const Imported made = import_beside(
      "check directory d path /x\n if exist then alert\n if timestamp > 1 day then alert\n");
  EXPECT_EQ(checks_of(made), R"(  - name: d
    file:
      path: /x
      absent: true
    every: 30s
    fall: 1
    rise: 1
)");
  EXPECT_TRUE(says(made, "d: if timestamp: not tested: a failure is that it is there at all"));
  EXPECT_TRUE(says(made, "check file, directory, fifo: not tested: which of them it is"));
}

TEST(ImportMonitTruth, AProgramGetsTheArgumentsThatMonitGivesIt) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(monit_words("/bin/sh -c 'sleep 5; exit 0' x"),
            (Words{"/bin/sh", "-c", "sleep 5; exit 0", "x"}));
  EXPECT_EQ(monit_words("/p a'b c'd $HOME * it's x''y"),
            (Words{"/p", "a'b", "c'd", "$HOME", "*", "it's", "x''y"}));
  EXPECT_EQ(monit_words("/p '' 'a b'c"), (Words{"/p", "", "a b", "c"}));
  EXPECT_EQ(monit_words("  "), Words());
  const Imported made = import_beside(R"(
check program p with path "/bin/sh -c 'sleep 5; exit 0'"
  if status != 0 then alert
check program r path /usr/bin/test -e "/none xistent" and -d=/x with timeout 20 seconds
  if status != 0 then alert
)");
  EXPECT_TRUE(made.yaml.contains("args:\n        - \"-c\"\n        - \"sleep 5; exit 0\"\n"))
      << made.yaml;
  EXPECT_TRUE(
      made.yaml.contains("program: /usr/bin/test\n      args:\n        - \"-e\"\n        - "
                         "/none xistent\n        - \"-d=/x\"\n"))
      << made.yaml;
  EXPECT_FALSE(says(made, "a word: no statement that is known")) << all_notes(made);
}

TEST(ImportMonitTruth, AProgramThatWouldRunDifferentlyIsLeftOut) {
  expect_left_out("check program p path \"/p a\" as uid nobody\n if status != 0 then alert\n",
                  "p: left out: uid, gid: the agent runs programs as its own user");
  expect_left_out("check program p path \"/p a\" \"'b'\"\n if status != 0 then alert\n",
                  "p: left out: its command line cannot be read as Monit reads it");
  expect_left_out("check program p path \"/p ''\"\n if status != 0 then alert\n",
                  "p: left out: args: it is empty");
}

TEST(ImportMonitTruth, OnlyAStatusThatIsJudgedTheSameIsTaken) {
  for (const std::string test :
       {"if status = 0 then alert", "if status = 3 then alert", "if status 3 then alert",
        "if status > 1 then alert", "if status != 1 then alert", "if status < 1 then alert",
        "if changed status then alert", "if content = \"x\" then alert"})
    expect_left_out("check program p path /bin/true\n " + test + "\n",
                    "p: left out: here every exit code but 0 is a failure");
  const Imported made = import_beside(R"(
check program p path /bin/true
  if status >= 1 for 3 cycles then alert
  if status > 0 for 2 cycles then alert
  if status = 7 then alert
)");
  EXPECT_TRUE(checks_of(made).contains("fall: 2\n")) << made.yaml;
  EXPECT_TRUE(says(made, "line 3: p: if status: not tested by itself: another test"));
  EXPECT_TRUE(says(made, "line 5: p: if status: not tested by itself: every exit code but 0"));
}

TEST(ImportMonitTruth, WhatIsSlowThereIsNotHungHere) {
  const Imported made = import_beside(R"(
check program own with path /bin/own with timeout 40 seconds
  if status != 0 for 3 cycles then alert
check program default with path /bin/default
  if status != 0 then alert
)");
  EXPECT_EQ(checks_of(made), R"(  - name: own
    exec:
      program: /bin/own
      style: script
    every: 40s
    timeout: 40s
    fall: 3
    rise: 1
  - name: default
    exec:
      program: /bin/default
      style: script
    every: 300s
    timeout: 300s
    fall: 1
    rise: 1
)");
  EXPECT_TRUE(says(made, "line 2: own: every: 40s and not 30s, since a look may last as long"));
  const Imported limited = import_beside(
      "set daemon 2\nset limits { programTimeout: 1 m, networkTimeout: 4 s }\n"
      "check program p path /bin/p\n if status != 0 then alert\n"
      "check host h with address 10.0.0.1\n if failed port 80 for 3 cycles then alert\n");
  EXPECT_TRUE(limited.yaml.contains("every: 60s\n    timeout: 60s\n    fall: 1")) << limited.yaml;
  EXPECT_TRUE(limited.yaml.contains("every: 4s\n    timeout: 4s\n    fall: 2")) << limited.yaml;
}

TEST(ImportMonitTruth, OfTwoTestsOfOneKindTheStricterIsKept) {
  const Imported made = import_beside(R"(
check process m with pidfile /run/m.pid
  if memory > 100 MB then alert
  if memory > 900 MB then alert
check file f path /x
  if timestamp > 5 minutes then alert
  if timestamp > 1 hour then alert
  if size > 100 MB then alert
  if size > 1 GB then alert
  if size < 1 kB then alert
  if size < 2 kB then alert
check filesystem d path /
  if space usage > 80% then alert
  if space usage > 95% then alert
  if inode usage > 95% then alert
  if inode usage > 80% then alert
)");
  EXPECT_TRUE(made.yaml.contains("max_rss: \"100MiB\"")) << made.yaml;
  EXPECT_TRUE(made.yaml.contains("max_age: 300s")) << made.yaml;
  EXPECT_TRUE(
      made.yaml.contains("args:\n        - \"-E\"\n        - \"-c\"\n        - \"20%\"\n"
                         "        - \"-K\"\n        - \"20%\"\n        - \"-p\"\n"))
      << made.yaml;
  for (const std::string line : {"4: m: if memory", "7: f: if timestamp", "9: f: if size",
                                 "11: f: if size", "14: d: if space", "16: d: if inode"})
    EXPECT_TRUE(says(made, "line " + line + ": two tests of one kind: only the stricter"))
        << line << "\n"
        << all_notes(made);
}

TEST(ImportMonitTruth, ATestThatWaitsLongerMakesNoOtherWait) {
  const Imported made = import_beside(R"(
check process nginx with pidfile /run/n.pid
  if memory > 500 MB for 20 cycles then alert
  if does not exist then alert
check filesystem r path /data
  if space usage > 80% for 5 cycles then alert else if succeeded for 2 cycles then alert
check file f path /x
  if does not exist for 3 cycles then alert
  if size > 1 MB for 3 cycles then alert
)");
  EXPECT_EQ(checks_of(made), R"(  - name: nginx
    process:
      program: /run/n.pid
    every: 30s
    fall: 1
    rise: 1
  - name: nginx-memory
    process:
      program: /run/n.pid
      max_rss: "500MiB"
    every: 30s
    fall: 20
    rise: 1
    depends_on:
      - nginx
  - name: r
    exec:
      program: /usr/lib/nagios/plugins/check_disk
      args:
        - "-E"
        - "-c"
        - "0%"
        - "-p"
        - /data
    every: 30s
    fall: 1
    rise: 1
  - name: r-space
    exec:
      program: /usr/lib/nagios/plugins/check_disk
      args:
        - "-E"
        - "-c"
        - "20%"
        - "-p"
        - /data
    every: 30s
    fall: 5
    rise: 2
    depends_on:
      - r
  - name: f
    file:
      path: /x
      max_size: "1MiB"
    every: 30s
    fall: 3
    rise: 1
)");
}

TEST(ImportMonitTruth, ATestOfSomethingElseIsNotTaken) {
  const Imported made = import_beside(R"(
check process p with pidfile /run/p.pid
  if total memory > 1 GB then alert
  if memory > 20% then alert
check file f path /x
  if change time > 5 minutes then alert
  if atime > 5 minutes then alert
  if size >= 1 GB then alert
check filesystem d path /data
  if space free < 10% then alert
  if space usage > 5 GB then alert
)");
  for (const std::string line :
       {"3: p: if total", "4: p: if memory", "6: f: if change", "7: f: if atime", "8: f: if size",
        "10: d: if space", "11: d: if space"})
    EXPECT_TRUE(says(made, "line " + line + ": this test has no counterpart")) << line;
  for (const std::string option : {"max_rss", "max_age", "max_size", "5%", "10%"})
    EXPECT_FALSE(made.yaml.contains(option)) << option << "\n" << made.yaml;
}

TEST(ImportMonitTruth, TheBodyAndTheStatusAreJudgedAsThere) {
  const auto http = [](const std::string& options) {
    return import_beside("check host h with address 10.0.0.1\n if failed port 80 protocol http " +
                         options + " then alert\n");
  };
  const Imported without = http("content != \"fatal\"");
  EXPECT_FALSE(without.yaml.contains("body:")) << without.yaml;
  EXPECT_TRUE(says(without, "h: content: not tested")) << all_notes(without);
  EXPECT_TRUE(http("content = \"content\"").yaml.contains("body: content"));
  EXPECT_TRUE(http("status 404").yaml.contains("status:\n        - \"404\"\n"));
  EXPECT_TRUE(http("status >= 500").yaml.contains("status:\n        - \"500-999\"\n"));
  EXPECT_TRUE(http("status > 500").yaml.contains("status:\n        - \"501-999\"\n"));
  EXPECT_TRUE(http("status < 400").yaml.contains("status:\n        - \"100-399\"\n"));
  EXPECT_TRUE(http("status <= 101").yaml.contains("status:\n        - \"100-101\"\n"));
  EXPECT_TRUE(http("status != 500")
                  .yaml.contains("status:\n        - \"100-499\"\n        - \"501-999\"\n"));
  expect_left_out(
      "check host h with address h\n if failed port 80 protocol http status < 100 then "
      "alert\n",
      "h: status: left out: no status would be good");
}

TEST(ImportMonitTruth, TheSameVirtualHostIsAsked) {
  const Imported made = import_beside(R"(
check host h with address 10.0.0.1
  if failed port 80 protocol http hostheader "a.example" request "/foo" then alert
  if failed port 81 protocol http with http headers [Host: "a.example:81", X-Foo: a=b, Y: "c, d"]
    request "/x" then alert
)");
  EXPECT_TRUE(made.yaml.contains("header:\n        - \"Host: a.example\"\n")) << made.yaml;
  EXPECT_TRUE(
      made.yaml.contains("header:\n        - \"Host: a.example:81\"\n        - \"X-Foo: "
                         "a=b\"\n        - \"Y: c, d\"\n"))
      << made.yaml;
}

TEST(ImportMonitTruth, TheSameTransportIsUsed) {
  const Imported made = import_beside(R"(
check host h with address 10.0.0.1
  if failed port 53 protocol dns then alert
  if failed port 54 type udp protocol dns then alert
  if failed port 123 protocol ntp3 then alert
  if failed port 3306 protocol mysqls then alert
)");
  EXPECT_EQ(checks_of(made), R"(  - name: h-53
    dns:
      name: "."
      type: NS
      server: "10.0.0.1:53"
      tcp: true
      min_answers: 0
    every: 30s
    timeout: 5s
    fall: 1
    rise: 1
  - name: h-54
    dns:
      name: "."
      type: NS
      server: "10.0.0.1:54"
      min_answers: 0
    every: 30s
    timeout: 5s
    fall: 1
    rise: 1
  - name: h-3306
    tcp:
      address: "10.0.0.1:3306"
    every: 30s
    timeout: 5s
    fall: 1
    rise: 1
)");
  EXPECT_TRUE(says(made, "h: udp: left out"));
}

TEST(ImportMonitTruth, TlsIsAskedForAsThere) {
  const Imported made = import_beside(R"(
set ssl { verify: enable }
check host h with address 10.0.0.1
  if failed port 1 with ssl options {clientpemfile: /c.pem} then alert
  if failed port 2 with ssl options {cacertificatefile: /ca.pem} then alert
  if failed port 3 with ssl options {selfsigned: allow, version: tlsv13} then alert
  if failed port 4 with ssl options {cacertificatepath: /etc/ca} then alert
  if failed port 5 protocol dns with ssl then alert
)");
  EXPECT_EQ(checks_of(made), R"(  - name: h-2
    tls:
      address: "10.0.0.1:2"
      tls_ca: /ca.pem
    every: 30s
    timeout: 5s
    fall: 1
    rise: 1
  - name: h-3
    tls:
      address: "10.0.0.1:3"
      verify: none
    every: 30s
    timeout: 5s
    fall: 1
    rise: 1
)");
  for (const std::string note : {"h: ssl options: left out: it shows a certificate of its own",
                                 "h: ssl options: selfsigned: not tested", "h: version: not tested",
                                 "h: ssl options: left out: `tls_ca` is a file",
                                 "h: dns: left out: the probe speaks no DNS"})
    EXPECT_TRUE(says(made, note)) << note << "\n" << all_notes(made);
}

TEST(ImportMonitTruth, EveryWordOfAConnectionIsTranslatedOrSaid) {
  const Imported made = import_beside(R"(
check host h with address 10.0.0.1
  if failed port 85 responsetime > 200 ms retry 3 then alert
  if failed port 86 address 10.0.0.9 for 2 cycles then alert else if succeeded for 5 cycles then alert
  if failed port 87 frobnicate 5 then alert
  if failed host status port 88 timeout 3 seconds for 2 cycles then alert
)");
  EXPECT_TRUE(says(made, "line 3: h: responsetime: not tested")) << all_notes(made);
  EXPECT_TRUE(says(made, "line 4: h: address: no counterpart"));
  EXPECT_TRUE(says(made, "line 5: h: a word: no word of a test that is known: not tested"));
  EXPECT_FALSE(says(made, "line 6")) << all_notes(made);
  EXPECT_TRUE(made.yaml.contains("10.0.0.1:85\"\n    every: 30s\n    timeout: 5s\n    fall: 3\n"))
      << made.yaml;
  EXPECT_TRUE(made.yaml.contains("fall: 2\n    rise: 5\n")) << made.yaml;
}

TEST(ImportMonitTruth, ADependencyThatIsLostIsSaid) {
  const Imported made = import_beside(
      "check file a path /a\n depends on b, beside\ncheck process b matching \"x.*y\"\n");
  EXPECT_TRUE(says(made, "line 1: a: depends on b: left out: there is no check of it"))
      << all_notes(made);
  EXPECT_TRUE(made.yaml.contains("depends_on:\n      - beside\n")) << made.yaml;
}

}  // namespace
}  // namespace wardmote::config
