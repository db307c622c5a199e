#include "act/notify/dispatcher.h"

#include <expected>
#include <map>
#include <string>
#include <utility>

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
                       Told told)
    : runtime_(runtime), told_(std::move(told)), tasks_(runtime.executor()) {
  for (auto& [name, receiver] : receivers) receivers_[name].receiver = std::move(receiver);
}

void Dispatcher::send(Notice notice) {
  const auto found = receivers_.find(notice.receiver);
  if (found == receivers_.end()) {
    told_(notice, std::unexpected(judge::notify::Refusal{true, {}, "no such receiver"}));
    return;
  }
  Line& line = found->second;
  line.waiting.push_back(std::move(notice));
  if (line.under_way >= kAtATime) return;
  ++line.under_way;
  tasks_.spawn("notify " + found->first, work_off(&line));
}

Task<void> Dispatcher::work_off(Line* line) {
  // However this ends, another may take its place.
  struct Leave {
    Line* line;
    ~Leave() { --line->under_way; }
  } const leave{line};
  while (!line->waiting.empty()) {
    Notice notice = std::move(line->waiting.front());
    line->waiting.pop_front();
    co_await send_one(line, std::move(notice));
  }
}

Task<void> Dispatcher::send_one(Line* line, Notice notice) {
  const runtime::Deadline deadline = runtime_.deadline_in(line->receiver.timeout);
  const Fate fate = co_await line->receiver.channel->send(notice, deadline);
  told_(notice, fate);
}

}  // namespace wardmote::act::notify
