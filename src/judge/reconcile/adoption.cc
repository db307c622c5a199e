#include "judge/reconcile/adoption.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "judge/reconcile/decision.h"
#include "judge/reconcile/report.h"

namespace wardmote::judge::reconcile {
namespace {

constexpr std::size_t kShown = 256;
/// Field managers of sets are called so.
constexpr std::string_view kOurManagers = "wardmote/";

/// `ConfigMap default/settings` in two.
struct Name {
  std::string_view kind;
  std::string_view rest;
};

Name name_of(std::string_view text) {
  const std::size_t space = text.find(' ');
  if (space == std::string_view::npos) return {text, {}};
  return {text.substr(0, space), text.substr(space + 1)};
}

/// `full`, or `full` without what stands beyond the mark.
bool is_called(std::string_view full, std::string_view words) {
  const Name whole = name_of(full);
  const Name asked = name_of(words);
  const bool kind =
      whole.kind == asked.kind || whole.kind.substr(0, whole.kind.find('.')) == asked.kind;
  const bool name =
      whole.rest == asked.rest || whole.rest.substr(whole.rest.find('/') + 1) == asked.rest;
  return kind && name && !asked.rest.empty();
}

}  // namespace

std::string why_not_adopted(std::string_view set, const LiveObject& live,
                            const Ownership& ownership) {
  if (live.deleting) return "somebody deletes it, and a finalizer holds it";
  if (!live.set.empty() && live.set != set)
    return fmt::format("it belongs to the set '{}'", escape_control(live.set, kShown));
  for (const std::string& applier : ownership.appliers) {
    std::string_view other = applier;
    if (consume_prefix(other, kOurManagers) && other != set)
      return fmt::format("the set '{}' has applied it, and its label does not say so",
                         escape_control(other, kShown));
  }
  if (!ownership.controller.empty())
    return fmt::format("{} controls it, and would change it back",
                       escape_control(ownership.controller, kShown));
  return "";
}

bool is_adopted(const Adoptions& adoptions, const std::string& object, std::string_view uid) {
  const auto found = adoptions.find(object);
  return found != adoptions.end() && found->second == uid && !uid.empty();
}

Result<ObjectReport> find_adoptable(const PassReport& report, std::string_view words) {
  std::vector<const ObjectReport*> found;
  const bool whole =
      std::ranges::find(report.touched, words, &ObjectReport::object) != report.touched.end();
  for (const ObjectReport& one : report.touched) {
    const bool called = whole ? one.object == words : is_called(one.object, words);
    if (one.foreign && called) found.push_back(&one);
  }
  if (found.empty())
    return fail(Errc::kMissing,
                "no object '{}' of the last pass waits to be taken over; 'wardmote reconcile "
                "explain' shows which do",
                escape_control(words, kShown));
  if (found.size() > 1) {
    std::string names;
    for (const ObjectReport* const one : found)
      names += (names.empty() ? "" : ", ") + escape_control(one->object, kShown);
    return fail(Errc::kRejected, "'{}' may be any of {}; write the whole name",
                escape_control(words, kShown), names);
  }
  const ObjectReport& one = *found.front();
  if (!one.foreign->refusal.empty())
    return fail(Errc::kRejected, "{} cannot be taken over: {}", escape_control(one.object, kShown),
                one.foreign->refusal);
  return one;
}

}  // namespace wardmote::judge::reconcile
