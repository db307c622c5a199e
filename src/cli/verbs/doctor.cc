#include <fcntl.h>
#include <unistd.h>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cerrno>
#include <chrono>
#include <expected>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "base/version.h"
#include "cli/agent_address.h"
#include "cli/agent_client.h"
#include "cli/agent_program.h"
#include "cli/command.h"
#include "cli/doctor/diagnosis.h"
#include "cli/doctor/rights.h"
#include "cli/doctor/surroundings.h"
#include "cli/doctor/tar.h"
#include "cli/exit_code.h"
#include "cli/find_agent.h"
#include "cli/format.h"
#include "cli/output.h"
#include "cli/render/fields.h"
#include "cli/session.h"
#include "cli/verbs/verbs.h"
#include "judge/outcome.h"
#include "runtime/deadline.h"
#include "runtime/endpoint.h"
#include "runtime/http.h"
#include "runtime/process.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::cli {
namespace {

namespace json = boost::json;
using judge::Outcome;
using runtime::Task;

constexpr Duration kConfigTime = std::chrono::seconds(10);
constexpr const char* kConfigPath = "/etc/wardmote/wardmote.yaml";

/// The first unix socket at which the agent may be, if it exists.
std::string socket_of(const AgentAddress& address) {
  for (const runtime::Endpoint& endpoint : address.endpoints) {
    std::error_code error;
    const bool here = endpoint.kind == runtime::Endpoint::Kind::kUnix &&
                      std::filesystem::exists(endpoint.path, error);
    if (here) return endpoint.path;
  }
  return "";
}

/// The input of a diagnosis; also the content of a bundle.
struct Findings {
  Answer<json::value> status = std::unexpected(Failure{});
  std::string metrics;
  std::string configuration;  ///< with every default, and without secrets
  std::vector<Diagnosis> diagnoses;
};

class Doctor {
 public:
  Doctor(runtime::Runtime& runtime, AgentAddress address)
      : runtime_(&runtime), socket_(socket_of(address)), client_(runtime, std::move(address)) {}

  Task<Findings> examine() {
    Findings found;
    Answer<json::value> status = co_await client_.get_json("/api/v1/status");
    found.status = std::move(status);
    if (found.status) {
      found.diagnoses.push_back({"agent", Outcome::kOk, "answers"});
      const Refusals refusals = look_at_rights(refused_paths(*found.status), socket_);
      for (Diagnosis& one : diagnose_status(*found.status, kVersion, refusals))
        found.diagnoses.push_back(std::move(one));
      const Answer<json::value> plans = co_await client_.get_json("/api/v1/plans");
      if (plans) {
        for (Diagnosis& one : diagnose_plans(*plans)) found.diagnoses.push_back(std::move(one));
      }
      const Answer<runtime::HttpResponse> metrics = co_await client_.get("/metrics");
      if (metrics) found.metrics = metrics->body;
    } else {
      found.diagnoses.push_back({"agent", Outcome::kFail, found.status.error().message,
                                 "systemctl status wardmoted; journalctl -u wardmoted"});
    }
    co_await read_configuration(&found);
    for (Diagnosis& one : diagnose(look_around(socket_))) found.diagnoses.push_back(std::move(one));
    co_return found;
  }

 private:
  Task<void> read_configuration(Findings* found) {
    std::string path = kConfigPath;
    if (found->status) {
      const std::string_view told = Fields(*found->status).object("config").raw("path");
      if (!told.empty()) path = told;
    }
    runtime::ProcessSpec spec;
    spec.argv = {agent_program(), "config", "show", "--effective", path};
    const runtime::Deadline deadline = runtime_->deadline_in(kConfigTime);
    const Result<runtime::ProcessExit> shown =
        co_await runtime_->processes().run(std::move(spec), deadline);
    if (!shown) {
      found->diagnoses.push_back(
          {"file", Outcome::kUnknown,
           "wardmoted, which reads it, cannot be run: " + shown.error().describe(),
           "install wardmoted beside wardmote, or put it into PATH"});
    } else if (shown->status == 0) {
      found->configuration = shown->standard_output;
      found->diagnoses.push_back({"file", Outcome::kOk, path + " is valid"});
    } else {
      std::string_view problems = shown->standard_error;
      found->diagnoses.push_back(
          {"file", Outcome::kFail, escape_control(take_until(problems, '\n')),
           fmt::format("`wardmote config check {}` lists every problem", path)});
    }
  }

  runtime::Runtime* runtime_;
  std::string socket_;
  AgentClient client_;
};

/// For a person who helps: everything that was seen, without secrets. Only its owner may read it.
Result<void> write_bundle(const std::string& file, const Findings& found, WallTime now) {
  Tar tar(std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count());
  tar.add("wardmote/doctor.json", json_line(to_json(found.diagnoses)) + "\n");
  tar.add("wardmote/version.txt", fmt::format("{}\n", kVersion));
  if (found.status) tar.add("wardmote/status.json", json_line(*found.status) + "\n");
  if (!found.metrics.empty()) tar.add("wardmote/metrics.txt", found.metrics);
  if (!found.configuration.empty()) tar.add("wardmote/configuration.yaml", found.configuration);
  const std::string archive = std::move(tar).take();
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  const bool written = descriptor >= 0 && ::write(descriptor, archive.data(), archive.size()) ==
                                              static_cast<ssize_t>(archive.size());
  const int number = errno;
  if (descriptor >= 0) ::close(descriptor);
  if (written) return {};
  return fail(Errc::kInternal, "{}: {}", file, std::generic_category().message(number));
}

Task<Exit> examine(const Call* call, runtime::Runtime* runtime, Doctor* doctor) {
  const Findings found = co_await doctor->examine();
  const json::value shown = to_json(found.diagnoses);
  const Format format = format_of(*call);
  print(for_programs(format) ? written(format, shown) : draw_diagnoses(shown, style_for(*call)));
  if (call->has("bundle")) {
    const Result<void> written = write_bundle(call->value("bundle"), found, runtime->wall_now());
    if (!written) co_return complain(*call, Exit::kUsage, written.error().context);
    print_error(
        fmt::format("{} holds what was seen, without secrets; addresses and names of "
                    "machines are in it\n",
                    call->value("bundle")));
  }
  co_return exit_of(found.diagnoses);
}

}  // namespace

Exit run_doctor(const Call& call) {
  Result<AgentAddress> address = find_agent(call);
  if (!address) return complain(call, Exit::kUsage, address.error().context);
  Session session;
  Doctor doctor(session.runtime(), std::move(*address));
  return session.run(examine(&call, &session.runtime(), &doctor));
}

}  // namespace wardmote::cli
