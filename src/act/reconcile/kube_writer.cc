#include "act/reconcile/kube_writer.h"

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <string>
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
constexpr auto kHarmless = std::to_array<int>({401, 403, 404, 409, 429, 503});

bool is_done(int status) {
  return status >= 200 && status < 300;
}

/// Kubernetes says it in words only. Most fields have `field is immutable`, the reference of a
/// binding has its own words (pkg/apis/rbac/validation/validation.go).
bool is_about_immutable(const codec::KubeStatus::Cause& cause) {
  return cause.message.contains("immutable") || cause.message.contains("cannot change roleRef");
}

/// `.data.pin: expected string, got &value.valueUnstructured{Value:81234567}`: of any kind of
/// object what stands there is not repeated (structured-merge-diff, typed/helpers.go).
std::string without_what_it_got(std::string words) {
  const auto at = words.find(", got ");
  if (at != std::string::npos) words.replace(at, std::string::npos, ", got a value not shown here");
  return words;
}

/// A server quotes what it cannot read. Of a Secret only the fields are named.
std::string why_of(const KubeAnswer& answer, const codec::KubeStatus& status, bool secret) {
  if (std::ranges::find(kHarmless, answer.status) != kHarmless.end()) return describe(answer);
  if (!secret) return without_what_it_got(describe(answer));
  std::string fields;
  for (const auto& cause : status.causes) fields += (fields.empty() ? " of " : ", ") + cause.field;
  return fmt::format("HTTP {} {}{}; the server's words may quote the secret, and are not shown",
                     answer.status, status.reason, fields);
}

Written meaning(const KubeAnswer& answer, bool secret) {
  const codec::KubeStatus status = codec::parse_kube_status(answer.body);
  Written written{.kind = Kind::kRefused, .why = why_of(answer, status, secret)};
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
  if (immutable) written.kind = Kind::kImmutable;
  if (status.message.contains(codec::kFenceRefusal)) written.kind = Kind::kFenced;
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
