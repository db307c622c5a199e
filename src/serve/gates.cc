#include "serve/gates.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/text.h"
#include "judge/check_machine.h"
#include "judge/outcome.h"
#include "runtime/http.h"
#include "serve/answer.h"
#include "serve/health_table.h"
#include "serve/query.h"
#include "serve/role.h"
#include "serve/route.h"
#include "serve/view.h"

namespace wardmote::serve {
namespace {

using runtime::HttpResponse;

constexpr int kNotReady = 503;
constexpr std::size_t kTextCap = 256;
/// The check that passes while this process answers; as kube-apiserver calls it.
constexpr std::string_view kPing = "ping";

/// One line of a gate.
struct Item {
  std::string_view name;
  bool passes = true;
  std::string reason;
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
    items.push_back({check.name, !fails[position], reason_of(ask, check)});
  }
}

/// What many ask every second, and nobody wants to hear more than the verdict of: then the gate's
/// checks need not be gone through.
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

/// The words are those of kube-apiserver's handleRootHealth(), reasons aside, which it withholds.
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
  response.status = item->passes ? 200 : kNotReady;
  response.body = item->passes ? "ok" : fmt::format("internal server error: {}\n", item->reason);
  return response;
}

bool all_pass(const std::vector<Item>& items) {
  return std::ranges::all_of(items, &Item::passes);
}

/// Both of Calico's pages show the same table.
HttpResponse table(const Ask& ask, bool passes) {
  const std::vector<Item> live = live_items(ask);
  const std::vector<Item> ready = ready_items(ask);
  std::vector<HealthRow> rows;
  rows.reserve(live.size() + ready.size());
  for (const Item& item : live) {
    rows.push_back({.component = std::string(item.name),
                    .liveness = item.passes ? "reporting live" : "reporting non-live",
                    .detail = item.reason});
  }
  for (const Item& item : ready) {
    auto row = std::ranges::find(rows, item.name, &HealthRow::component);
    if (row == rows.end()) {
      row = rows.insert(rows.end(), {.component = std::string(item.name), .detail = item.reason});
    }
    row->readiness = item.passes ? "reporting ready" : "reporting non-ready";
  }
  HttpResponse response;
  response.status = passes ? 200 : kNotReady;
  response.body = draw_health_table(std::move(rows));
  return response;
}

}  // namespace

std::vector<Route> gate_routes() {
  return {
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
      {"GET", "/liveness", Role::kNone,
       [](const Ask& ask) { return table(ask, all_pass(live_items(ask))); }},
      {"GET", "/readiness", Role::kNone,
       [](const Ask& ask) { return table(ask, all_pass(ready_items(ask))); }},
  };
}

}  // namespace wardmote::serve
