#include "store/check_record.h"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "base/epoch_ms.h"
#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "judge/change.h"
#include "judge/check_machine.h"
#include "judge/outcome.h"
#include "store/clock_pair.h"
#include "store/json_fields.h"

namespace wardmote::store {

namespace json = boost::json;

namespace {

constexpr std::size_t kDetailCap = 1024;

}  // namespace

std::string check_prefix(std::string_view node) {
  return fmt::format("check/{}/", node);
}

std::string check_key(std::string_view node, std::string_view name) {
  return check_prefix(node) + std::string(name);
}

std::string seen_good_prefix(std::string_view node) {
  return fmt::format("good/{}/", node);
}

std::string encode_reported_check(std::string_view name, std::string_view kind,
                                  const judge::CheckChanged& change, const ClockPair& clock) {
  json::object told;
  told["from"] = to_string(change.from);
  told["to"] = to_string(change.to);
  told["reason"] = to_string(change.reason.code);
  told["detail"] = escape_control(change.reason.text, kDetailCap);
  told["counts"] = change.counts;
  told["seen_good"] = change.seen_good;
  json::object record;
  record["check"] = name;
  record["kind"] = kind;
  record["since"] = epoch_ms(clock.wall_now);
  record["change"] = std::move(told);
  return json::serialize(record);
}

Result<ReportedCheck> decode_reported_check(std::string_view text, const ClockPair& clock) {
  const json::object record = parse_record(text).value_or(json::object());
  auto name = text_in(record, "check");
  const auto since = wall_in(record, "since");
  const json::value* const change = record.if_contains("change");
  if (!name || !since || change == nullptr || !change->is_object())
    return fail(Errc::kProtocol, "a record that is not a check");
  const json::object& data = change->get_object();
  ReportedCheck check;
  check.name = *std::move(name);
  check.kind = text_in(record, "kind").value_or("");
  check.since = clock.past(*since);
  check.change.to = judge::State::kReported;
  check.change.reason.code = judge::parse_reason(text_in(data, "reason").value_or(""));
  check.change.reason.text = text_in(data, "detail").value_or("");
  check.change.counts = flag_in(data, "counts");
  check.change.seen_good = flag_in(data, "seen_good");
  return check;
}

}  // namespace wardmote::store
