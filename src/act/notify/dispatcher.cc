#include "act/notify/dispatcher.h"

#include <deque>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "act/notify/channel.h"
#include "judge/notify/notice.h"
#include "judge/notify/router.h"
#include "runtime/deadline.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::act::notify {

using judge::notify::Notice;
using runtime::Task;

Dispatcher::Dispatcher(runtime::Runtime& runtime, std::map<std::string, Receiver> receivers,
                       Told told, MaySend may_send)
    : runtime_(runtime),
      told_(std::move(told)),
      may_send_(std::move(may_send)),
      tasks_(runtime.executor()) {
  reload(std::move(receivers));
}

void Dispatcher::reload(std::map<std::string, Receiver> receivers) {
  const auto before = std::exchange(receivers_, {});
  for (auto& [name, receiver] : receivers) {
    const auto line = std::make_shared<Line>();
    line->receiver = std::move(receiver);
    receivers_.emplace(name, line);
  }
  for (const auto& [name, old] : before) {
    std::deque<Notice> waiting = std::exchange(old->waiting, {});
    const auto now = receivers_.find(name);
    if (now == receivers_.end() || waiting.empty()) continue;
    now->second->waiting = std::move(waiting);
    begin(name, now->second);
  }
}

void Dispatcher::send(Notice notice) {
  const auto found = receivers_.find(notice.receiver);
  if (found == receivers_.end()) {
    told_(notice, std::unexpected(judge::notify::Refusal{true, {}, "no such receiver"}));
    return;
  }
  found->second->waiting.push_back(std::move(notice));
  begin(found->first, found->second);
}

void Dispatcher::forget_waiting() noexcept {
  for (const auto& [name, line] : receivers_) line->waiting.clear();
}

std::set<std::string> Dispatcher::receivers() const {
  std::set<std::string> names;
  for (const auto& [name, line] : receivers_) names.insert(name);
  return names;
}

std::vector<std::string> Dispatcher::forgetful() const {
  std::vector<std::string> names;
  for (const auto& [name, line] : receivers_) {
    if (line->receiver.forgets) names.push_back(name);
  }
  return names;
}

bool Dispatcher::idle(const std::string& receiver) const {
  const auto found = receivers_.find(receiver);
  return found != receivers_.end() && found->second->under_way == 0 &&
         found->second->waiting.empty();
}

void Dispatcher::begin(const std::string& name, const std::shared_ptr<Line>& line) {
  if (line->under_way >= kAtATime) return;
  ++line->under_way;
  tasks_.spawn("notify " + name, work_off(line));
}

Task<void> Dispatcher::work_off(std::shared_ptr<Line> line) {
  // On every way out, another notice may take this place.
  struct Leave {
    Line* line;
    ~Leave() { --line->under_way; }
  } const leave{line.get()};
  while (!line->waiting.empty()) {
    Notice notice = std::move(line->waiting.front());
    line->waiting.pop_front();
    if (may_send_(notice)) co_await send_one(line, std::move(notice));
  }
}

Task<void> Dispatcher::send_one(std::shared_ptr<Line> line, Notice notice) {
  const runtime::Deadline deadline = runtime_.deadline_in(line->receiver.timeout);
  const DeliveryResult result = co_await line->receiver.channel->send(notice, deadline);
  told_(notice, result);
}

}  // namespace wardmote::act::notify
