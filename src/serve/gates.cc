#include "serve/gates.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/text.h"
#include "base/time.h"
#include "judge/check_machine.h"
#include "judge/outcome.h"
#include "judge/report/reporters.h"
#include "runtime/http.h"
#include "serve/answer.h"
#include "serve/health_table.h"
#include "serve/query.h"
#include "serve/role.h"
#include "serve/route.h"
#include "serve/view.h"

namespace wardmote::serve {
namespace {

using judge::ReporterStanding;
using runtime::HttpResponse;

constexpr int kNotReady = 503;
constexpr std::size_t kTextCap = 256;
/// The check that passes while this process answers, by its name in kube-apiserver.
constexpr std::string_view kPing = "ping";

/// One line of a gate.
struct Item {
  std::string_view name;
  bool passes = true;  ///< the gate passes it
  std::string reason;
  bool ready = true;  ///< by itself: another may stand in for it in the gate
  bool well = true;   ///< it is no failure that is merely passed
};

std::string reason_of(const Ask& ask, const CheckView& check) {
  if (ask.who.role < Role::kViewer) return "reason withheld";
  std::string reason(to_string(check.state.state));
  if (check.state.blind) reason += ", blind";
  const std::string_view why = to_string(check.reason.code);
  if (check.reason.code != judge::ReasonCode::kNone) reason += fmt::format(", {}", why);
  if (!check.reason.text.empty()) reason += ": " + escape_control(check.reason.text, kTextCap);
  return reason;
}

void add_gate(const Ask& ask, std::string_view name, std::vector<Item>& items) {
  const auto gate = std::ranges::find(ask.view.gates, name, &GateView::name);
  if (gate == ask.view.gates.end()) return;
  std::vector<bool> fails(ask.view.checks.size());
  for (const std::uint32_t position : gate->failing) fails.at(position) = true;
  for (const std::uint32_t position : gate->checks) {
    const CheckView& check = ask.view.checks.at(position);
    const bool ready = judge::ready(check.state, check.optional);
    const judge::CheckState& state = check.state;
    const bool fails_or_hides = state.state == judge::State::kReported || state.blind ||
                                (state.state == judge::State::kDiscovery && state.failures > 0);
    items.push_back(
        {check.name, !fails[position], reason_of(ask, check), ready, ready && !fails_or_hides});
  }
}

/// The short answer, for callers that ask every second and want only the verdict: then the gate's
/// checks need not be read.
bool plainly_passes(const Ask& ask, std::string_view name) {
  if (!ask.request.query.empty()) return false;
  const auto gate = std::ranges::find(ask.view.gates, name, &GateView::name);
  return gate == ask.view.gates.end() ? name == "live" : gate->failing.empty();
}

HttpResponse ok() {
  HttpResponse response;
  response.body = "ok";
  return response;
}

std::vector<Item> live_items(const Ask& ask) {
  std::vector<Item> items = {{kPing, true, {}}};
  add_gate(ask, "live", items);
  return items;
}

std::vector<Item> ready_items(const Ask& ask) {
  std::vector<Item> items;
  const bool set_up =
      std::ranges::find(ask.view.gates, "ready", &GateView::name) != ask.view.gates.end();
  if (!set_up) items.push_back({"ready", false, "no such gate"});
  add_gate(ask, "ready", items);
  return items;
}

/// The text is that of kube-apiserver's handleRootHealth(), except the reasons, which
/// kube-apiserver withholds.
HttpResponse answer_all(const Ask& ask, const std::vector<Item>& items, std::string_view probe) {
  const Query query(ask.request.query);
  const std::vector<std::string> listed = query.list("exclude");
  std::set<std::string, std::less<>> excluded(listed.begin(), listed.end());
  std::string lines;
  bool passes = true;
  for (const Item& item : items) {
    if (const auto found = excluded.find(item.name); found != excluded.end()) {
      excluded.erase(found);
      lines += fmt::format("[+]{} excluded: ok\n", item.name);
    } else if (item.passes && !item.well) {
      lines += fmt::format("[+]{} does not count: {}\n", item.name, item.reason);
    } else if (item.passes) {
      lines += fmt::format("[+]{} ok\n", item.name);
    } else {
      passes = false;
      lines += fmt::format("[-]{} failed: {}\n", item.name, item.reason);
    }
  }
  if (!excluded.empty()) {
    std::vector<std::string> names;
    names.reserve(excluded.size());
    for (const std::string& name : excluded) {
      names.push_back(fmt::format("\"{}\"", escape_control(name, 64)));
    }
    lines += fmt::format("warn: some health checks cannot be excluded: no matches for {}\n",
                         fmt::join(names, ","));
  }
  if (ask.view.self.complaint) {
    lines += fmt::format("warn: the agent is degraded: {}\n",
                         escape_control(*ask.view.self.complaint, kTextCap));
  }
  HttpResponse response;
  response.status = passes ? 200 : kNotReady;
  response.body = passes && !query.has("verbose")
                      ? "ok"
                      : fmt::format("{}{} check {}\n", lines, probe, passes ? "passed" : "failed");
  return response;
}

HttpResponse answer_one(const Ask& ask, const std::vector<Item>& items) {
  const auto item = std::ranges::find(items, ask.name, &Item::name);
  if (item == items.end()) {
    return error_answer(
        404, fmt::format("no check of this gate is named '{}'", escape_control(ask.name, 64)));
  }
  HttpResponse response;
  const bool passes = item->passes && item->ready;
  response.status = passes ? 200 : kNotReady;
  response.body = passes ? "ok" : fmt::format("internal server error: {}\n", item->reason);
  if (passes && !item->well) response.body = fmt::format("does not count: {}\n", item->reason);
  return response;
}

bool all_pass(const std::vector<Item>& items) {
  return std::ranges::all_of(items, &Item::passes);
}

/// time.Duration.String() of Go: `100ms`, `1m30s`, `1h0m0s`.
std::string go_duration(Duration duration) {
  using namespace std::chrono;
  const auto ms = duration_cast<milliseconds>(duration).count();
  if (ms < 1000) return fmt::format("{}ms", ms);
  const auto fraction = ms % 1000;
  std::string seconds = fmt::format("{}", ms / 1000 % 60);
  if (fraction != 0) {
    seconds += fmt::format(".{:03}", fraction);
    seconds.erase(seconds.find_last_not_of('0') + 1);
  }
  const auto minutes = ms / 60'000;
  if (minutes == 0) return seconds + "s";
  if (minutes < 60) return fmt::format("{}m{}s", minutes, seconds);
  return fmt::format("{}h{}m{}s", minutes / 60, minutes % 60, seconds);
}

std::string timeout_of(const ReporterStanding& reporter) {
  const std::string timeout =
      reporter.timeout == Duration::zero() ? "-" : go_duration(reporter.timeout);
  return reporter.overridden ? timeout + " (override)" : timeout;
}

/// The rows of Calico's pages: a reporter has one row for both of its checks.
class Rows {
 public:
  Rows(const Ask& ask, std::span<const ReporterStanding> reporters)
      : may_read_(ask.who.role >= Role::kViewer), reporters_(reporters) {}

  void add_live(const Item& item) {
    const ReporterStanding* const reporter = reporter_of(item.name, ".live");
    row(item, reporter).liveness = words(item, reporter, "live");
  }
  void add_ready(const Item& item) {
    const ReporterStanding* const reporter = reporter_of(item.name, ".ready");
    row(item, reporter).readiness = words(item, reporter, "ready");
  }
  std::vector<HealthRow> take() && { return std::move(rows_); }

 private:
  /// The reporter of that check; null when it is no reporter's.
  const ReporterStanding* reporter_of(std::string_view check, std::string_view quality) const {
    if (!check.ends_with(quality)) return nullptr;
    check.remove_suffix(quality.size());
    const auto found = std::ranges::find(reporters_, check, &ReporterStanding::name);
    return found == reporters_.end() ? nullptr : &*found;
  }

  HealthRow& row(const Item& item, const ReporterStanding* reporter) {
    const std::string name(reporter != nullptr ? std::string_view(reporter->name) : item.name);
    const auto known = std::ranges::find(rows_, name, &HealthRow::component);
    if (known != rows_.end()) return *known;
    HealthRow row{.component = name, .detail = item.reason};
    if (reporter != nullptr) {
      row.timeout = timeout_of(*reporter);
      row.detail = may_read_ ? reporter->report.detail : std::string();
    }
    return rows_.emplace_back(std::move(row));
  }

  static std::string words(const Item& item, const ReporterStanding* reporter,
                           std::string_view quality) {
    if (item.passes) return fmt::format("reporting {}", quality);
    if (reporter != nullptr && reporter->timed_out) return "timed out";
    return fmt::format("reporting non-{}", quality);
  }

  bool may_read_;
  std::span<const ReporterStanding> reporters_;
  std::vector<HealthRow> rows_;
};

/// Both of Calico's pages show the same table.
HttpResponse table(const Ask& ask, std::span<const ReporterStanding> reporters, bool passes) {
  Rows rows(ask, reporters);
  for (const Item& item : live_items(ask)) rows.add_live(item);
  for (const Item& item : ready_items(ask)) rows.add_ready(item);
  HttpResponse response;
  response.status = passes ? 200 : kNotReady;
  response.body = draw_health_table(std::move(rows).take());
  return response;
}

std::vector<Route> urgent(std::vector<Route> routes) {
  for (Route& route : routes) route.urgent = true;
  return routes;
}

}  // namespace

std::vector<Route> gate_routes() {
  return urgent({
      {"GET", "/livez", Role::kNone,
       [](const Ask& ask) {
         return plainly_passes(ask, "live") ? ok() : answer_all(ask, live_items(ask), "livez");
       }},
      {"GET", "/livez/{check}", Role::kNone,
       [](const Ask& ask) { return answer_one(ask, live_items(ask)); }},
      {"GET", "/readyz", Role::kNone,
       [](const Ask& ask) {
         return plainly_passes(ask, "ready") ? ok() : answer_all(ask, ready_items(ask), "readyz");
       }},
      {"GET", "/readyz/{check}", Role::kNone,
       [](const Ask& ask) { return answer_one(ask, ready_items(ask)); }},
  });
}

std::vector<Route> health_table_routes(const ReporterStandings& standings) {
  return urgent({
      {"GET", "/liveness", Role::kNone,
       [standings](const Ask& ask) { return table(ask, standings(), all_pass(live_items(ask))); }},
      {"GET", "/readiness", Role::kNone,
       [standings](const Ask& ask) { return table(ask, standings(), all_pass(ready_items(ask))); }},
  });
}

}  // namespace wardmote::serve
