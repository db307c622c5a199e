#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/percent.h"
#include "base/result.h"
#include "base/time.h"
#include "runtime/deadline.h"
#include "runtime/http.h"
#include "runtime/http_client.h"
#include "runtime/http_lines.h"
#include "runtime/task.h"

namespace wardmote::act::reconcile {

/// A fake kube-apiserver in memory, as far as a pass needs one: kinds, lists by label in pages,
/// server-side apply that notes which fields were applied but leaves them to that manager, resource
/// versions, preconditions. tests/integration/test_reconcile.py asks a real one.
class FakeKube final : public runtime::HttpClient, public runtime::HttpLines {
 public:
  using Answer = std::optional<Result<runtime::HttpResponse>>;

  runtime::Task<Result<runtime::HttpResponse>> call(runtime::HttpCall call,
                                                    runtime::Deadline) override {
    calls.push_back(call);
    if (call.method == "PATCH" && !call.url.contains("dryRun")) ++writes;
    if (call.method == "DELETE") ++writes;
    if (takes) {
      const Duration until = takes(call);
      co_await sleep(until);
    }
    if (before) {
      Answer answer = before(call);
      if (answer) co_return *std::move(answer);
    }
    runtime::HttpResponse response = serve(call);
    if (after) {
      Answer answer = after(call);
      if (answer) co_return *std::move(answer);
    }
    co_return response;
  }

  runtime::Task<Result<runtime::HttpResponse>> call_for_line(runtime::HttpCall call,
                                                             runtime::Deadline) override {
    return lines(call);
  }

  /// As the real one says it, of an object and of a path that it does not serve.
  [[nodiscard]] runtime::HttpResponse missing(const std::string& path) const {
    const auto serves = [&](const auto& version) { return path.starts_with(version.first + "/"); };
    if (std::ranges::none_of(versions, serves))
      return {.status = 404, .body = "404 page not found\n"};
    const std::string name = path.substr(path.rfind('/') + 1);
    return status(404, "NotFound", "things \"" + name + "\" not found");
  }

  static runtime::HttpResponse status(int code, std::string_view reason, std::string_view message,
                                      boost::json::array causes = {}) {
    const boost::json::object body{{"kind", "Status"},
                                   {"reason", reason},
                                   {"message", message},
                                   {"details", {{"causes", std::move(causes)}}}};
    return {.status = code, .body = boost::json::serialize(body)};
  }

  /// A `Status` with one cause.
  static runtime::HttpResponse status_of(int code, std::string_view reason, std::string_view cause,
                                         std::string_view message, std::string_view field) {
    boost::json::array causes;
    causes.push_back(
        boost::json::object{{"reason", cause}, {"message", message}, {"field", field}});
    return status(code, reason, "see the cause", std::move(causes));
  }

  runtime::HttpResponse serve(const runtime::HttpCall& call) {
    std::string rest = call.url.substr(std::string_view("https://kube:6443").size());
    const std::size_t mark = rest.find('?');
    const std::string query = mark == std::string::npos ? "" : rest.substr(mark + 1);
    const std::string path = *percent_decode(rest.substr(0, mark));
    for (const auto* const documents : {&versions, &groups}) {
      if (const auto found = documents->find(path); found != documents->end())
        return {.status = 200, .body = found->second};
    }
    if (call.method == "GET" && query.contains("labelSelector")) return list(path, query);
    if (call.method == "GET") {
      const auto found = objects.find(path);
      if (found == objects.end()) return missing(path);
      return {.status = 200, .body = boost::json::serialize(found->second)};
    }
    if (call.method == "PATCH") return apply(path, query, call.body);
    if (call.method == "DELETE") return remove(path, call.body);
    return status(405, "MethodNotAllowed", "no such method");
  }

  /// As somebody else writes it.
  boost::json::object& put(const std::string& path, std::string_view text) {
    boost::json::object object = boost::json::parse(text).as_object();
    boost::json::object& metadata = object.at("metadata").as_object();
    metadata["uid"] = "uid-" + std::to_string(++uids);
    metadata["resourceVersion"] = std::to_string(++revision);
    return objects[path] = std::move(object);
  }
  void touch(boost::json::object& object) {
    object.at("metadata").as_object()["resourceVersion"] = std::to_string(++revision);
  }
  [[nodiscard]] const boost::json::value* data(const std::string& path,
                                               std::string_view key) const {
    const auto found = objects.find(path);
    if (found == objects.end()) return nullptr;
    return found->second.at("data").as_object().if_contains(key);
  }

  std::map<std::string, boost::json::object> objects;  ///< by path
  std::map<std::string, std::string> versions;         ///< the kinds of a version, by its path
  std::map<std::string, std::string> groups;           ///< the versions of a group, by its path
  std::vector<runtime::HttpCall> calls;
  /// What a watch hears.
  std::function<runtime::Task<Result<runtime::HttpResponse>>(const runtime::HttpCall&)> lines;
  std::function<Answer(const runtime::HttpCall&)> before;   ///< instead of doing it
  std::function<Answer(const runtime::HttpCall&)> after;    ///< it was done, and this is heard
  std::function<Duration(const runtime::HttpCall&)> takes;  ///< until it is done, by `sleep`
  std::function<runtime::Task<void>(Duration)> sleep;
  std::string dropped;  ///< a field that is not kept, as an empty list may not be
  int writes = 0;
  int revision = 100;
  int uids = 0;
  std::size_t page = 2;

 private:
  runtime::HttpResponse list(const std::string& path, const std::string& query) {
    const std::string selector = *percent_decode(query.substr(14, query.find('&') - 14));
    const std::string set = selector.substr(selector.find('=') + 1);
    const std::size_t at = query.find("continue=");
    const std::string from = at == std::string::npos ? "" : *percent_decode(query.substr(at + 9));
    // `/api/v1/configmaps` has what lies at `/api/v1/namespaces/x/configmaps/y`.
    const std::size_t slash = path.rfind('/');
    boost::json::array items;
    std::string next;
    for (const auto& [where, object] : objects) {
      const std::string folder = where.substr(0, where.rfind('/'));
      if (!where.starts_with(path.substr(0, slash)) || !folder.ends_with(path.substr(slash)))
        continue;
      const auto* const labels = object.at("metadata").as_object().if_contains("labels");
      if (labels == nullptr) continue;
      const auto* const label = labels->as_object().if_contains("reconcile.wardmote.io/set");
      if (label == nullptr || label->as_string() != set || where <= from) continue;
      if (items.size() == page) {
        next = last_;
        break;
      }
      boost::json::object item = object;
      item.erase("kind");
      item.erase("apiVersion");
      items.push_back(std::move(item));
      last_ = where;
    }
    return {.status = 200,
            .body = boost::json::serialize(boost::json::object{
                {"kind", "ConfigMapList"},
                {"metadata", {{"continue", next}, {"resourceVersion", std::to_string(revision)}}},
                {"items", items}})};
  }

  runtime::HttpResponse apply(const std::string& path, const std::string& query,
                              const std::string& body) {
    boost::json::object wanted = boost::json::parse(body).as_object();
    boost::json::object& metadata = wanted.at("metadata").as_object();
    const auto found = objects.find(path);
    // A real one creates what is not there, whatever the version.
    if (const auto* const version = metadata.if_contains("resourceVersion")) {
      if (found != objects.end() &&
          found->second.at("metadata").as_object().at("resourceVersion") != *version)
        return status(409, "Conflict", "the object has been modified");
    }
    metadata.erase("resourceVersion");
    const std::string manager = *percent_decode(query.substr(13, query.find('&') - 13));
    boost::json::object now = found == objects.end() ? boost::json::object() : found->second;
    if (found != objects.end()) give_up(now, applied_before(now, manager), wanted);
    merge(now, wanted);
    now.erase(dropped);
    boost::json::object& facts = now.at("metadata").as_object();
    boost::json::array& managed = facts["managedFields"].emplace_array();
    boost::json::object applied = wanted;
    for (const char* const own : {"apiVersion", "kind"}) applied.erase(own);
    for (const char* const own : {"name", "namespace"}) applied["metadata"].as_object().erase(own);
    managed.push_back(boost::json::object{
        {"manager", manager}, {"operation", "Apply"}, {"fieldsV1", fields_of(applied)}});
    if (found != objects.end() && now == found->second)
      return {.status = 200, .body = boost::json::serialize(now)};
    if (found == objects.end()) facts["uid"] = "uid-" + std::to_string(++uids);
    facts["resourceVersion"] = std::to_string(++revision);
    if (!query.contains("dryRun=All")) objects[path] = now;
    return {.status = found == objects.end() ? 201 : 200, .body = boost::json::serialize(now)};
  }

  /// As FieldsV1 has it, where each list is atomic.
  static boost::json::object fields_of(const boost::json::object& applied) {
    boost::json::object fields;
    for (const auto& [key, value] : applied)
      fields["f:" + std::string(key)] =
          value.is_object() ? fields_of(value.get_object()) : boost::json::object();
    return fields;
  }

  static boost::json::object applied_before(const boost::json::object& live,
                                            const std::string& manager) {
    const auto* const managed = live.at("metadata").as_object().if_contains("managedFields");
    if (managed == nullptr) return {};
    for (const boost::json::value& one : managed->as_array()) {
      if (one.at("manager").as_string() == manager && one.at("operation").as_string() == "Apply")
        return one.at("fieldsV1").as_object();
    }
    return {};
  }

  /// What a manager applied before and does not any more is gone, where nobody else has it.
  static void give_up(boost::json::object& live, const boost::json::object& before,
                      const boost::json::object& wanted) {
    for (const auto& [field, below] : before) {
      const std::string key(field.substr(2));
      boost::json::value* const place = live.if_contains(key);
      const boost::json::value* const still = wanted.if_contains(key);
      if (place == nullptr) continue;
      if (still == nullptr) {
        live.erase(key);
      } else if (place->is_object() && still->is_object()) {
        give_up(place->get_object(), below.as_object(), still->get_object());
      }
    }
  }

  static void merge(boost::json::object& into, const boost::json::object& from) {
    for (const auto& [key, value] : from) {
      boost::json::value& place = into[key];
      if (place.is_object() && value.is_object()) {
        merge(place.get_object(), value.get_object());
      } else {
        place = value;
      }
    }
  }

  runtime::HttpResponse remove(const std::string& path, const std::string& body) {
    const auto found = objects.find(path);
    if (found == objects.end()) return missing(path);
    const boost::json::object options = boost::json::parse(body).as_object();
    const boost::json::object& asked = options.at("preconditions").as_object();
    const boost::json::object& metadata = found->second.at("metadata").as_object();
    for (const char* const key : {"uid", "resourceVersion"}) {
      if (metadata.at(key) != asked.at(key)) return status(409, "Conflict", "precondition failed");
    }
    if (metadata.contains("finalizers")) {
      found->second.at("metadata").as_object()["deletionTimestamp"] = "2026-01-01T00:00:00Z";
      touch(found->second);
      return {.status = 200, .body = boost::json::serialize(found->second)};
    }
    objects.erase(found);
    return status(200, "", "");
  }

  std::string last_;
};

}  // namespace wardmote::act::reconcile
