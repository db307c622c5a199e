#include "cli/reading.h"

#include <unistd.h>

#include <chrono>
#include <expected>
#include <string>
#include <utility>

#include "base/format.h"
#include "base/result.h"
#include "base/time.h"
#include "cli/agent_address.h"
#include "cli/agent_client.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/find_agent.h"
#include "cli/format.h"
#include "cli/output.h"
#include "cli/render/style.h"
#include "cli/session.h"
#include "cli/watch_screen.h"
#include "runtime/runtime.h"

namespace wardmote::cli {
namespace {

namespace json = boost::json;
using runtime::Runtime;
using runtime::Task;

constexpr Duration kInterval = std::chrono::seconds(1);
constexpr Duration kShortestInterval = std::chrono::milliseconds(100);

class Reader {
 public:
  Reader(const Call& call, Runtime& runtime, AgentAddress address, Reading reading)
      : call_(&call),
        runtime_(&runtime),
        reading_(std::move(reading)),
        named_(address.named),
        client_(runtime, std::move(address)) {}

  Task<Exit> once() {
    Answer<json::value> shown = co_await look();
    const bool none = !shown && shown.error().exit == Exit::kUnreachable;
    if (none && reading_.without_agent && shows_more_than_a_list()) {
      // If the user named an agent, it should have answered.
      const Exit exit = named_ ? Exit::kUnreachable : Exit::kGood;
      complain(*call_, exit, shown.error().message + " What is wrong now is not known.");
      print(drawn(*reading_.without_agent));
      co_return exit;
    }
    if (!shown) co_return complain(*call_, shown.error().exit, shown.error().message);
    print(drawn(*shown));
    co_return reading_.judge(*shown);
  }

  Task<Exit> again_and_again(Duration interval) {
    WatchScreen screen(!for_programs(format_of(*call_)) && ::isatty(STDOUT_FILENO) == 1);
    for (;;) {
      const Answer<json::value> shown = co_await look();
      // --watch continues while the agent restarts.
      std::string frame = shown ? drawn(*shown) : not_shown(shown.error());
      screen.show(std::move(frame), footer(interval));
      co_await runtime_->sleep_until(runtime_->now() + interval);
    }
  }

 private:
  [[nodiscard]] bool shows_more_than_a_list() const {
    const Format format = format_of(*call_);
    return format != Format::kJsonLines && format != Format::kNames;
  }

  Task<Answer<json::value>> look() {
    Answer<json::value> answer = co_await client_.get_json(reading_.path, reading_.query);
    for (const std::string& path : reading_.otherwise) {
      if (answer || !answer.error().missing) break;
      Answer<json::value> other = co_await client_.get_json(path, reading_.query);
      // When it is nowhere, the first refusal is the one to show.
      if (other || !other.error().missing) answer = std::move(other);
    }
    if (!answer) co_return answer;
    for (const Reading::More& also : reading_.also) {
      const Answer<json::value> more = co_await client_.get_json(also.path, "");
      if (!more) co_return std::unexpected(more.error());
      if (json::object* const object = answer->if_object()) (*object)[also.key] = *more;
    }
    if (!reading_.select) co_return checked(*std::move(answer));
    Result<json::value> selected = reading_.select(*answer);
    if (!selected) co_return std::unexpected(Failure{Exit::kUsage, selected.error().context});
    co_return checked(*std::move(selected));
  }

  /// Some other program that answers must not pass for an agent that has nothing to tell.
  [[nodiscard]] Answer<json::value> checked(json::value shown) const {
    const std::string& list = reading_.shape.list;
    const json::object* const object = shown.if_object();
    const json::value* const found = object == nullptr ? nullptr : object->if_contains(list);
    if (list.empty() || (found != nullptr && found->is_array())) return shown;
    return std::unexpected(Failure{
        Exit::kUnreachable,
        fmt::format("what answers is no agent of Wardmote: its answer has no list '{}'.", list)});
  }

  [[nodiscard]] std::string drawn(const json::value& shown) const {
    const Format format = format_of(*call_);
    return for_programs(format) ? written(format, shown, reading_.shape)
                                : reading_.draw(shown, style_for(*call_));
  }

  [[nodiscard]] std::string not_shown(const Failure& failure) const {
    const Format format = format_of(*call_);
    if (format == Format::kNames) return "";
    if (for_programs(format)) return written(format, json::object{{"error", failure.message}});
    return paint(style_for(*call_), Tone::kUnknown, failure.message) + "\n";
  }

  [[nodiscard]] std::string footer(Duration interval) const {
    const std::string text = fmt::format(
        "{}  every {}  Ctrl-C ends", format_utc(runtime_->wall_now()), format_duration(interval));
    return paint(style_for(*call_), Tone::kFaint, text);
  }

  const Call* call_;
  Runtime* runtime_;
  Reading reading_;
  bool named_;
  AgentClient client_;
};

}  // namespace

Exit read(const Call& call, Reading reading) {
  Result<AgentAddress> address = find_agent(call);
  if (!address) return complain(call, Exit::kUsage, address.error().context);
  const Result<Duration> interval = call.duration("watch", kInterval);
  if (!interval) return complain(call, Exit::kUsage, interval.error().context);
  const bool again = call.has("watch") || reading.keeps_on;
  if (again && *interval < kShortestInterval)
    return complain(call, Exit::kUsage, "--watch: at least 100ms");

  Session session;
  Reader reader(call, session.runtime(), std::move(*address), std::move(reading));
  return session.run(again ? reader.again_and_again(*interval) : reader.once());
}

}  // namespace wardmote::cli
