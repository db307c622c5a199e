#include "judge/notify/naming.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "judge/finding.h"
#include "judge/incident/incident.h"
#include "judge/notify/matcher.h"
#include "judge/notify/notice.h"
#include "judge/notify/router.h"

namespace wardmote::judge::notify {
namespace {

using incident::Incident;

/// In the order of the catalogue, in which a finding that explains others comes before them.
bool graver(Code one, Code other) {
  const Severity severity = info(one).severity;
  const Severity of_other = info(other).severity;
  return severity != of_other ? severity > of_other : one < other;
}

void set_label(Labels& labels, const char* name, std::string value) {
  const auto label = labels.find(name);
  if (label != labels.end()) label->second = std::move(value);
}

/// An end has a name that its receiver knows. If the incident was worse for a while, or its cause
/// was found, and that was over before it could be sent, the end says so.
void call_as_told(NoticeItem& item, const std::optional<CalledAs>& told) {
  if (!told) return;
  Incident& ended = item.incident;
  // An earlier version did not write it down.
  if (!told->root.empty()) ended.root = told->root;
  set_label(item.labels, "root", ended.root);
  const auto first = item.known_as.find("root");
  if (first != item.known_as.end() && first->second == ended.root) {
    for (const char* const of_root : {"scope", "subject"}) {
      const auto label = item.known_as.find(of_root);
      if (label != item.known_as.end()) set_label(item.labels, of_root, label->second);
    }
  }
  ended.severity = std::max(ended.severity, told->severity);
  set_label(item.labels, "severity", std::string(to_string(ended.severity)));
  if (told->code == ended.code && told->names == ended.names) return;
  std::string summary = told->summary;
  if (!graver(told->code, ended.code)) {
    summary += "; at the worst " + std::string(to_string(ended.code)) + ": " + ended.summary;
  }
  ended.code = told->code;
  ended.names = told->names;
  ended.summary = std::move(summary);
  set_label(item.labels, "code", std::string(to_string(ended.code)));
}

/// Its cause may be good, and what the receiver knows it by is not watched any more.
void name_unwatched(NoticeItem& item) {
  const auto root = item.known_as.find("root");
  if (item.incident.unwatched || root == item.known_as.end()) return;
  item.incident.summary = root->second + " is not watched any more, and nobody saw it good; " +
                          std::move(item.incident.summary);
}

}  // namespace

NoticeItem item_of(NoticeKind kind, const Member& member) {
  NoticeItem item{kind, member.incident, member.labels, member.known_as};
  if (ends(kind)) call_as_told(item, member.called);
  if (kind == NoticeKind::kUnwatched) name_unwatched(item);
  return item;
}

void remember_name(Member& member, const Incident& told) {
  if (told.phase == incident::Phase::kResolved) {
    member.called.reset();
    return;
  }
  const Severity severity =
      member.called ? std::max(member.called->severity, told.severity) : told.severity;
  if (!member.called || !graver(member.called->code, told.code))
    member.called = {told.code, told.names, told.summary, told.root};
  member.called->severity = severity;
}

}  // namespace wardmote::judge::notify
