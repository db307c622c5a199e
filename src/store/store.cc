#include "store/store.h"

#include <string>
#include <string_view>

namespace wardmote::store {

KeyRange KeyRange::one(std::string_view key) {
  return {std::string(key), std::string(key) + '\0'};
}

KeyRange KeyRange::prefix(std::string_view prefix) {
  std::string end(prefix);
  while (!end.empty() && static_cast<unsigned char>(end.back()) == 0xff) end.pop_back();
  if (!end.empty()) end.back() = static_cast<char>(static_cast<unsigned char>(end.back()) + 1);
  return {std::string(prefix), end};
}

bool KeyRange::holds(std::string_view key) const noexcept {
  return key >= begin && (end.empty() || key < end);
}

Compare Compare::absent(std::string_view key) {
  return created_at(key, 0);
}

Compare Compare::created_at(std::string_view key, Revision revision) {
  return {KeyRange::one(key), Target::kCreateRevision, Relation::kEqual, revision};
}

Compare Compare::unchanged_since(std::string_view key, Revision mod_revision) {
  return {KeyRange::one(key), Target::kModRevision, Relation::kEqual, mod_revision};
}

}  // namespace wardmote::store
