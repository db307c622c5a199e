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
#include "codec/kube_object.h"
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
constexpr int kBadGateway = 502;
constexpr int kGatewayTimeout = 504;
/// Words that Kubernetes has for its own (apimachinery, pkg/apis/meta/v1/types.go). Who is asked
/// about each write, a webhook say, may answer with any others.
constexpr auto kReasons = std::to_array<std::string_view>(
    {"Unauthorized", "Forbidden", "NotFound", "AlreadyExists", "Conflict", "Gone", "Invalid",
     "ServerTimeout", "Timeout", "TooManyRequests", "BadRequest", "MethodNotAllowed",
     "NotAcceptable", "RequestEntityTooLarge", "UnsupportedMediaType", "InternalError", "Expired",
     "ServiceUnavailable"});
constexpr auto kCauses = std::to_array<std::string_view>(
    {"FieldValueNotFound", "FieldValueRequired", "FieldValueDuplicate", "FieldValueInvalid",
     "FieldValueNotSupported", "FieldValueForbidden", "FieldValueTooLong", "FieldValueTooMany",
     "FieldValueTypeInvalid", "InternalError", "FieldManagerConflict"});

template <class Words>
bool is_one_of(std::string_view word, const Words& words) {
  return std::ranges::find(words, word) != words.end();
}

bool is_done(int status) {
  return status >= 200 && status < 300;
}

/// Kubernetes says it in words only. Most fields have `field is immutable`, the reference of a
/// binding has its own words (pkg/apis/rbac/validation/validation.go).
bool is_about_immutable(const codec::KubeStatus::Cause& cause) {
  return cause.message.contains("immutable") || cause.message.contains("cannot change roleRef");
}

/// Whether somebody else has looked at what is written, and says so in his own words
/// (k8s.io/apiserver, pkg/admission).
bool is_of_admission(const codec::KubeStatus& status) {
  return status.message.contains("admission webhook") ||
         status.message.contains("denied request") || status.message.contains("denied the request");
}

/// The authorizer's words have names only (k8s.io/apiserver, endpoints/handlers/responsewriters).
bool is_of_the_authorizer(const KubeAnswer& answer, const codec::KubeStatus& status) {
  return answer.status == kForbidden && !is_of_admission(status) &&
         status.message.contains("is forbidden: User \"");
}

/// `.spec.users[token="s3cret"].role`: by what an item of a list is told from others is a value.
std::string without_keys(std::string_view path) {
  std::string shown;
  bool inside = false;  // of brackets that name such values
  bool quoted = false;
  for (std::size_t at = 0; at < path.size(); ++at) {
    const char c = path[at];
    if (!inside) {
      shown += c;
      const std::size_t end = path.find_first_of("=\"]", at);
      inside = c == '[' && end != std::string_view::npos && path[end] != ']';
      if (inside) shown += "…";
    } else if (c == '\\' && quoted) {
      ++at;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ']' && !quoted) {
      shown += c;
      inside = false;
    }
  }
  return shown;
}

/// What is wrong with the type or the name of a field, without what stands there, of
/// `failed to create typed patch object: .data.pin: expected string, got &value{Value:81234567}`
/// (structured-merge-diff, typed/helpers.go). Empty: it is said in other words.
std::string type_fault_of(std::string_view message) {
  if (message.starts_with("failed to create typed patch object"))
    message.remove_prefix(std::min(message.find(": ."), message.size() - 2) + 2);
  if (!message.starts_with('.')) return {};
  const std::size_t got = message.find(", got ");
  if (got != std::string_view::npos) return without_keys(message.substr(0, got));
  return message.ends_with(": field not declared in schema") ? without_keys(message) : "";
}

/// Which fields, and of which kind the fault is: a server quotes what it refuses.
std::string fields_of(const KubeAnswer& answer, const codec::KubeStatus& status) {
  const bool known = is_one_of(status.reason, kReasons);
  std::string said =
      fmt::format("HTTP {}{}{}", answer.status, known ? " " : "", known ? status.reason : "");
  if (is_of_admission(status)) return said + ", by who is asked about each write";
  if (answer.status == kNotFound) return said + ": it, or its namespace, is not there";
  std::string_view before = ": ";
  for (const auto& cause : status.causes) {
    if (cause.field.empty() || !is_one_of(cause.reason, kCauses)) continue;
    said += fmt::format("{}{} ({})", before, without_keys(cause.field), cause.reason);
    before = ", ";
  }
  return said;
}

/// As what it is told, until the answer proves to be something else.
Written refusal(const KubeAnswer& answer, const codec::KubeStatus& status, bool secret) {
  Written written{.kind = Kind::kRefused};
  if (is_of_the_authorizer(answer, status)) {
    written.why = describe(answer);
  } else if (std::string fault = secret ? "" : type_fault_of(status.message); !fault.empty()) {
    written.why = fmt::format("HTTP {}: {}", answer.status, fault);
  } else {
    written.why = fields_of(answer, status);
    if (!secret) written.words = status.message;
  }
  return written;
}

Kind missing_kind(const KubeAnswer& answer) {
  return codec::is_no_object(answer.body) ? Kind::kMissing : Kind::kUnserved;
}

Written meaning(const KubeAnswer& answer, bool secret) {
  const codec::KubeStatus status = codec::parse_kube_status(answer.body);
  Written written = refusal(answer, status, secret);
  // Whoever is asked about a write may deny it with any status.
  const bool denied = is_of_admission(status);
  if (answer.status == kNotFound && !denied) written.kind = missing_kind(answer);
  if (answer.status == kConflict && !denied) {
    std::string fields;
    for (const auto& cause : status.causes) {
      if (cause.reason != "FieldManagerConflict") continue;
      fields += fmt::format("{}{}: {}", fields.empty() ? "" : "; ", without_keys(cause.field),
                            cause.message);
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
  // It may have been done all the same.
  const bool untold = answer.status == kServerError || answer.status == kBadGateway ||
                      answer.status == kGatewayTimeout;
  if (untold && type_fault_of(status.message).empty()) written.kind = Kind::kNoAnswer;
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

/// JSON is YAML, but for what YAML 1.1 takes for the end of a line, also within quotes.
std::string yaml_of(const json::object& body) {
  constexpr std::pair<std::string_view, std::string_view> kLineEnds[] = {
      {"\u0085", "\\u0085"}, {"\u2028", "\\u2028"}, {"\u2029", "\\u2029"}};
  std::string text = json::serialize(body);
  for (const auto& [end, escaped] : kLineEnds) {
    for (std::size_t at = text.find(end); at != std::string::npos; at = text.find(end, at))
      text.replace(at, end.size(), escaped);
  }
  return text;
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
  request.content_type = "application/apply-patch+yaml";
  if (!order.resource_version.empty())
    order.body.at("metadata").get_object()["resourceVersion"] = order.resource_version;
  request.body = yaml_of(order.body);
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
  // A Status when it is gone; the object while a finalizer, or its time to end, holds it.
  auto left = codec::parse_kube_object(answer->body);
  if (!left || codec::read_head(*left).deleting_since.empty()) co_return Written();
  co_return Written{.object = *std::move(left)};
}

}  // namespace wardmote::act::reconcile
