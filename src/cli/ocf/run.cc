#include "cli/ocf/run.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/format.h"
#include "cli/exit_code.h"
#include "cli/ocf/agent.h"
#include "cli/ocf/code.h"
#include "cli/ocf/metadata.h"
#include "cli/ocf/notification.h"
#include "cli/ocf/parameters.h"
#include "cli/output.h"
#include "cli/session.h"
#include "runtime/task.h"

namespace wardmote::cli::ocf {
namespace {

using runtime::Task;

struct Verb {
  std::string_view name;
  Task<Code> (Agent::*run)();
  bool reports = true;     ///< whether its result says how the databases are
  bool needs_node = true;  ///< whether nothing can be done without OVN's programs
};

constexpr auto kVerbs = std::to_array<Verb>({{"start", &Agent::start},
                                             {"stop", &Agent::stop, true, false},
                                             {"monitor", &Agent::monitor, true, false},
                                             {"status", &Agent::monitor, true, false},
                                             {"promote", &Agent::promote},
                                             {"demote", &Agent::demote, true, false},
                                             {"notify", &Agent::notify, false, false}});

Code complain(const Problem& problem) {
  print_error(fmt::format("ocf-exit-reason:{}\n", problem.text));
  return problem.code;
}

Task<Exit> carry_out(Agent* agent, const Verb* verb) {
  const Code code = co_await (agent->*verb->run)();
  if (verb->reports) agent->report_result(verb->name, code);
  co_return static_cast<Exit>(code);
}

Code run_verb(const Verb& verb, const Parameters& parameters, const Environment& environment) {
  std::optional<Problem> problem = check_parameters(parameters);
  // A resource whose parameters are wrong is still stopped.
  if (problem && verb.name != "stop") return complain(*problem);
  if (verb.needs_node) problem = check_node(parameters);
  if (problem && verb.needs_node) return complain(*problem);
  Session session;
  Agent agent(session.runtime(), parameters, read_notification(environment));
  const Exit exit = session.run(carry_out(&agent, &verb));
  return exit == Exit::kInterrupted ? Code::kGeneric : static_cast<Code>(exit);
}

std::optional<Problem> check_file(const std::string& path, std::string_view what) {
  if (::access(path.c_str(), R_OK) == 0) return std::nullopt;
  return Problem{Code::kInstalled, fmt::format("{} cannot be read: {}", what, path)};
}

}  // namespace

bool is_agent(std::string_view program) {
  const std::string_view name = program.substr(program.rfind('/') + 1);
  return name == "ovndb-servers" || name == "ovndb-servers.ocf";
}

std::optional<Problem> check_node(const Parameters& parameters) {
  std::error_code error;
  const bool file = std::filesystem::is_regular_file(parameters.ovn_ctl, error);
  if (!file || ::access(parameters.ovn_ctl.c_str(), X_OK) != 0) {
    return Problem{Code::kInstalled, fmt::format("ovn_ctl cannot be run: {}", parameters.ovn_ctl)};
  }
  const std::array<const DatabaseParameters*, 2> databases = {&parameters.nb, &parameters.sb};
  for (const DatabaseParameters* database : databases) {
    if (database->protocol != "ssl") continue;
    std::optional<Problem> problem = check_file(database->key, "the private key");
    if (!problem) problem = check_file(database->certificate, "the certificate");
    if (!problem) problem = check_file(database->ca, "the CA certificate");
    if (problem) return problem;
  }
  return std::nullopt;
}

Code run_action(std::string_view program, const std::vector<std::string>& words,
                const Environment& environment) {
  const std::string_view action = words.empty() ? std::string_view() : words.front();
  if (action == "usage" || action == "help" || action == "--help" || action == "-h") {
    print(usage(program));
    return Code::kSuccess;
  }
  if (action == "meta-data") {
    print(metadata(read_parameters(environment).ovn_ctl));
    return Code::kSuccess;
  }
  const Parameters parameters = read_parameters(environment);
  if (action == "validate-all") {
    std::optional<Problem> problem = check_parameters(parameters);
    if (!problem) problem = check_node(parameters);
    return problem ? complain(*problem) : Code::kSuccess;
  }
  const auto* const verb = std::ranges::find(kVerbs, action, &Verb::name);
  if (verb != kVerbs.end()) return run_verb(*verb, parameters, environment);
  print_error(usage(program));
  return Code::kUnimplemented;
}

}  // namespace wardmote::cli::ocf
