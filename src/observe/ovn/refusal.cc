#include "observe/ovn/refusal.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/format.h"
#include "base/result.h"
#include "judge/outcome.h"
#include "observe/reason.h"

namespace wardmote::observe::ovn {

using judge::Reason;
using judge::ReasonCode;

namespace {

/// What ovsdb-server answers to `cluster/status` (ovsdb/raft.c, lib/unixctl.c).
std::optional<ReasonCode> refusal_in(std::string_view words) {
  if (words.contains("unknown cluster")) return ReasonCode::kUnknownCluster;
  if (words.contains("is not a valid command")) return ReasonCode::kNotClustered;
  return std::nullopt;
}

}  // namespace

Reason reason_of_reply(const Error& error) {
  if (error.code == Errc::kRejected) {
    if (const auto refusal = refusal_in(error.context)) return {*refusal, error.context};
  }
  return reason_of(error);
}

Reason reason_of_output(std::string_view output) {
  const auto reason = [&](ReasonCode code) { return Reason{code, std::string(output)}; };
  if (const auto refusal = refusal_in(output)) return reason(*refusal);
  // The texts of strerror(3) in the messages of ovs-appctl and ovsdb-client.
  if (output.contains("Connection refused")) return reason(ReasonCode::kRefused);
  if (output.contains("No such file or directory")) return reason(ReasonCode::kMissing);
  if (output.contains("Permission denied")) return reason(ReasonCode::kDenied);
  if (output.contains("No route to host") || output.contains("Network is unreachable")) {
    return reason(ReasonCode::kUnreachable);
  }
  if (output.contains("Alarm clock") || output.contains("Connection timed out"))
    return reason(ReasonCode::kHung);
  return reason(ReasonCode::kRejected);
}

Reason reason_of_exit(int status, std::string_view output) {
  constexpr int kAlarm = 128 + 14;
  std::string text = fmt::format("exit {}", status);
  if (!output.empty()) text += fmt::format(": {}", output);
  if (status == kAlarm) return {ReasonCode::kHung, std::move(text)};
  const bool tool_speaks = output.contains("appctl:") || output.contains("ovsdb-client:");
  if (!tool_speaks && !refusal_in(output)) return {ReasonCode::kRejected, std::move(text)};
  return {reason_of_output(output).code, std::move(text)};
}

Reason reason_of_run(std::string_view program, const Error& error) {
  ReasonCode code = ReasonCode::kDenied;
  if (error.code == Errc::kTimeout) code = ReasonCode::kUnreachable;
  if (error.code == Errc::kLimit) code = ReasonCode::kOverLimit;
  if (error.code == Errc::kExhausted) code = reason_of(error).code;
  return {code, fmt::format("{}: {}", program, error.describe())};
}

Reason reason_of_command(const Error& error) {
  return error.code == Errc::kRejected ? reason_of_output(error.context) : reason_of(error);
}

}  // namespace wardmote::observe::ovn
