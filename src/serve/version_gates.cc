#include "serve/version_gates.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "judge/reconcile/fence.h"
#include "judge/reconcile/report.h"
#include "judge/version_gate/entry.h"
#include "judge/version_gate/membership.h"
#include "judge/version_gate/release.h"
#include "judge/version_gate/report.h"
#include "judge/version_gate/status.h"
#include "runtime/http.h"
#include "runtime/task.h"
#include "serve/answer.h"
#include "serve/order.h"
#include "serve/role.h"
#include "serve/route.h"
#include "serve/written_hold.h"

namespace wardmote::serve {
namespace {

namespace json = boost::json;
using judge::version_gate::Member;
using judge::version_gate::Report;
using judge::version_gate::Status;
using judge::version_gate::Stored;
using runtime::HttpResponse;

constexpr std::size_t kMostShown = 1000;
constexpr Duration kLongestPause = std::chrono::hours(8760);

json::value status_json(const Stored& stored) {
  if (stored.kind == Stored::Kind::kAbsent) return nullptr;
  json::object status;
  status["revision"] = stored.changed;
  if (stored.kind == Stored::Kind::kUnreadable) {
    status["state"] = "unreadable";
    status["why"] = stored.why;
    return status;
  }
  status["state"] = stored.status.state == Status::State::kDone ? "done" : "working";
  status["version"] = to_string(stored.status.version);
  status["minimum"] = to_string(stored.status.minimum);
  return status;
}

json::object node_json(const Member& member) {
  json::object node{{"name", escape_control(member.node)}};
  node["release"] = member.release ? json::value(to_string(*member.release)) : json::value(nullptr);
  if (!member.release) node["why"] = member.why;
  return node;
}

json::value leader_json(const Report& report) {
  if (report.candidates.empty()) return nullptr;
  json::object leader{{"name", report.candidates.front().node},
                      {"token", report.candidates.front().token}};
  if (!report.progress) return leader;
  leader["step"] = report.progress->step;
  leader["why"] = report.progress->why;
  leader["blocked_by"] = json::array(report.progress->nodes.begin(), report.progress->nodes.end());
  leader["since"] = format_utc(report.progress->since);
  return leader;
}

/// Diffs and the words of a server may show what is nobody's business but the operators'.
json::object pass_json(const judge::reconcile::PassReport& pass, bool for_operators) {
  json::object shown;
  shown["dry"] = pass.dry;
  shown["good"] = pass.good();
  shown["differs"] = pass.differs();
  shown["summary"] = summary_of(pass);
  shown["source"] = pass.source;
  shown["begun"] = format_utc(pass.begun);
  shown["took_ms"] = to_ms(pass.took);
  shown["objects"] = pass.objects;
  shown["requests"] = pass.requests;
  shown["writes"] = pass.writes;
  shown["faults"] = json::array(pass.faults.begin(), pass.faults.end());
  if (!pass.prune_refused.empty()) shown["prune_refused"] = pass.prune_refused;
  if (pass.fence.kind != judge::reconcile::FenceReport::Kind::kUnasked) {
    json::object fence{{"by", to_string(pass.fence.kind)}, {"says", describe(pass.fence)}};
    if (pass.fence.token > 0) fence["token"] = pass.fence.token;
    shown["fence"] = std::move(fence);
  }
  json::array& touched = shown["touched"].emplace_array();
  for (const judge::reconcile::ObjectReport& one : pass.touched) {
    if (touched.size() == kMostShown) break;
    json::object object{{"object", escape_control(one.object)},
                        {"action", to_string(one.action)},
                        {"why", one.why}};
    if (for_operators) object["diff"] = one.diff;
    if (for_operators && !one.words.empty()) object["words"] = one.words;
    if (one.foreign) {
      const std::vector<std::string>& managers = one.foreign->managers;
      object["foreign"] = json::object{{"managers", json::array(managers.begin(), managers.end())},
                                       {"adoptable", one.foreign->refusal.empty()},
                                       {"why", one.foreign->refusal}};
    }
    touched.emplace_back(std::move(object));
  }
  return shown;
}

HttpResponse no_gate(std::string_view name) {
  return error_answer(404, fmt::format("no version gate '{}'", escape_control(name)));
}

HttpResponse gate_answer(const VersionGatesView* view, std::string_view name, int status) {
  if (view == nullptr) return no_gate(name);
  for (const Report& report : view->gates()) {
    if (report.gate == name) return json_answer(gate_json(report), status);
  }
  return no_gate(name);
}

/// Answers when the order is stored, with the gate as it is then.
class ShownHold final : public runtime::HttpHold {
 public:
  ShownHold(std::shared_ptr<runtime::HttpHold> stored, const VersionGatesView& view,
            std::string name)
      : stored_(std::move(stored)), view_(view), name_(std::move(name)) {}

  runtime::Task<std::optional<HttpResponse>> wait() override {
    std::optional<HttpResponse> refused = co_await stored_->wait();
    if (refused) co_return refused;
    co_return gate_answer(&view_, name_, 202);
  }

 private:
  std::shared_ptr<runtime::HttpHold> stored_;
  const VersionGatesView& view_;
  std::string name_;
};

/// Reads an order with one field, gives it, and answers when it is stored.
HttpResponse order(VersionGatesView* view, const Ask& ask, std::string_view field,
                   const std::function<VersionGatesView::Written(std::string, std::string)>& give) {
  const auto read =
      field.empty() ? parse_order(ask.request, {}) : parse_order(ask.request, {field});
  if (!read) return order_refused(read.error());
  auto value = field.empty() ? Result<std::string>("") : order_text(*read, field);
  if (!value) return order_refused(value.error());
  if (view == nullptr) return no_gate(ask.name);
  VersionGatesView::Written written = give(*std::move(value), order_by(*read, ask.who));
  if (!written) return order_refused(written.error());
  HttpResponse answer = gate_answer(view, ask.name, 202);
  auto stored = hold_until(*std::move(written));
  if (answer.status == 202 && stored != nullptr)
    answer.hold = std::make_shared<ShownHold>(std::move(stored), *view, std::string(ask.name));
  return answer;
}

HttpResponse pause(VersionGatesView* view, const Ask& ask) {
  return order(view, ask, "for", [&](const std::string& text, std::string by) {
    const auto time = text.empty() ? std::optional(Duration::zero()) : parse_duration(text);
    if (!time || (!text.empty() && *time <= Duration::zero()) || *time > kLongestPause)
      return VersionGatesView::Written(
          fail(Errc::kInvalid,
               "'for': write how long, for example 30m, 8760h at most; without it, until resume"));
    return view->pause_gate(ask.name, *time, std::move(by));
  });
}

HttpResponse preserve(VersionGatesView* view, const Ask& ask) {
  return order(view, ask, "release", [&](const std::string& text, std::string by) {
    const auto release = judge::version_gate::parse_release(text);
    if (!release)
      return VersionGatesView::Written(
          fail(Errc::kInvalid, "'release': {}", release.error().context));
    return view->preserve(ask.name, *release, std::move(by));
  });
}

HttpResponse forget(VersionGatesView* view, const Ask& ask) {
  return order(view, ask, "node", [&](std::string node, std::string by) {
    if (node.empty() || node.contains('/'))
      return VersionGatesView::Written(fail(Errc::kInvalid, "'node' is no name of a node"));
    return view->forget_node(ask.name, std::move(node), std::move(by));
  });
}

HttpResponse adopt(VersionGatesView* view, const Ask& ask) {
  return order(view, ask, "object", [&](std::string object, std::string by) {
    if (object.empty())
      return VersionGatesView::Written(fail(
          Errc::kInvalid, "'object' is missing: write for example ConfigMap default/settings"));
    return view->adopt(ask.name, std::move(object), std::move(by));
  });
}

HttpResponse pass_answer(const VersionGatesView* view, const Ask& ask) {
  if (view != nullptr) {
    for (const Report& report : view->gates()) {
      if (report.gate != ask.name) continue;
      const bool led = report.pass != nullptr || !report.candidates.empty();
      const auto& pass = led ? report.pass : report.last_pass;
      if (pass) {
        json::object shown = pass_json(*pass, true);
        if (!led) shown["nobody_leads"] = true;
        if (!report.paused_by.empty()) shown["paused_by"] = report.paused_by;
        return json_answer(shown);
      }
      if (report.candidates.empty() || report.candidates.front().node == report.node) break;
      return error_answer(404, fmt::format("this node does not lead the gate; ask {}",
                                           report.candidates.front().node));
    }
  }
  return error_answer(404, fmt::format("no version gate '{}' for which this node has looked at a "
                                       "folder of manifests",
                                       escape_control(ask.name)));
}

}  // namespace

json::object gate_json(const Report& report) {
  json::object gate;
  gate["name"] = report.gate;
  gate["node"] = report.node;
  gate["ready"] = report.admission.ready();
  gate["verdict"] = to_string(report.admission.verdict);
  gate["why"] = report.admission.why;
  gate["unblocks"] = what_unblocks(report);
  gate["since"] = format_utc(report.since);
  gate["release"] = to_string(report.own.release);
  gate["min_reconciler_release"] = to_string(report.own.min_reconciler_release);
  gate["min_apiserver_release"] = to_string(report.own.min_apiserver_release);
  gate["registered"] = report.registered.has_value();
  gate["status"] = status_json(report.stored);
  if (report.earlier) {
    json::value before = status_json(report.earlier->stored);
    before.as_object()["alone"] = report.earlier->untouched;
    gate["before_set_back"] = std::move(before);
  }
  json::array& nodes = gate["nodes"].emplace_array();
  for (const Member& member : report.nodes) nodes.push_back(node_json(member));
  gate["leader"] = leader_json(report);
  gate["mode"] = report.mode ? json::value(*report.mode) : json::value(nullptr);
  if (report.clearance) gate["in_the_way"] = describe(*report.clearance, report.own);
  if (report.pass) gate["reconcile"] = pass_json(*report.pass, false);
  if (report.under_way) {
    gate["pass_under_way"] = json::object{{"begun", format_utc(report.under_way->begun)},
                                          {"treated", report.under_way->treated},
                                          {"objects", report.under_way->objects}};
  }
  if (report.preserved) {
    gate["preserved"] =
        json::object{{"release", report.preserved->why.empty()
                                     ? json::value(to_string(report.preserved->release))
                                     : json::value(nullptr)},
                     {"by", report.preserved->by}};
  }
  if (!report.paused_by.empty()) {
    gate["paused_by"] = report.paused_by;
    gate["all_paused"] = report.all_paused;
  }
  if (report.age) gate["age_ms"] = to_ms(*report.age);
  if (report.complaint) gate["complaint"] = escape_control(*report.complaint);
  return gate;
}

std::vector<Route> version_gate_routes(VersionGatesView* view) {
  std::vector<Route> routes;
  routes.push_back({.method = "GET",
                    .path = "/api/v1/version-gates",
                    .least = Role::kViewer,
                    .answer = [view](const Ask&) {
                      json::object answer;
                      json::array& gates = answer["version_gates"].emplace_array();
                      if (view == nullptr) return json_answer(answer);
                      for (const Report& report : view->gates()) gates.push_back(gate_json(report));
                      return json_answer(answer);
                    }});
  routes.push_back({.method = "GET",
                    .path = "/api/v1/version-gates/{name}",
                    .least = Role::kViewer,
                    .answer = [view](const Ask& ask) { return gate_answer(view, ask.name, 200); }});
  routes.push_back({.method = "GET",
                    .path = "/api/v1/version-gates/{name}/reconcile",
                    .least = Role::kOperator,
                    .answer = [view](const Ask& ask) { return pass_answer(view, ask); }});
  const auto post = [&routes](std::string_view path, Role least,
                              std::function<HttpResponse(const Ask&)> answer) {
    routes.push_back({.method = "POST", .path = path, .least = least, .answer = std::move(answer)});
  };
  post("/api/v1/version-gates/{name}/pause", Role::kOperator,
       [view](const Ask& ask) { return pause(view, ask); });
  post("/api/v1/version-gates/{name}/resume", Role::kOperator, [view](const Ask& ask) {
    return order(view, ask, "", [&](const std::string&, std::string by) {
      return view->resume_gate(ask.name, std::move(by));
    });
  });
  post("/api/v1/version-gates/{name}/preserve", Role::kAdmin,
       [view](const Ask& ask) { return preserve(view, ask); });
  post("/api/v1/version-gates/{name}/finalize", Role::kAdmin, [view](const Ask& ask) {
    return order(view, ask, "", [&](const std::string&, std::string by) {
      return view->finalize(ask.name, std::move(by));
    });
  });
  post("/api/v1/version-gates/{name}/adopt", Role::kAdmin,
       [view](const Ask& ask) { return adopt(view, ask); });
  post("/api/v1/version-gates/{name}/force-forget", Role::kAdmin,
       [view](const Ask& ask) { return forget(view, ask); });
  return routes;
}

}  // namespace wardmote::serve
