#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "observe/host/file_probe.h"
#include "observe/host/process_probe.h"
#include "observe/host/remembered_file.h"
#include "observe/service/status_file.h"
#include "observe/service/supervised_probe.h"
#include "sim/seeds.h"

namespace wardmote::sim {
namespace {

using judge::Observation;
using judge::Outcome;
using judge::ReasonCode;
using observe::Params;
using observe::Probe;
using namespace std::chrono_literals;

const std::string kFolder = "/etc/service/bird";

/// `offset`: 10 as runit and daemontools write it, 37 as s6 does since 2017.
std::string tai64n(WallTime t, int offset = 10) {
  const auto since = t.time_since_epoch();
  const auto whole = std::chrono::floor<std::chrono::seconds>(since);
  const auto label = (std::uint64_t{1} << 62) + static_cast<std::uint64_t>(whole.count() + offset);
  const auto fraction = static_cast<std::uint32_t>((since - whole).count());
  std::string bytes;
  for (int shift = 56; shift >= 0; shift -= 8) bytes += static_cast<char>(label >> shift);
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(fraction >> shift);
  return bytes;
}

/// A runsv and its service, as far as files show them.
class FakeRunsv {
 public:
  explicit FakeRunsv(SimRuntime& host) : host_(host) {
    host.files().put_fifo(kFolder + "/supervise/ok", true);
    process(400, "runsv", 'S', 1);
  }

  void run(std::uint32_t pid) {
    write(pid, 'u', 1);
    process(pid, "bird", 'S', 400);
    pid_ = pid;
  }
  void end() {
    host_.files().remove(fmt::format("/proc/{}/stat", pid_));
    write(0, 'u', 0);
  }
  void write(std::uint32_t pid, char want, char state) {
    std::string bytes = tai64n(host_.wall_now());
    for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(pid >> shift);
    bytes += '\0';
    bytes += want;
    bytes += '\0';
    bytes += state;
    host_.files().put(kFolder + "/supervise/status", bytes);
  }
  void process(std::uint32_t pid, std::string_view name, char state, std::uint32_t parent) {
    const auto ticks = host_.now().time_since_epoch() / 10ms;
    host_.files().put(fmt::format("/proc/{}/stat", pid),
                      fmt::format("{} ({}) {} {} 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 {} 0 0\n", pid,
                                  name, state, parent, ticks));
  }

 private:
  SimRuntime& host_;
  std::uint32_t pid_ = 0;
};

Observation look(World& sim, SimRuntime& host, Probe& probe) {
  return run_task(sim, host, probe.look(host.deadline_in(1s)));
}

std::unique_ptr<Probe> runit_probe(SimRuntime& host, Params params = {{"service", "bird"}}) {
  auto probe = observe::service::make_runit_probe(host, "bird", params);
  check(probe.has_value(), "no probe");
  return *std::move(probe);
}

SIM_TEST_SEEDS(RunitProbe, SeesAServiceComeUp, 1) {
  SimRuntime& host = sim.host("node");
  sim.run_for(10s);
  const auto probe = runit_probe(host);
  const Observation nothing = look(sim, host, *probe);
  EXPECT_EQ(nothing.outcome, Outcome::kFail);
  EXPECT_EQ(nothing.reason.code, ReasonCode::kMissing);

  FakeRunsv runsv(host);
  runsv.run(412);
  sim.run_for(500ms);
  EXPECT_EQ(look(sim, host, *probe).outcome, Outcome::kUnknown);
  sim.run_for(5s);
  const Observation up = look(sim, host, *probe);
  EXPECT_EQ(up.outcome, Outcome::kOk) << up.reason.text;
  const auto& facts = std::get<judge::ServiceFacts>(up.facts);
  EXPECT_EQ(facts.pid, 412U);
  EXPECT_EQ(facts.in_state, 5500ms);
  EXPECT_TRUE(facts.normally_up);
  EXPECT_EQ(facts.process->name, "bird");
  EXPECT_EQ(facts.parent_name, "runsv");
}

SIM_TEST_SEEDS(RunitProbe, ACrashLoopIsNeverGood, 1) {
  SimRuntime& host = sim.host("node");
  sim.run_for(10s);
  FakeRunsv runsv(host);
  const auto probe = runit_probe(host);
  int failed = 0;
  for (std::uint32_t i = 0; i < 20; ++i) {
    runsv.run(500 + i);
    sim.run_for(300ms);
    if (i % 2 == 0) EXPECT_NE(look(sim, host, *probe).outcome, Outcome::kOk);
    runsv.end();
    sim.run_for(700ms);
    const Observation down = look(sim, host, *probe);
    failed += down.reason.text.contains("restarting: ") ? 1 : 0;
    EXPECT_EQ(down.outcome, Outcome::kFail);
  }
  EXPECT_GE(failed, 15);
}

SIM_TEST_SEEDS(RunitProbe, ADeadSupervisorAndABrokenStatus, 1) {
  SimRuntime& host = sim.host("node");
  sim.run_for(10s);
  FakeRunsv runsv(host);
  runsv.run(412);
  sim.run_for(5s);
  const auto probe = runit_probe(host);
  host.files().put_fifo(kFolder + "/supervise/ok", false);
  const Observation orphan = look(sim, host, *probe);
  EXPECT_EQ(orphan.outcome, Outcome::kFail);
  EXPECT_TRUE(orphan.reason.text.contains("runsv is not running")) << orphan.reason.text;

  host.files().put_fifo(kFolder + "/supervise/ok", true);
  for (const std::size_t size : {0, 5, 19, 20, 21, 64, 1000}) {
    host.files().put(kFolder + "/supervise/status", std::string(size, '\0'));
    const Observation broken = look(sim, host, *probe);
    EXPECT_EQ(broken.outcome, Outcome::kUnknown) << size;
  }
  host.files().refuse(kFolder + "/supervise/ok", Errc::kDenied);
  EXPECT_EQ(look(sim, host, *probe).outcome, Outcome::kUnknown) << "we may not ask";
}

SIM_TEST_SEEDS(RunitProbe, AStatusIsReadOnceAsLongAsItIsTheSame, 1) {
  SimRuntime& host = sim.host("node");
  sim.run_for(10s);
  const std::string file = kFolder + "/supervise/status";
  FakeRunsv runsv(host);
  runsv.run(412);
  sim.run_for(5s);
  const auto probe = runit_probe(host);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(look(sim, host, *probe).outcome, Outcome::kOk);
  EXPECT_EQ(host.files().reads(file), 1);
  runsv.write(412, 'd', 1);
  const Observation leaving = look(sim, host, *probe);
  EXPECT_EQ(leaving.outcome, Outcome::kWarn) << leaving.reason.text;
  host.files().refuse(file, Errc::kDenied);
  EXPECT_EQ(look(sim, host, *probe).outcome, Outcome::kUnknown);
}

SIM_TEST_SEEDS(RunitProbe, ANewProcessIsNotTakenForTheOneWhoseNumberItGot, 1) {
  SimRuntime& host = sim.host("node");
  sim.run_for(10s);
  FakeRunsv runsv(host);
  runsv.run(412);
  sim.run_for(5s);
  const auto probe = runit_probe(host);
  EXPECT_EQ(look(sim, host, *probe).outcome, Outcome::kOk);
  runsv.process(400, "runsv", 'T', 1);
  const Observation stopped = look(sim, host, *probe);
  EXPECT_EQ(std::get<judge::ServiceFacts>(stopped.facts).parent_state, 'T');

  host.files().remove("/proc/412/stat");
  sim.run_for(5s);
  EXPECT_EQ(look(sim, host, *probe).outcome, Outcome::kUnknown) << "nobody has the number";
  runsv.process(412, "cron", 'S', 1);
  const Observation other = look(sim, host, *probe);
  EXPECT_EQ(other.outcome, Outcome::kUnknown);
  EXPECT_TRUE(other.reason.text.contains("stale pid: process 412 (cron)")) << other.reason.text;
}

SIM_TEST_SEEDS(RememberedFile, TrustsOnlyWhatHasSettled, 1) {
  SimRuntime& host = sim.host("node");
  sim.run_for(10s);
  FakeFiles& files = host.files();
  const WallTime changed = host.wall_now();
  files.put("/run/status", "one", changed);
  observe::RememberedFile file("/run/status", 3);
  EXPECT_EQ(file.read(files, changed + 1s).value(), "one");
  files.rewrite_unseen("/run/status", "two");
  EXPECT_EQ(file.read(files, changed + 2s).value(), "two");
  EXPECT_EQ(file.read(files, changed + 3s).value(), "two");
  EXPECT_EQ(files.reads("/run/status"), 3);
  EXPECT_EQ(file.read(files, changed + 4s).value(), "two");
  EXPECT_EQ(files.reads("/run/status"), 3);

  files.put("/run/status", "six", changed + 5s);
  EXPECT_EQ(file.read(files, changed + 1s).value(), "six") << "the clock was set back";
  EXPECT_EQ(file.read(files, changed + 1s).value(), "six");
  EXPECT_EQ(files.reads("/run/status"), 5);
  files.put("/run/status", "more", changed);
  EXPECT_EQ(file.read(files, changed + 9s).error().code, Errc::kLimit);
  files.remove("/run/status");
  EXPECT_EQ(file.read(files, changed + 9s).error().code, Errc::kMissing);
}

SIM_TEST_SEEDS(RunitProbe, ANameLeadsNowhereElse, 1) {
  SimRuntime& host = sim.host("node");
  const auto make = [&](std::string service) {
    return observe::service::make_runit_probe(host, "s", {{"service", std::move(service)}});
  };
  for (const std::string_view bad : {"", ".", "..", "../../etc", "a/b", "./a"}) {
    EXPECT_EQ(make(std::string(bad)).error().code, Errc::kInvalid) << bad;
  }
  EXPECT_FALSE(make("/" + std::string(4096, 'x')).has_value());
  EXPECT_FALSE(make(std::string(4096, 'x')).has_value());
  EXPECT_TRUE(make("a service").has_value());
  EXPECT_TRUE(make("/run/runit/a b").has_value());
  EXPECT_FALSE(
      observe::service::make_runit_probe(host, "s", {{"service", "a"}, {"svdir", "relative"}})
          .has_value());
  EXPECT_FALSE(observe::service::make_runit_probe(host, "s", {{"service", "a"}, {"compat", "x"}})
                   .has_value());
}

SIM_TEST_SEEDS(S6Probe, KnowsTheDeathsBeforeItsFirstLook, 1) {
  SimRuntime& host = sim.host("node");
  sim.run_for(10s);
  const std::string folder = "/run/service/b";
  host.files().put_fifo(folder + "/supervise/control", true);
  const std::string now = tai64n(host.wall_now(), 37);
  host.files().put(folder + "/supervise/status",
                   now + now + std::string(8, '\0') + std::string("\x03\x00\x04", 3));
  std::string tally;
  for (int i = 4; i > 0; --i)
    tally += tai64n(host.wall_now() - i * 1s, 37) + std::string("\x03\x00", 2);
  host.files().put(folder + "/supervise/death_tally", tally);
  const auto probe = observe::service::make_s6_probe(host, "b", {{"service", "b"}});
  const Observation seen = look(sim, host, **probe);
  EXPECT_EQ(seen.outcome, Outcome::kFail);
  EXPECT_EQ(seen.reason.text, "restarting: 4 restarts within 1m00s, it ended with exit code 3");
}

SIM_TEST_SEEDS(SvStatus, SaysWhatSvSays, 1) {
  using observe::service::sv_status;
  using observe::service::SvAnswer;
  SimRuntime& host = sim.host("node");
  sim.run_for(10s);
  const auto ask = [&](const std::string& name) {
    return sv_status(host.files(), "/etc/service", name, host.wall_now());
  };
  EXPECT_EQ(ask("/svc/missing"),
            (SvAnswer{"fail: /svc/missing: unable to change to service directory: "
                      "file does not exist\n",
                      1}));
  host.files().put(kFolder + "/run", "#!/bin/sh\n");
  EXPECT_EQ(ask("bird"),
            (SvAnswer{"warning: bird: unable to open supervise/ok: file does not exist\n", 1}));
  FakeRunsv runsv(host);
  runsv.run(412);
  sim.run_for(3s);
  EXPECT_EQ(ask("bird"), (SvAnswer{"run: bird: (pid 412) 3s\n", 0}));
  EXPECT_EQ(ask(kFolder).text, "run: /etc/service/bird: (pid 412) 3s\n");
  host.files().put_fifo(kFolder + "/log/supervise/ok", true);
  host.files().put(kFolder + "/log/supervise/status",
                   host.files().read(kFolder + "/supervise/status", 64).value());
  EXPECT_EQ(ask("bird").text, "run: bird: (pid 412) 3s; run: log: (pid 412) 3s\n");
  host.files().put(kFolder + "/supervise/status", "short");
  EXPECT_EQ(ask("bird").text, "warning: bird: unable to read supervise/status: bad format\n");
  host.files().refuse(kFolder + "/supervise/ok", Errc::kDenied);
  EXPECT_EQ(ask("bird").text, "warning: bird: unable to open supervise/ok: access denied\n");
  host.files().put_fifo(kFolder + "/supervise/ok", false);
  EXPECT_EQ(ask("bird").text, "fail: bird: runsv not running\n");
}

SIM_TEST_SEEDS(ProcessProbe, ByNameAndByPidFile, 1) {
  SimRuntime& host = sim.host("node");
  sim.run_for(10s);
  FakeRunsv processes(host);
  processes.process(412, "bird", 'S', 400);
  processes.process(500, "calico-node-loo", 'R', 1);
  host.files().put("/proc/500/cmdline", std::string("/bin/calico-node-looped\0-x\0", 27));
  host.files().put("/run/bird.pid", "412\n");
  host.files().put("/run/old.pid", "9999\n");
  host.files().put("/run/bad.pid", "bird\n");
  const auto outcome = [&](Params params) {
    const auto probe = observe::make_process_probe(host, "p", params);
    check(probe.has_value(), "no probe");
    return look(sim, host, **probe).outcome;
  };
  EXPECT_EQ(outcome({{"program", "bird"}}), Outcome::kOk);
  EXPECT_EQ(outcome({{"program", "bird"}, {"min", std::int64_t{2}}}), Outcome::kFail);
  EXPECT_EQ(outcome({{"program", "bird6"}}), Outcome::kFail);
  EXPECT_EQ(outcome({{"program", "calico-node-looped"}}), Outcome::kOk);
  EXPECT_EQ(outcome({{"program", "calico-node-loose"}}), Outcome::kFail);
  EXPECT_EQ(outcome({{"program", "/run/bird.pid"}}), Outcome::kOk);
  EXPECT_EQ(outcome({{"program", "/run/old.pid"}}), Outcome::kFail);
  EXPECT_EQ(outcome({{"program", "/run/none.pid"}}), Outcome::kFail);
  EXPECT_EQ(outcome({{"program", "/run/bad.pid"}}), Outcome::kUnknown);
  processes.process(412, "bird", 'T', 400);
  EXPECT_EQ(outcome({{"program", "bird"}}), Outcome::kFail);
  host.files().put("/proc/412/status", "VmRSS:\t 2048 kB\n");
  processes.process(412, "bird", 'S', 400);
  EXPECT_EQ(outcome({{"program", "bird"}, {"max_rss", "1MiB"}}), Outcome::kFail);
}

SIM_TEST_SEEDS(ProcessProbe, WithoutProcNothingIsKnown, 1) {
  SimRuntime& host = sim.host("bare");
  host.files().put("/run/bird.pid", "412\n");
  host.files().put("/proc/meminfo", "");
  for (const char* const program : {"bird", "/run/bird.pid"}) {
    const auto probe = observe::make_process_probe(host, "p", {{"program", program}});
    const Observation seen = look(sim, host, **probe);
    EXPECT_EQ(seen.outcome, Outcome::kUnknown) << seen.reason.text;
    EXPECT_EQ(seen.reason.code, ReasonCode::kDenied);
  }
}

SIM_TEST_SEEDS(FileProbe, SizesThatNoFileHasAreRefused, 1) {
  SimRuntime& host = sim.host("node");
  const auto make = [&](const char* least, const char* largest) {
    return observe::make_file_probe(host, "x",
                                    {{"path", "/x"}, {"min_size", least}, {"max_size", largest}});
  };
  EXPECT_EQ(make("2", "1").error().code, Errc::kInvalid);
  EXPECT_EQ(make("1KiB", "1000").error().code, Errc::kInvalid);
  EXPECT_TRUE(make("2", "2").has_value());
}

SIM_TEST_SEEDS(FileProbe, AgeByTheWallClock, 1) {
  SimRuntime& host = sim.host("node");
  host.files().put("/var/backup", "12345", host.wall_now());
  const auto probe = observe::make_file_probe(
      host, "backup", {{"path", "/var/backup"}, {"max_age", Duration(1h)}, {"min_size", "5"}});
  ASSERT_TRUE(probe.has_value());
  EXPECT_EQ(look(sim, host, **probe).outcome, Outcome::kOk);
  sim.run_for(61min);
  EXPECT_EQ(look(sim, host, **probe).outcome, Outcome::kFail);
  host.files().remove("/var/backup");
  EXPECT_EQ(look(sim, host, **probe).reason.code, ReasonCode::kMissing);
  host.files().refuse("/var/backup", Errc::kDenied);
  EXPECT_EQ(look(sim, host, **probe).outcome, Outcome::kUnknown);
  host.files().refuse("/var/backup", Errc::kTimeout);
  EXPECT_EQ(look(sim, host, **probe).outcome, Outcome::kUnknown) << "of the file it says nothing";
  EXPECT_EQ(look(sim, host, **probe).reason.code, ReasonCode::kHung);
}

}  // namespace
}  // namespace wardmote::sim
