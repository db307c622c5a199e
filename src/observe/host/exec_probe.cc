#include "observe/host/exec_probe.h"

#include <array>
#include <cstddef>
#include <expected>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "codec/plugin_output.h"
#include "judge/host/exec.h"
#include "judge/judgement.h"
#include "judge/observation.h"
#include "judge/outcome.h"
#include "observe/kinds.h"
#include "observe/params.h"
#include "observe/probe.h"
#include "observe/reason.h"
#include "runtime/deadline.h"
#include "runtime/process.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::observe {
namespace {

constexpr auto kParams = std::to_array<ParamSpec>({
    {"program", ParamType::kText, true, "absolute path of the program; no shell runs it"},
    {"args", ParamType::kList, false, "an argument of the program: --args=-w --args=10%"},
    {"style", ParamType::kText, false,
     "what the exit code means: plugin, script, consul, npd (default: plugin)"},
});

constexpr std::size_t kOutputCap = 64 << 10;
constexpr std::size_t kMostArguments = 256;

judge::ExecFacts to_facts(const runtime::ProcessExit& exit) {
  judge::ExecFacts facts;
  facts.exit_code = exit.status;
  codec::PluginOutput output = codec::parse_plugin_output(exit.standard_output);
  // A program that could not be started is reported elsewhere.
  if (output.text.empty() && exit.status != 0)
    output.text = codec::parse_plugin_output(exit.standard_error).text;
  facts.text = std::move(output.text);
  for (codec::PluginValue& value : output.values) {
    facts.measured.push_back({std::move(value.label), value.value, std::move(value.unit)});
  }
  return facts;
}

}  // namespace

runtime::Task<judge::Observation> ExecProbe::look(runtime::Deadline deadline) {
  judge::Observation observation;
  observation.subject = subject_;
  observation.begun = runtime_.now();
  runtime::ProcessSpec spec;
  spec.argv = argv_;
  spec.output_cap = kOutputCap;
  spec.ends_family = true;
  const auto exit = co_await runtime_.processes().run(std::move(spec), deadline);
  observation.ended = runtime_.now();
  if (!exit) {
    observation.reason = reason_of(exit.error());
    observation.outcome = outcome_of(observation.reason.code);
    // A program that does not exist says nothing about the thing that it should check.
    if (exit.error().code == Errc::kMissing) observation.outcome = judge::Outcome::kUnknown;
    co_return observation;
  }
  observation.cost.bytes_in = exit->standard_output.size() + exit->standard_error.size();
  judge::ExecFacts facts = to_facts(*exit);
  judge::Judgement judgement = judge_exec(facts, style_);
  observation.outcome = judgement.outcome;
  observation.reason = std::move(judgement.reason);
  observation.facts = std::move(facts);
  co_return observation;
}

std::span<const ParamSpec> exec_params() noexcept {
  return kParams;
}

Result<std::unique_ptr<Probe>> make_exec_probe(runtime::Runtime& runtime, std::string subject,
                                               const Params& params) {
  Result<std::string> program = path_param(params, "program");
  if (!program) return std::unexpected(program.error());
  std::vector<std::string> argv{*std::move(program)};
  for (std::string& argument :
       param<std::vector<std::string>>(params, "args").value_or(std::vector<std::string>())) {
    if (argument.contains('\0')) return fail(Errc::kInvalid, "args: a zero byte");
    argv.push_back(std::move(argument));
  }
  if (argv.size() > kMostArguments)
    return fail(Errc::kInvalid, "args: more than {}", kMostArguments - 1);
  const std::string name = param<std::string>(params, "style").value_or("plugin");
  const auto style = judge::exit_style_of(name);
  if (!style)
    return fail(Errc::kInvalid, "style: '{}' is none of plugin, script, consul, npd",
                escape_control(name, 32));
  return std::make_unique<ExecProbe>(runtime, std::move(subject), std::move(argv), *style);
}

}  // namespace wardmote::observe
