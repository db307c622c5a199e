#include "store/store.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "store/seen_revision.h"

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

Compare Compare::present(std::string_view key) {
  return {KeyRange::one(key), Target::kCreateRevision, Relation::kGreater, Revision(0)};
}

Compare Compare::created_at(std::string_view key, Revision revision) {
  return {KeyRange::one(key), Target::kCreateRevision, Relation::kEqual, revision};
}

Compare Compare::unchanged_since(std::string_view key, Revision mod_revision) {
  return {KeyRange::one(key), Target::kModRevision, Relation::kEqual, mod_revision};
}

Result<void> check_sense(const Transaction& transaction) {
  std::vector<std::string_view> put;
  for (const StoreChange& change : transaction.changes) {
    if (const auto* const one = std::get_if<Put>(&change)) put.emplace_back(one->key);
  }
  std::ranges::sort(put);
  if (!put.empty() && put.front().empty()) return fail(Errc::kInvalid, "a key without a name");
  if (std::ranges::adjacent_find(put) != put.end()) {
    return fail(Errc::kInvalid, "a key is put twice");
  }
  for (const StoreChange& change : transaction.changes) {
    const auto* const erase = std::get_if<Erase>(&change);
    if (erase == nullptr) continue;
    const auto first = std::ranges::lower_bound(put, std::string_view(erase->keys.begin));
    if (first != put.end() && erase->keys.holds(*first)) {
      return fail(Errc::kInvalid, "a key is put and erased");
    }
  }
  for (const Compare& compare : transaction.conditions) {
    const bool text = std::holds_alternative<std::string>(compare.operand);
    if (text != (compare.target == Compare::Target::kValue)) {
      return fail(Errc::kInvalid, "a condition compares a number with a text");
    }
  }
  return {};
}

}  // namespace wardmote::store
