#include "judge/reconcile/object_id.h"

#include <cstddef>
#include <string>

namespace wardmote::judge::reconcile {

std::string describe(const ObjectId& id) {
  std::string text = id.kind;
  if (!id.group.empty()) text += "." + id.group;
  text += " ";
  if (!id.space.empty()) text += id.space + "/";
  return text + id.name;
}

std::string group_of(const std::string& api_version) {
  const std::size_t slash = api_version.find('/');
  return slash == std::string::npos ? std::string() : api_version.substr(0, slash);
}

}  // namespace wardmote::judge::reconcile
