#include "act/reconcile/kube_writer.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <string>
#include <utility>

#include "act/reconcile/kube_client.h"
#include "base/format.h"
#include "base/percent.h"
#include "codec/kube_api.h"
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

bool is_done(int status) {
  return status >= 200 && status < 300;
}

/// Kubernetes says it in words only. Most fields have `field is immutable`, the reference of a
/// binding has its own words (pkg/apis/rbac/validation/validation.go).
bool is_about_immutable(const codec::KubeStatus::Cause& cause) {
  return cause.message.contains("immutable") || cause.message.contains("cannot change roleRef");
}

Written meaning(const KubeAnswer& answer) {
  const codec::KubeStatus status = codec::parse_kube_status(answer.body);
  Written written{.kind = Kind::kRefused, .why = describe(answer)};
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
  return written;
}

}  // namespace

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
  if (!order.dry) ++writes_;
  const auto answer = co_await client_.ask(std::move(request), deadline);
  if (!answer) co_return Written{.kind = Kind::kNoAnswer, .why = answer.error().describe()};
  if (!is_done(answer->status)) co_return meaning(*answer);
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
  ++writes_;
  const auto answer = co_await client_.ask(std::move(request), deadline);
  if (!answer) co_return Written{.kind = Kind::kNoAnswer, .why = answer.error().describe()};
  if (!is_done(answer->status)) co_return meaning(*answer);
  co_return Written();
}

}  // namespace wardmote::act::reconcile
