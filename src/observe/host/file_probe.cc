#include "observe/host/file_probe.h"

#include <array>
#include <expected>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "base/result.h"
#include "base/time.h"
#include "judge/host/file.h"
#include "judge/judgement.h"
#include "judge/observation.h"
#include "judge/outcome.h"
#include "observe/kinds.h"
#include "observe/params.h"
#include "observe/probe.h"
#include "observe/reason.h"
#include "runtime/deadline.h"
#include "runtime/files.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::observe {
namespace {

constexpr auto kParams = std::to_array<ParamSpec>({
    {"path", ParamType::kText, true, "an absolute path; symbolic links are followed"},
    {"max_age", ParamType::kDuration, false, "fail when the file was modified longer ago: 26h"},
    {"min_size", ParamType::kText, false, "fail when the file is smaller: 1, 64KiB"},
    {"max_size", ParamType::kText, false, "fail when the file is larger: 2GiB"},
    {"absent", ParamType::kFlag, false, "the file must not exist"},
});

}  // namespace

runtime::Task<judge::Observation> FileProbe::look(runtime::Deadline deadline) {
  judge::Observation observation;
  observation.subject = subject_;
  observation.begun = runtime_.now();
  const Result<runtime::FileInfo> info = co_await runtime_.files().info(path_, deadline);
  observation.ended = runtime_.now();
  if (!info && info.error().code != Errc::kMissing) {
    observation.reason = reason_of(info.error());
    observation.outcome = outcome_of(observation.reason.code);
    // This says nothing about the file.
    if (info.error().code == Errc::kTimeout) observation.outcome = judge::Outcome::kUnknown;
    co_return observation;
  }
  judge::FileFacts facts;
  facts.exists = info.has_value();
  if (info) {
    facts.size = info->size;
    facts.age = runtime_.wall_now() - info->modified;
  }
  judge::Judgement judgement = judge_file(facts, policy_);
  observation.outcome = judgement.outcome;
  observation.reason = std::move(judgement.reason);
  observation.facts = facts;
  co_return observation;
}

std::span<const ParamSpec> file_params() noexcept {
  return kParams;
}

Result<std::unique_ptr<Probe>> make_file_probe(runtime::Runtime& runtime, std::string subject,
                                               const Params& params) {
  Result<std::string> path = path_param(params, "path");
  if (!path) return std::unexpected(path.error());
  const auto min_size = bytes_param(params, "min_size");
  if (!min_size) return std::unexpected(min_size.error());
  const auto max_size = bytes_param(params, "max_size");
  if (!max_size) return std::unexpected(max_size.error());
  judge::FilePolicy policy;
  policy.absent = param<bool>(params, "absent").value_or(false);
  policy.max_age = param<Duration>(params, "max_age");
  policy.min_size = *min_size;
  policy.max_size = *max_size;
  if (policy.min_size && policy.max_size && *policy.min_size > *policy.max_size)
    return fail(Errc::kInvalid, "min_size: larger than max_size, so no file would do");
  if (policy.absent && (policy.max_age || policy.min_size || policy.max_size))
    return fail(Errc::kInvalid, "absent: what is not there has neither age nor size");
  return std::make_unique<FileProbe>(runtime, std::move(subject), *std::move(path), policy);
}

}  // namespace wardmote::observe
