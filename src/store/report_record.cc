#include "store/report_record.h"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/epoch_ms.h"
#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "judge/report/reporters.h"
#include "store/json_fields.h"

namespace wardmote::store {

namespace json = boost::json;

namespace {

constexpr std::size_t kDetailCap = 1024;

}  // namespace

std::string report_prefix(std::string_view node) {
  return fmt::format("report/{}/", node);
}

std::string report_key(std::string_view node, std::string_view reporter) {
  return report_prefix(node) + std::string(reporter);
}

std::string encode(const judge::Report& report) {
  json::object record;
  record["live"] = report.live;
  record["ready"] = report.ready;
  record["detail"] = escape_control(report.detail, kDetailCap);
  if (report.timeout) record["timeout_ms"] = to_ms(*report.timeout);
  return json::serialize(record);
}

Result<judge::Report> decode_report(std::string_view text) {
  const Result<json::object> record = parse_record(text);
  if (!record || !record->contains("live") || !record->contains("ready"))
    return fail(Errc::kProtocol, "a record that is not a report");
  judge::Report report;
  report.live = flag_in(*record, "live");
  report.ready = flag_in(*record, "ready");
  report.detail = text_in(*record, "detail").value_or("");
  if (const auto timeout = integer_in(*record, "timeout_ms"))
    report.timeout = duration_of_ms(*timeout);
  return report;
}

}  // namespace wardmote::store
