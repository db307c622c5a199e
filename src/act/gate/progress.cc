#include "act/gate/progress.h"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/epoch_ms.h"
#include "base/text.h"
#include "judge/version_gate/report.h"
#include "store/json_fields.h"

namespace wardmote::act::gate {

namespace json = boost::json;
using judge::version_gate::Progress;

namespace {

constexpr std::size_t kTextCap = 1024;
constexpr std::size_t kNameCap = 64;
constexpr std::size_t kMostNodes = 100;

}  // namespace

std::string write_progress(const Progress& progress) {
  json::object record;
  record["node"] = progress.node;
  record["token"] = progress.token;
  record["step"] = progress.step;
  record["why"] = progress.why;
  json::array& nodes = record["nodes"].emplace_array();
  for (const std::string& node : progress.nodes) {
    if (nodes.size() < kMostNodes) nodes.emplace_back(node);
  }
  record["since"] = epoch_ms(progress.since);
  return json::serialize(record);
}

std::optional<Progress> read_progress(std::string_view record) {
  const auto read = store::parse_record(record);
  if (!read) return std::nullopt;
  const auto token = store::integer_in(*read, "token");
  if (!token) return std::nullopt;
  Progress progress{.token = *token};
  progress.node = escape_control(store::text_in(*read, "node").value_or(""), kNameCap);
  progress.step = escape_control(store::text_in(*read, "step").value_or(""), kNameCap);
  progress.why = escape_control(store::text_in(*read, "why").value_or(""), kTextCap);
  progress.since = store::wall_in(*read, "since").value_or(WallTime());
  const json::value* const nodes = read->if_contains("nodes");
  if (nodes == nullptr || !nodes->is_array()) return progress;
  for (const json::value& node : nodes->get_array()) {
    if (progress.nodes.size() == kMostNodes) break;
    if (const json::string* const name = node.if_string())
      progress.nodes.push_back(escape_control(*name, kNameCap));
  }
  return progress;
}

}  // namespace wardmote::act::gate
