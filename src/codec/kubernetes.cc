#include "codec/kubernetes.h"

#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <boost/system/error_code.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "codec/json_fields.h"

namespace wardmote::codec {

namespace json = boost::json;

namespace {

constexpr std::string_view kNoticeAnnotation = "wardmote/notice";
constexpr std::size_t kLongestName = 253;
constexpr std::int64_t kMostCount = std::numeric_limits<std::int32_t>::max();

json::object annotations_of(const KubernetesEvent& event) {
  return {{kNoticeAnnotation, event.notice}};
}

}  // namespace

std::string kubernetes_time(WallTime at) {
  std::string text = format_utc(at);
  text.resize(text.size() - std::string_view(".000Z").size());
  return text + "Z";
}

std::string format_kubernetes_event(const KubernetesEvent& event) {
  json::object object = {
      {"apiVersion", event.version}, {"kind", event.kind}, {"name", event.object}};
  if (event.namespaced) object["namespace"] = event.space;
  if (!event.uid.empty()) object["uid"] = event.uid;
  json::object body;
  body["apiVersion"] = "v1";
  body["kind"] = "Event";
  body["metadata"] = json::object{
      {"name", event.name}, {"namespace", event.space}, {"annotations", annotations_of(event)}};
  body["involvedObject"] = std::move(object);
  body["reason"] = event.reason;
  body["message"] = event.message;
  body["type"] = event.warning ? "Warning" : "Normal";
  body["firstTimestamp"] = kubernetes_time(event.first);
  body["lastTimestamp"] = kubernetes_time(event.last);
  body["count"] = 1;
  body["source"] = json::object{{"component", event.component}, {"host", event.instance}};
  body["reportingComponent"] = event.component;
  body["reportingInstance"] = event.instance;
  return json::serialize(body);
}

Result<KubernetesEventState> parse_kubernetes_event(std::string_view body) {
  const auto event = parse_object(body);
  const json::object* const metadata = event ? object_in(*event, "metadata") : nullptr;
  if (metadata == nullptr || text_in(*event, "kind") != "Event") {
    return fail(Errc::kProtocol, "the answer is not an event");
  }
  KubernetesEventState state;
  state.resource_version = text_in(metadata, "resourceVersion").value_or("");
  if (state.resource_version.empty()) {
    return fail(Errc::kProtocol, "the event has no version");
  }
  if (const auto count = integer_in(*event, "count"))
    state.count = std::clamp<std::int64_t>(*count, 0, kMostCount);
  const json::object* const annotations = object_in(*metadata, "annotations");
  state.notice = text_in(annotations, kNoticeAnnotation).value_or("");
  return state;
}

std::string format_kubernetes_repeat(const KubernetesEvent& event,
                                     const KubernetesEventState& state) {
  json::object body;
  body["metadata"] = json::object{{"resourceVersion", state.resource_version},
                                  {"annotations", annotations_of(event)}};
  body["message"] = event.message;
  body["lastTimestamp"] = kubernetes_time(event.last);
  body["count"] = std::min(state.count + 1, kMostCount);
  return json::serialize(body);
}

std::string kubernetes_message(std::string_view body) {
  const auto status = parse_object(body);
  if (!status || text_in(*status, "kind") != "Status") return std::string(body);
  return text_in(*status, "message").value_or("");
}

bool is_kubernetes_name(std::string_view text) noexcept {
  if (text.empty() || text.size() > kLongestName) return false;
  for (const std::string_view label : split(text, '.')) {
    if (label.empty() || label.starts_with('-') || label.ends_with('-')) return false;
    const bool plain = std::ranges::all_of(
        label, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; });
    if (!plain) return false;
  }
  return true;
}

}  // namespace wardmote::codec
