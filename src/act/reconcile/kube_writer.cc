#include "act/reconcile/kube_writer.h"

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "act/reconcile/kube_client.h"
#include "base/format.h"
#include "base/percent.h"
#include "base/result.h"
#include "codec/kube_api.h"
#include "codec/kube_fence.h"
#include "runtime/deadline.h"
#include "runtime/task.h"

namespace wardmote::act::reconcile {

namespace json = boost::json;
using runtime::Deadline;
using runtime::Task;

namespace {

using Kind = Written::Kind;

constexpr int kNotFound = 404;
constexpr int kConflict = 409;
constexpr int kUnprocessable = 422;
constexpr int kServerError = 500;
constexpr int kForbidden = 403;
/// These say what the server was asked and why it does not do it, before it reads any value.
constexpr auto kHarmless = std::to_array<int>({401, 404, 409, 429, 503});

bool is_done(int status) {
  return status >= 200 && status < 300;
}

/// Kubernetes says it in words only. Most fields have `field is immutable`, the reference of a
/// binding has its own words (pkg/apis/rbac/validation/validation.go).
bool is_about_immutable(const codec::KubeStatus::Cause& cause) {
  return cause.message.contains("immutable") || cause.message.contains("cannot change roleRef");
}

/// The authorizer's words have names only (k8s.io/apiserver, endpoints/handlers/responsewriters);
/// those of whoever checks what is written quote whatever he likes.
bool quotes_nothing(const KubeAnswer& answer, const codec::KubeStatus& status) {
  if (answer.status == kForbidden) return status.message.contains("is forbidden: User \"");
  return !status.reason.empty() && std::ranges::find(kHarmless, answer.status) != kHarmless.end();
}

/// What is wrong with the type or the name of a field, without what stands there, of
/// `failed to create typed patch object: .data.pin: expected string, got &value{Value:81234567}`
/// (structured-merge-diff, typed/helpers.go). Empty: it is said in other words.
std::string type_fault_of(std::string_view message) {
  if (message.starts_with("failed to create typed patch object"))
    message.remove_prefix(std::min(message.find(": ."), message.size() - 2) + 2);
  if (!message.starts_with('.')) return {};
  const std::size_t got = message.find(", got ");
  if (got != std::string_view::npos) return std::string(message.substr(0, got));
  return message.ends_with(": field not declared in schema") ? std::string(message) : "";
}

/// Which fields, and of which kind the fault is: a server quotes what it refuses.
std::string fields_of(const KubeAnswer& answer, const codec::KubeStatus& status) {
  std::string said =
      fmt::format("HTTP {}{}{}", answer.status, status.reason.empty() ? "" : " ", status.reason);
  std::string_view before = ": ";
  for (const auto& cause : status.causes) {
    if (cause.field.empty()) continue;
    said += before;
    said += cause.field;
    if (!cause.reason.empty()) said += fmt::format(" ({})", cause.reason);
    before = ", ";
  }
  return said;
}

/// As what it is told, until the answer proves to be something else.
Written refusal(const KubeAnswer& answer, const codec::KubeStatus& status, bool secret) {
  Written written{.kind = Kind::kRefused};
  if (quotes_nothing(answer, status)) {
    written.why = describe(answer);
  } else if (std::string fault = secret ? "" : type_fault_of(status.message); !fault.empty()) {
    written.why = fmt::format("HTTP {}: {}", answer.status, fault);
  } else {
    written.why = fields_of(answer, status);
    if (!secret) written.words = status.message;
  }
  return written;
}

Written meaning(const KubeAnswer& answer, bool secret) {
  const codec::KubeStatus status = codec::parse_kube_status(answer.body);
  Written written = refusal(answer, status, secret);
  if (answer.status == kNotFound) written.kind = Kind::kMissing;
  if (answer.status == kConflict) {
    std::string fields;
    for (const auto& cause : status.causes) {
      if (cause.reason != "FieldManagerConflict") continue;
      fields += fmt::format("{}{}: {}", fields.empty() ? "" : "; ", cause.field, cause.message);
    }
    written.kind = fields.empty() ? Kind::kStale : Kind::kConflict;
    if (!fields.empty()) written.why = std::move(fields);
  }
  const bool immutable = answer.status == kUnprocessable && !status.causes.empty() &&
                         std::ranges::all_of(status.causes, is_about_immutable);
  if (immutable) {
    written.kind = Kind::kImmutable;
    written.why += ": it cannot be changed in place";
  }
  if (status.message.contains(codec::kFenceRefusal)) {
    written.kind = Kind::kFenced;
    written.why = codec::kFenceRefusal;
  }
  // k8s.io/apiserver, pkg/storage/errors.go.
  const bool no_version =
      answer.status == kServerError && status.message.contains("resourceVersion should not be set");
  if (no_version) written.kind = Kind::kNoVersion;
  return written;
}

}  // namespace

Task<Result<void>> KubeWriter::begin() {
  if (!announce_) co_return Result<void>();
  Result<void> announced = co_await announce_();
  if (announced) announce_ = nullptr;
  co_return announced;
}

Task<Written> KubeWriter::apply(ApplyOrder order, Deadline deadline) {
  KubeRequest request;
  request.method = "PATCH";
  request.path =
      fmt::format("{}?fieldManager={}{}{}", order.path, percent_encode_value(order.manager),
                  order.force ? "&force=true" : "", order.dry ? "&dryRun=All" : "");
  // JSON is YAML.
  request.content_type = "application/apply-patch+yaml";
  if (!order.resource_version.empty())
    order.body.at("metadata").get_object()["resourceVersion"] = order.resource_version;
  request.body = json::serialize(order.body);
  request.writes = !order.dry;
  if (!order.dry) {
    const Result<void> begun = co_await begin();
    if (!begun) co_return Written{.kind = Kind::kRefused, .why = begun.error().describe()};
    ++writes_;
  }
  const auto answer = co_await client_.ask(std::move(request), deadline);
  if (!answer) co_return Written{.kind = Kind::kNoAnswer, .why = answer.error().describe()};
  if (!is_done(answer->status)) co_return meaning(*answer, order.secret);
  auto object = codec::parse_kube_object(answer->body);
  // It was done, and nobody knows what came of it.
  if (!object) co_return Written{.kind = Kind::kNoAnswer, .why = object.error().describe()};
  co_return Written{.object = *std::move(object)};
}

Task<Written> KubeWriter::remove(DeleteOrder order, Deadline deadline) {
  KubeRequest request;
  request.method = "DELETE";
  request.path = std::move(order.path);
  request.content_type = "application/json";
  const json::object options{
      {"apiVersion", "v1"},
      {"kind", "DeleteOptions"},
      {"propagationPolicy", "Background"},
      {"preconditions", {{"uid", order.uid}, {"resourceVersion", order.resource_version}}}};
  request.body = json::serialize(options);
  request.writes = true;
  const Result<void> begun = co_await begin();
  if (!begun) co_return Written{.kind = Kind::kRefused, .why = begun.error().describe()};
  ++writes_;
  const auto answer = co_await client_.ask(std::move(request), deadline);
  if (!answer) co_return Written{.kind = Kind::kNoAnswer, .why = answer.error().describe()};
  if (!is_done(answer->status)) co_return meaning(*answer, false);
  co_return Written();
}

}  // namespace wardmote::act::reconcile
