#include "act/gate/records.h"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "codec/metropolis.h"
#include "judge/version_gate/membership.h"
#include "judge/version_gate/release.h"
#include "judge/version_gate/report.h"
#include "judge/version_gate/status.h"
#include "store/json_fields.h"
#include "store/store.h"

namespace wardmote::act::gate {

namespace metropolis = codec::metropolis;
using judge::version_gate::Hold;
using judge::version_gate::Member;
using judge::version_gate::Release;
using judge::version_gate::Status;
using judge::version_gate::Stored;

namespace {

constexpr std::size_t kShown = 64;

Release release_of(const metropolis::Release& record) {
  return {record.major, record.minor, record.patch};
}

/// A version without a release is of 0.0.0 (version/spec/spec.proto).
Release release_of(const metropolis::Version& version) {
  return release_of(version.release.value_or(metropolis::Release()));
}

void set(std::optional<metropolis::Release>& record, const Release& release) {
  // Its words would make a pre-release of ours.
  if (!record || record->prerelease) record.emplace();
  record->major = release.major;
  record->minor = release.minor;
  record->patch = release.patch;
}

/// What names a build is that of the release that was there before, so it goes with it.
void set(std::optional<metropolis::Version>& record, const Release& release) {
  const bool prerelease = record && record->release && record->release->prerelease;
  if (record && !prerelease && release_of(*record) == release) return;
  if (!record) record.emplace();
  record->git.reset();
  set(record->release, release);
}

Stored unreadable(store::Revision changed, std::string why) {
  return {.kind = Stored::Kind::kUnreadable, .why = std::move(why), .changed = changed};
}

}  // namespace

std::string Layout::quarantine(store::Revision revision) const {
  return fmt::format("{}status.corrupt/{}", state, revision);
}

Layout layout_of(std::string_view store, std::string_view gate) {
  const std::string root = fmt::format("/wardmote/{}/gate/{}/", store, gate);
  return {.state = root + "state/", .nodes = root + "nodes/"};
}

Result<void> check_sense(const Layout& layout) {
  if (layout.state.empty() || layout.nodes.empty())
    return fail(Errc::kInvalid, "a prefix of a gate's keys is empty");
  if (layout.state.starts_with(layout.nodes) || layout.nodes.starts_with(layout.state))
    return fail(Errc::kInvalid, "one prefix of a gate's keys begins with the other");
  return {};
}

Stored read_status(const std::optional<store::KeyValue>& key) {
  if (!key) return {};
  const store::Revision changed = key->mod_revision;
  const auto record = metropolis::decode_status(key->value);
  if (!record) return unreadable(changed, escape_control(record.error().context, kShown));
  if (record->state != metropolis::kStateDone && record->state != metropolis::kStateWorking)
    return unreadable(changed, fmt::format("its state {} is not known", record->state));
  if (!record->version) return unreadable(changed, "it has no version");
  if (!record->minimum_compatible_release)
    return unreadable(changed, "it has no minimum compatible release");
  Stored stored{.kind = Stored::Kind::kReadable, .changed = changed};
  stored.status.state =
      record->state == metropolis::kStateDone ? Status::State::kDone : Status::State::kWorking;
  stored.status.version = release_of(*record->version);
  // What a pre-release has written may lack what the final one writes.
  const auto& release = record->version->release;
  if (release && release->prerelease)
    stored.status.version = judge::version_gate::before(stored.status.version);
  stored.status.minimum = release_of(*record->minimum_compatible_release);
  stored.status.content = record->content;
  return stored;
}

std::string write_status(const Status& status, std::string_view before) {
  metropolis::ReconcilerStatus record;
  if (auto known = metropolis::decode_status(before)) record = *std::move(known);
  record.state =
      status.state == Status::State::kDone ? metropolis::kStateDone : metropolis::kStateWorking;
  set(record.version, status.version);
  set(record.minimum_compatible_release, status.minimum);
  record.content = status.content;
  return metropolis::encode(record);
}

std::optional<Hold> read_preserve(const std::optional<store::KeyValue>& key) {
  if (!key) return std::nullopt;
  // Below every release: nobody leads.
  Hold hold{
      .release = {.major = -1}, .by = "a record that cannot be read", .why = "it is no record"};
  const auto record = store::parse_record(key->value);
  if (!record) return hold;
  const auto release =
      judge::version_gate::parse_release(store::text_in(*record, "release").value_or(""));
  if (!release) return hold;
  return Hold{.release = *release,
              .by = escape_control(store::text_in(*record, "by").value_or("somebody"), kShown),
              .why = {}};
}

std::string write_preserve(const Release& release, std::string_view by) {
  return boost::json::serialize(boost::json::object{{"release", to_string(release)}, {"by", by}});
}

std::optional<Member> read_member(std::string_view node, std::string_view record) {
  // As Metropolis has it: an empty record is that of a node that is gone.
  if (record.empty()) return std::nullopt;
  Member member{.node = std::string(node), .release = std::nullopt};
  const auto known = metropolis::decode_node(record);
  if (!known) {
    member.why = escape_control(known.error().context, kShown);
    return member;
  }
  if (!known->roles || !known->roles->kubernetes_controller) return std::nullopt;
  if (!known->status || !known->status->version) {
    member.why = "its record has no version";
    return member;
  }
  const auto& release = known->status->version->release;
  if (release && release->prerelease) {
    member.why = "it registers a pre-release, which three numbers cannot tell from the final one";
    return member;
  }
  member.release = release_of(*known->status->version);
  return member;
}

OwnRecord compare(const std::optional<store::KeyValue>& key, const Identity& self,
                  const Release& release) {
  using Kind = OwnRecord::Kind;
  if (!key || key->value.empty()) return {};
  const std::optional<Member> member = read_member(self.node, key->value);
  if (!member) return {.kind = Kind::kBroken, .says = "it does not take part in the gate"};
  if (!member->release) return {.kind = Kind::kBroken, .says = member->why};
  const auto record = metropolis::decode_node(key->value);
  const std::string& boot = record->status->boot_id;
  const bool elsewhere = !self.boot.empty() && boot != self.boot;
  if (*member->release == release && !elsewhere) return {.kind = Kind::kOurs};
  std::string says = fmt::format("release {}", to_string(*member->release));
  if (elsewhere)
    says += fmt::format(", another start of a machine ({})", escape_control(boot, kShown));
  return {.kind = Kind::kOther, .says = std::move(says)};
}

std::string write_node(const Identity& self, const Release& release, std::string_view before) {
  metropolis::Node record;
  if (auto known = metropolis::decode_node(before)) record = *std::move(known);
  record.id = self.node;
  if (!record.roles) record.roles.emplace();
  if (!record.roles->kubernetes_controller) record.roles->kubernetes_controller.emplace();
  if (!record.status) record.status.emplace();
  set(record.status->version, release);
  record.status->boot_id = self.boot;
  return metropolis::encode(record);
}

}  // namespace wardmote::act::gate
