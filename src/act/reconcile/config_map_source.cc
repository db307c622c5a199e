#include "act/reconcile/config_map_source.h"

#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "act/reconcile/source.h"
#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "codec/base64.h"
#include "codec/kube_api.h"
#include "codec/kube_object.h"
#include "runtime/deadline.h"
#include "runtime/file_tree.h"
#include "runtime/task.h"

namespace wardmote::act::reconcile {

namespace json = boost::json;
using runtime::Task;

namespace {

/// Adds what `map` has at `field`, whose values are texts, in base64 if they are bytes.
Result<void> add_files(const json::object& map, std::string_view field, bool bytes,
                       SourceFiles& found) {
  const json::value* const keys = map.if_contains(field);
  if (keys == nullptr || keys->is_null()) return {};
  if (!keys->is_object()) return fail(Errc::kProtocol, "'{}' is no map", field);
  for (const auto& [key, value] : keys->get_object()) {
    if (key.starts_with('.')) continue;
    if (!value.is_string()) return fail(Errc::kProtocol, "{} is no text", escape_control(key));
    std::optional<std::string> text = std::string(value.get_string());
    if (bytes) text = codec::base64_decode(*text);
    if (!text) return fail(Errc::kProtocol, "{} is not in base64", escape_control(key));
    found.files.push_back({std::string(key), *std::move(text)});
  }
  return {};
}

}  // namespace

std::string ConfigMapSource::describe() const {
  return fmt::format("ConfigMap {}/{}", options_.space, options_.name);
}

Task<Result<SourceFiles>> ConfigMapSource::read(runtime::Deadline deadline) {
  const std::string what = describe();
  if (const Result<void> begun = co_await client_.begin({}); !begun)
    co_return with_context(begun, "{}", what);
  std::string path = codec::config_map_path(options_.space, options_.name);
  const auto map = co_await client_.get(std::move(path), deadline);
  if (!map) co_return with_context(map, "{}", what);
  if (!*map) co_return fail(Errc::kMissing, "{}: there is none", what);
  const codec::ObjectHead head = codec::read_head(**map);
  if (!head.deleting_since.empty()) co_return fail(Errc::kRejected, "{} is being deleted", what);
  SourceFiles found{.files = {}, .revision = "version " + escape_control(head.resource_version)};
  Result<void> added = add_files(**map, "data", false, found);
  if (added) added = add_files(**map, "binaryData", true, found);
  if (!added) co_return with_context(added, "{}", what);
  std::ranges::sort(found.files, {}, &runtime::TreeFile::path);
  co_return found;
}

}  // namespace wardmote::act::reconcile
