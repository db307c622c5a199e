#include "version_gate/store_model.h"

#include <algorithm>

#include "base/format.h"

namespace wardmote::version_gate {

std::string name_of(int node) {
  return fmt::format("n{}", node + 1);
}

void StoreModel::put_registration(int node, std::optional<Release> release, Millis now) {
  Registration& one = nodes_[node];
  if (one.changed == 0 || one.release != release) one.since = now;
  one.release = release;
  one.changed = ++revision_;
  log_.push_back({.member = {.node = name_of(node),
                             .release = release,
                             .why = release ? "" : "its record is cut off"},
                  .revision = revision_});
}

void StoreModel::remove_registration(int node) {
  if (nodes_.erase(node) == 0) return;
  log_.push_back({.member = {.node = name_of(node)}, .removed = true, .revision = ++revision_});
}

void StoreModel::put_corrupt_status() {
  status_ = {.kind = Stored::Kind::kUnreadable, .why = "cut off", .changed = ++revision_};
}

void StoreModel::remove_status() {
  if (status_.kind == Stored::Kind::kAbsent) return;
  ++revision_;
  status_ = {};
}

Revision StoreModel::campaign(int node, Millis now) {
  queue_.push_back({.node = node, .token = ++revision_, .expires = now + kLease});
  note_front(now);
  return revision_;
}

bool StoreModel::renew(Revision token, Millis now) {
  const auto found = std::ranges::find(queue_, token, &Candidate::token);
  if (found == queue_.end()) return false;
  found->expires = now + kLease;
  return true;
}

bool StoreModel::remove_candidate(Revision token, Millis now) {
  if (std::erase_if(queue_, [&](const Candidate& one) { return one.token == token; }) == 0)
    return false;
  ++revision_;
  note_front(now);
  return true;
}

void StoreModel::expire(Millis now) {
  while (true) {
    const auto gone =
        std::ranges::find_if(queue_, [&](const Candidate& one) { return one.expires <= now; });
    if (gone == queue_.end()) return;
    remove_candidate(gone->token, now);
  }
}

Revision StoreModel::newest() const {
  return queue_.empty() ? 0 : queue_.front().token;
}

bool StoreModel::has(Revision token) const {
  return std::ranges::find(queue_, token, &Candidate::token) != queue_.end();
}

std::optional<Millis> StoreModel::ended(Revision token) const {
  const auto found = ended_.find(token);
  return found == ended_.end() ? std::nullopt : std::optional(found->second);
}

void StoreModel::note_front(Millis now) {
  if (front_ == newest()) return;
  if (front_ != 0) ended_.emplace(front_, now);
  front_ = newest();
}

bool StoreModel::commit(Revision token, const Write& write, Millis now) {
  expire(now);
  if (!has(token) || status_.changed != write.status_unchanged_since ||
      claimed_ != write.claim_unchanged_since)
    return false;
  if (write.nodes_unchanged_since) {
    for (const auto& [node, one] : nodes_) {
      if (one.changed > *write.nodes_unchanged_since) return false;
    }
  }
  ++revision_;
  if (write.claim) claimed_ = revision_;
  if (write.quarantine) ++quarantined_;
  if (write.status)
    status_ = {.kind = Stored::Kind::kReadable, .status = *write.status, .changed = revision_};
  return true;
}

/// In pieces, whole revisions each. The header has the revision of the store, as etcd's has.
StoreModel::News StoreModel::news(std::size_t from, std::size_t most) const {
  const std::size_t upto = std::min(log_.size(), from + most);
  const auto begin = log_.begin();
  return {.changes = {begin + static_cast<std::ptrdiff_t>(from),
                      begin + static_cast<std::ptrdiff_t>(upto)},
          .header = revision_,
          .all = {},
          .upto = upto};
}

StoreModel::News StoreModel::list() const {
  std::vector<Member> all;
  for (const auto& [node, one] : nodes_) {
    all.push_back({.node = name_of(node),
                   .release = one.release,
                   .why = one.release ? "" : "its record is cut off"});
  }
  return {.changes = {}, .header = revision_, .all = std::move(all), .upto = log_.size()};
}

}  // namespace wardmote::version_gate
