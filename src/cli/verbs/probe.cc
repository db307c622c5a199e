#include <boost/json/value.hpp>
#include <chrono>
#include <memory>

#include "base/result.h"
#include "base/time.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/format.h"
#include "cli/observation_json.h"
#include "cli/output.h"
#include "cli/probe_params.h"
#include "cli/render/observation.h"
#include "cli/session.h"
#include "cli/verbs/verbs.h"
#include "judge/observation.h"
#include "judge/outcome.h"
#include "observe/kinds.h"
#include "observe/probe.h"
#include "runtime/deadline.h"

namespace wardmote::cli {
namespace {

using runtime::Task;

constexpr Duration kTimeout = std::chrono::seconds(2);

Exit exit_of(judge::Outcome outcome) noexcept {
  return exit_of_verdict(to_string(outcome));
}

Task<Exit> look(const Call* call, observe::Probe* probe, runtime::Deadline deadline) {
  const judge::Observation seen = co_await probe->look(deadline);
  const boost::json::value shown = to_json(call->command().name, seen);
  const Format format = format_of(*call);
  print(for_programs(format) ? written(format, shown) : draw_observation(shown, style_for(*call)));
  co_return exit_of(seen.outcome);
}

}  // namespace

Exit run_probe(const Call& call) {
  const observe::ProbeKind& kind = *observe::find_kind(call.command().name);
  const Result<observe::Params> params = probe_params(kind, call);
  if (!params) return complain(call, Exit::kUsage, params.error().context);
  const Result<Duration> timeout = call.duration("timeout", kTimeout);
  if (!timeout) return complain(call, Exit::kUsage, timeout.error().context);

  Session session;
  const auto probe = kind.make(session.runtime(), call.value("TARGET"), *params);
  if (!probe) return complain(call, Exit::kUsage, probe.error().context);
  return session.run(look(&call, probe->get(), session.runtime().deadline_in(*timeout)));
}

}  // namespace wardmote::cli
