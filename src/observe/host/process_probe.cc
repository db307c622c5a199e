#include "observe/host/process_probe.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "codec/proc_stat.h"
#include "judge/host/process.h"
#include "judge/judgement.h"
#include "judge/observation.h"
#include "judge/outcome.h"
#include "observe/host/process_table.h"
#include "observe/kinds.h"
#include "observe/params.h"
#include "observe/probe.h"
#include "observe/reason.h"
#include "runtime/deadline.h"
#include "runtime/files.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::observe {

using codec::ProcStat;

namespace {

constexpr auto kParams = std::to_array<ParamSpec>({
    {"program", ParamType::kText, true,
     "name of a program, or path of its pid file: bird, /run/bird/bird.pid"},
    {"min", ParamType::kInteger, false, "least number of processes (default: 1)"},
    {"max", ParamType::kInteger, false, "greatest number of processes"},
    {"max_rss", ParamType::kText, false, "most resident memory of each process: 512MiB"},
    {"min_uptime", ParamType::kDuration, false, "unknown while a process is younger (default: 0s)"},
});

/// Further processes are counted, but not listed.
constexpr std::size_t kMostShown = 16;
constexpr std::int64_t kMostProcesses = 1 << 22;

}  // namespace

Result<std::vector<ProcStat>> ProcessProbe::find() const {
  runtime::Files& files = runtime_.files();
  if (!program_.starts_with('/')) return find_processes(files, program_);
  const Result<std::uint32_t> pid = read_pid_file(files, program_);
  if (!pid) return std::unexpected(pid.error());
  Result<ProcStat> stat = read_process(files, *pid);
  if (stat) return std::vector<ProcStat>{*std::move(stat)};
  if (stat.error().code != Errc::kMissing) return std::unexpected(stat.error());
  const Result<void> seen = see_processes(files);
  if (!seen) return fail(Errc::kDenied, "{}", seen.error().context);
  return fail(Errc::kMissing, "pid file {}: no process {}", program_, *pid);
}

judge::ProcessListFacts ProcessProbe::facts_of(std::vector<ProcStat> found) const {
  judge::ProcessListFacts facts;
  facts.count = found.size();
  // Processes that cannot run are listed first, because people want to see them.
  std::ranges::sort(found, {}, [](const ProcStat& stat) {
    return std::pair(judge::stuck_words(stat.state).empty(), stat.pid);
  });
  found.resize(std::min(found.size(), kMostShown));
  for (ProcStat& stat : found) {
    judge::ProcessFacts process = to_facts(std::move(stat), runtime_.now());
    if (policy_.most_rss) {
      const Result<std::uint64_t> rss = read_rss(runtime_.files(), process.pid);
      if (rss) process.rss = *rss;
    }
    facts.shown.push_back(std::move(process));
  }
  return facts;
}

runtime::Task<judge::Observation> ProcessProbe::look(runtime::Deadline) {
  judge::Observation observation;
  observation.subject = subject_;
  observation.begun = runtime_.now();
  Result<std::vector<ProcStat>> found = find();
  if (!found) {
    observation.ended = runtime_.now();
    observation.reason = reason_of(found.error());
    observation.outcome = outcome_of(observation.reason.code);
    co_return observation;
  }
  judge::ProcessListFacts facts = facts_of(*std::move(found));
  observation.ended = runtime_.now();
  Duration waiting{};
  if (!facts.shown.empty()) {
    const judge::ProcessFacts& first = facts.shown.front();
    waiting = waiting_.feed(first.pid, first.state, observation.begun);
  }
  judge::Judgement judgement = judge_processes(facts, policy_, waiting);
  observation.outcome = judgement.outcome;
  observation.reason = std::move(judgement.reason);
  observation.facts = std::move(facts);
  co_return observation;
}

std::span<const ParamSpec> process_params() noexcept {
  return kParams;
}

Result<std::unique_ptr<Probe>> make_process_probe(runtime::Runtime& runtime, std::string subject,
                                                  const Params& params) {
  std::string program = *param<std::string>(params, "program");
  const bool is_path = program.starts_with('/');
  if (is_path) {
    const Result<std::string> path = path_param(params, "program");
    if (!path) return std::unexpected(path.error());
  } else if (program.empty() || program.contains('/')) {
    return fail(Errc::kInvalid, "program: '{}' is neither a name nor an absolute path",
                escape_control(program, 64));
  }
  judge::ProcessPolicy policy;
  const auto least = integer_param(params, "min", 0, kMostProcesses, 1);
  if (!least) return std::unexpected(least.error());
  policy.least = static_cast<std::size_t>(*least);
  if (params.contains("max")) {
    const auto most = integer_param(params, "max", *least, kMostProcesses, *least);
    if (!most) return std::unexpected(most.error());
    policy.most = static_cast<std::size_t>(*most);
  }
  const auto rss = bytes_param(params, "max_rss");
  if (!rss) return std::unexpected(rss.error());
  policy.most_rss = *rss;
  policy.min_uptime = param<Duration>(params, "min_uptime").value_or(Duration::zero());
  return std::make_unique<ProcessProbe>(runtime, std::move(subject), std::move(program), policy);
}

}  // namespace wardmote::observe
