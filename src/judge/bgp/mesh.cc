#include "judge/bgp/mesh.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/text.h"
#include "base/time.h"
#include "judge/bgp/facts.h"
#include "judge/bgp/hint.h"
#include "judge/finding.h"
#include "judge/outcome.h"

namespace wardmote::judge::bgp {
namespace {

using Addresses = std::set<std::string, std::less<>>;

struct Node {
  const MeshView* view = nullptr;
  Addresses addresses;
};

Addresses addresses_of(const MeshView& view) {
  Addresses addresses(view.addresses.begin(), view.addresses.end());
  addresses.insert(view.name);
  if (view.facts) {
    for (std::string& told : addresses_told(*view.facts)) addresses.insert(std::move(told));
  }
  addresses.erase("");
  return addresses;
}

/// The session of `from` with `to`; of several, an established one.
const Session* session_between(const Node& from, const Node& to) {
  const Session* found = nullptr;
  if (!from.view->facts) return found;
  for (const Session& session : from.view->facts->sessions) {
    if (!to.addresses.contains(session.address)) continue;
    if (found == nullptr || (session.established() && !found->established())) found = &session;
  }
  return found;
}

MeshCell cell_of(const Node& from, const Session* session) noexcept {
  if (!from.view->facts) return MeshCell::kBlind;
  if (session == nullptr) return MeshCell::kAbsent;
  if (session->established()) return MeshCell::kUp;
  return session->admin_down ? MeshCell::kDisabled : MeshCell::kDown;
}

std::string say(const Session& session) {
  std::string text = fmt::format("{} {}", escape_control(session.label(), 120),
                                 session.admin_down ? "disabled" : to_string(session.state));
  if (session.in_state) text += " for " + format_duration(*session.in_state);
  if (!session.last_error.empty()) text += ": " + escape_control(session.last_error, 120);
  return text;
}

/// The two ends of one session.
struct Pair {
  const Node* a = nullptr;
  const Node* b = nullptr;
  const Session* ab = nullptr;
  const Session* ba = nullptr;

  [[nodiscard]] Pair turned() const noexcept { return {b, a, ba, ab}; }
};

/// How long neither end has had the session up: since the later of their last changes.
std::optional<Duration> stands(const Pair& pair) noexcept {
  if (pair.ab == nullptr || pair.ba == nullptr) return std::nullopt;
  if (!pair.ab->in_state || !pair.ba->in_state) return std::nullopt;
  return std::min(*pair.ab->in_state, *pair.ba->in_state);
}

MeshProblem problem(const Pair& pair, MeshFault fault, Severity severity, std::string summary) {
  MeshProblem made;
  made.fault = fault;
  made.severity = severity;
  made.from = pair.a->view->name;
  made.to = pair.b->view->name;
  made.summary = std::move(summary);
  made.stands = stands(pair);
  for (const auto& [node, session] : {std::pair{pair.a, pair.ab}, std::pair{pair.b, pair.ba}}) {
    if (session != nullptr) {
      made.evidence.push_back({node->view->name, say(*session)});
    } else if (node->view->facts) {
      made.evidence.push_back({node->view->name, "no session with it is configured"});
    }
  }
  return made;
}

bool errs_with(const Session* session, std::string_view words) noexcept {
  return session != nullptr && session->last_error.contains(words);
}

bool knocks_in_silence(const Session* session) noexcept {
  return session != nullptr && session->last_error.empty() &&
         (session->state == SessionState::kConnect || session->state == SessionState::kActive);
}

bool settled(const Session* session, Duration settle) noexcept {
  return session == nullptr || !session->in_state || *session->in_state >= settle;
}

std::string_view name_of(const Node* node) noexcept {
  return node->view->name;
}

bool as_differs(const Pair& pair) noexcept {
  return pair.ab != nullptr && pair.ba != nullptr && pair.ab->remote_as && pair.ba->local_as &&
         *pair.ab->remote_as != *pair.ba->local_as;
}

/// The fault that one end alone shows.
std::vector<MeshProblem> one_sided(const Pair& pair) {
  std::vector<MeshProblem> problems;
  if (as_differs(pair)) {
    problems.push_back(
        problem(pair, MeshFault::kWrongAs, Severity::kCritical,
                fmt::format("{} expects AS {} of {}, which is AS {}", name_of(pair.a),
                            *pair.ab->remote_as, name_of(pair.b), *pair.ba->local_as)));
  } else if (errs_with(pair.ab, "Bad peer AS")) {
    problems.push_back(problem(
        pair, MeshFault::kWrongAs, Severity::kCritical,
        fmt::format("{} and {} do not agree on an AS number", name_of(pair.a), name_of(pair.b))));
  } else if (pair.ab != nullptr && pair.ab->admin_down) {
    problems.push_back(problem(
        pair, MeshFault::kDisabled, Severity::kWarning,
        fmt::format("{} has its session with {} disabled", name_of(pair.a), name_of(pair.b))));
  } else if (errs_with(pair.ab, "Connection refused")) {
    problems.push_back(
        problem(pair, MeshFault::kRefused, Severity::kCritical,
                fmt::format("{} answers {} with a refusal: nobody listens on its BGP "
                            "port",
                            name_of(pair.b), name_of(pair.a))));
  } else if (errs_with(pair.ab, "No route to host") || errs_with(pair.ab, "unreachable")) {
    problems.push_back(
        problem(pair, MeshFault::kUnreachable, Severity::kCritical,
                fmt::format("{} cannot reach {}", name_of(pair.a), name_of(pair.b))));
  }
  return problems;
}

std::vector<MeshProblem> both_down(const Pair& pair) {
  std::vector<MeshProblem> problems = one_sided(pair);
  for (MeshProblem& other : one_sided(pair.turned())) {
    const bool told = std::ranges::any_of(
        problems, [&](const MeshProblem& one) { return one.fault == other.fault; });
    if (!told) problems.push_back(std::move(other));
  }
  if (!problems.empty()) return problems;
  if (knocks_in_silence(pair.ab) && knocks_in_silence(pair.ba)) {
    // Both hosts are up, because their daemons answered. TCP drops packets with another MD5
    // signature without an error.
    problems.push_back(problem(
        pair, MeshFault::kPasswordSuspected, Severity::kCritical,
        fmt::format("{} and {} both run and neither hears the other: the passwords differ, or "
                    "packets between them are dropped",
                    name_of(pair.a), name_of(pair.b))));
    return problems;
  }
  for (const Pair& end : {pair, pair.turned()}) {
    if (!knocks_in_silence(end.ab)) continue;
    problems.push_back(
        problem(end, MeshFault::kNoAnswer, Severity::kCritical,
                fmt::format("{} knocks at {} and gets no answer", name_of(end.a), name_of(end.b))));
    return problems;
  }
  const std::string_view meaning = hint(*pair.ab);
  problems.push_back(
      problem(pair, MeshFault::kDown, Severity::kCritical,
              fmt::format("the session between {} and {} is down{}{}", name_of(pair.a),
                          name_of(pair.b), meaning.empty() ? "" : ": ", meaning)));
  return problems;
}

std::vector<MeshProblem> judge_pair(const Pair& pair, const MeshExpectation& expectation) {
  const bool a_up = pair.ab != nullptr && pair.ab->established();
  const bool b_up = pair.ba != nullptr && pair.ba->established();
  if (a_up && b_up) return {};
  if (pair.ab == nullptr && pair.ba == nullptr) {
    if (!expectation.full) return {};
    return {problem(pair, MeshFault::kMissingPeer, Severity::kWarning,
                    fmt::format("{} and {} have no session with each other", name_of(pair.a),
                                name_of(pair.b)))};
  }
  if (pair.ab == nullptr || pair.ba == nullptr) {
    const Pair turned = pair.ab == nullptr ? pair : pair.turned();
    return {problem(turned, MeshFault::kMissingPeer, Severity::kCritical,
                    fmt::format("{} has no session with {}, which has one with it",
                                name_of(turned.a), name_of(turned.b)))};
  }
  if (a_up == b_up) return both_down(pair);
  if (!settled(pair.ab, expectation.settle) || !settled(pair.ba, expectation.settle)) return {};
  const Pair turned = a_up ? pair : pair.turned();
  return {problem(turned, MeshFault::kAsymmetric, Severity::kCritical,
                  fmt::format("{} says that its session with {} is established, {} says that it is "
                              "not",
                              name_of(turned.a), name_of(turned.b), name_of(turned.b)))};
}

/// A node that does not answer. Its sessions have no problems of their own.
MeshProblem silent_node(const Node& silent, const std::vector<Node>& nodes) {
  MeshProblem made;
  made.fault = MeshFault::kDaemonDown;
  made.severity = Severity::kWarning;
  made.from = silent.view->name;
  std::size_t up = 0;
  for (const Node& node : nodes) {
    const Session* const session = session_between(node, silent);
    if (session == nullptr) continue;
    if (session->established()) {
      ++up;
    } else {
      ++made.suppressed;
    }
    made.evidence.push_back({node.view->name, say(*session)});
  }
  const std::string why = escape_control(silent.view->reason.text, 200);
  const bool anybody =
      std::ranges::any_of(nodes, [](const Node& node) { return node.view->facts.has_value(); });
  if (made.suppressed != 0 || !anybody) made.severity = Severity::kCritical;
  made.summary = fmt::format("{} does not answer: {}", silent.view->name, why);
  if (up != 0) made.summary += fmt::format(", though {} of the others have a session with it", up);
  return made;
}

/// The most severe first, then in the order of the nodes.
void add(std::vector<MeshProblem>& problems, MeshProblem found) {
  const auto at = std::ranges::upper_bound(problems, found.severity, std::ranges::greater(),
                                           &MeshProblem::severity);
  problems.insert(at, std::move(found));
}

}  // namespace

std::string_view to_string(MeshCell cell) noexcept {
  switch (cell) {
    case MeshCell::kSelf: return "self";
    case MeshCell::kUp: return "up";
    case MeshCell::kDown: return "down";
    case MeshCell::kDisabled: return "disabled";
    case MeshCell::kAbsent: return "absent";
    case MeshCell::kBlind: return "blind";
  }
  return "";
}

std::string_view to_string(MeshFault fault) noexcept {
  switch (fault) {
    case MeshFault::kDaemonDown: return "daemon down";
    case MeshFault::kMissingPeer: return "missing peer";
    case MeshFault::kAsymmetric: return "asymmetric";
    case MeshFault::kWrongAs: return "wrong AS";
    case MeshFault::kDisabled: return "disabled";
    case MeshFault::kRefused: return "refused";
    case MeshFault::kUnreachable: return "unreachable";
    case MeshFault::kPasswordSuspected: return "password mismatch suspected";
    case MeshFault::kNoAnswer: return "no answer";
    case MeshFault::kDown: return "down";
  }
  return "";
}

std::vector<std::string> addresses_told(const BgpFacts& facts) {
  std::vector<std::string> told{facts.router_id};
  for (const Session& session : facts.sessions) told.push_back(session.local_address);
  std::ranges::sort(told);
  const auto again = std::ranges::unique(told);
  told.erase(again.begin(), again.end());
  return told;
}

Outcome outcome_of(const std::vector<MeshView>& views, std::optional<Severity> worst) {
  const bool any =
      std::ranges::any_of(views, [](const MeshView& view) { return view.facts.has_value(); });
  const bool unsure = std::ranges::any_of(views, &MeshView::unsure);
  // Daemons that refuse or hang are known to be bad, also when no other is left to say so.
  if (!any) return unsure ? Outcome::kUnknown : Outcome::kFail;
  if (worst == Severity::kCritical) return Outcome::kFail;
  if (unsure) return Outcome::kUnknown;
  return worst == Severity::kWarning ? Outcome::kWarn : Outcome::kOk;
}

Mesh assess_mesh(const std::vector<MeshView>& views, const MeshExpectation& expectation) {
  std::vector<Node> nodes;
  nodes.reserve(views.size());
  for (const MeshView& view : views) nodes.push_back({&view, addresses_of(view)});
  Mesh mesh;
  for (const Node& from : nodes) {
    mesh.names.push_back(from.view->name);
    std::vector<MeshCell>& row = mesh.cells.emplace_back();
    for (const Node& to : nodes)
      row.push_back(&from == &to ? MeshCell::kSelf : cell_of(from, session_between(from, to)));
    if (!from.view->facts && !from.view->unsure) add(mesh.problems, silent_node(from, nodes));
  }
  for (std::size_t a = 0; a < nodes.size(); ++a) {
    for (std::size_t b = a + 1; b < nodes.size(); ++b) {
      if (!nodes[a].view->facts || !nodes[b].view->facts) continue;
      const Pair pair{&nodes[a], &nodes[b], session_between(nodes[a], nodes[b]),
                      session_between(nodes[b], nodes[a])};
      for (MeshProblem& found : judge_pair(pair, expectation)) add(mesh.problems, std::move(found));
    }
  }
  std::optional<Severity> worst;
  if (!mesh.problems.empty()) worst = mesh.problems.front().severity;  // the most severe first
  mesh.outcome = outcome_of(views, worst);
  return mesh;
}

}  // namespace wardmote::judge::bgp
