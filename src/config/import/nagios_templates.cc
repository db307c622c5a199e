#include "config/import/nagios_templates.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "codec/nagios_objects.h"
#include "config/import/draft.h"

namespace wardmote::config {
namespace {

constexpr std::size_t kDeepest = 32;         // of templates that use templates
constexpr std::size_t kMostText = 64 << 20;  // of all objects together
constexpr std::size_t kMostObjects = 100'000;
constexpr std::size_t kMostTemplates = 64;  // that one object uses

/// Where `+` adds; xodtemplate_get_inherited_string().
constexpr auto kAdditive = std::to_array<std::string_view>(
    {"parents", "hostgroups", "contact_groups", "contacts", "host_name", "hostgroup_name",
     "servicegroups", "contactgroups", "members", "hostgroup_members", "contactgroup_members",
     "host_notification_commands", "service_notification_commands"});

bool is_additive(std::string_view name) {
  return std::ranges::find(kAdditive, name) != kAdditive.end();
}

/// Old and other spellings, by the one that is used here.
std::string_view todays(std::string_view type, std::string_view name) {
  struct Spelling {
    std::string_view type;  ///< empty: any
    std::string_view old;
    std::string_view now;
  };
  constexpr auto kOld = std::to_array<Spelling>({{"host", "host_groups", "hostgroups"},
                                                 {"service", "host", "host_name"},
                                                 {"service", "hosts", "host_name"},
                                                 {"service", "hostgroup", "hostgroup_name"},
                                                 {"service", "hostgroups", "hostgroup_name"},
                                                 {"service", "description", "service_description"},
                                                 {"", "normal_check_interval", "check_interval"},
                                                 {"", "retry_check_interval", "retry_interval"}});
  const auto* const found = std::ranges::find_if(kOld, [&](const Spelling& one) {
    return one.old == name && (one.type.empty() || one.type == type);
  });
  return found == kOld.end() ? name : found->now;
}

class Resolver {
 public:
  explicit Resolver(ImportDraft& draft) : draft_(draft) {}

  Result<void> take(std::span<const codec::NagiosFile> files) {
    for (std::size_t i = 0; i < files.size(); ++i) {
      for (const codec::NagiosObject& object : files[i].objects) {
        if (things_.size() == kMostObjects)
          return fail(Errc::kLimit, "more than {} objects", kMostObjects);
        if (auto good = take(i, object); !good) return good;
      }
    }
    state_.resize(things_.size());
    return {};
  }

  Result<void> resolve_all() {
    for (std::size_t i = 0; i < things_.size(); ++i) {
      if (auto good = resolve(i, 0); !good) return good;
    }
    return {};
  }

  std::vector<NagiosThing> things() && {
    for (NagiosThing& thing : things_) {
      std::erase_if(thing.values, [](const auto& one) { return one.second == "null"; });
      for (auto& [name, value] : thing.values) {
        if (is_additive(name) && value.starts_with('+')) value.erase(0, 1);
      }
    }
    return std::move(things_);
  }

 private:
  enum class State : std::uint8_t { kNew, kUnderWay, kDone };

  Result<void> spend(std::size_t bytes) {
    spent_ += bytes;
    if (spent_ > kMostText) return fail(Errc::kLimit, "more than {} bytes in objects", kMostText);
    return {};
  }

  Result<void> take(std::size_t file, const codec::NagiosObject& object) {
    NagiosThing thing{.type = object.type, .at = {file, object.line}, .values = {}};
    for (const auto& [name, value] : object.directives) {
      if (auto good = spend(name.size() + value.size()); !good) return good;
      if (name == "register") {
        thing.registered = value != "0";
      } else if (name == "name") {
        templates_.emplace(thing.type + "/" + value, things_.size());
      } else {
        thing.values[std::string(todays(thing.type, name))] = value;
      }
    }
    things_.push_back(std::move(thing));
    return {};
  }

  Result<void> resolve(std::size_t index, std::size_t depth) {
    if (state_[index] == State::kDone) return {};
    if (state_[index] == State::kUnderWay)
      return fail(Errc::kInvalid, "line {}: `use` goes in a circle", things_[index].at.line);
    if (depth == kDeepest)
      return fail(Errc::kLimit, "line {}: templates more than {} deep", things_[index].at.line,
                  kDeepest);
    state_[index] = State::kUnderWay;
    const auto use = things_[index].values.find("use");
    if (use != things_[index].values.end()) {
      const std::string names = use->second;
      std::size_t count = 0;
      for (const std::string_view name : split(names, ',')) {
        if (++count > kMostTemplates)
          return fail(Errc::kLimit, "line {}: more than {} templates", things_[index].at.line,
                      kMostTemplates);
        if (auto good = inherit(index, trim(name), depth); !good) return good;
      }
      things_[index].values.erase("use");
    }
    state_[index] = State::kDone;
    return {};
  }

  Result<void> inherit(std::size_t index, std::string_view name, std::size_t depth) {
    const auto found = templates_.find(fmt::format("{}/{}", things_[index].type, name));
    if (found == templates_.end()) {
      draft_.say(things_[index].at, fmt::format("use {}", name),
                 "no file has this template: what it says is left out");
      return {};
    }
    if (auto good = resolve(found->second, depth + 1); !good) return good;
    auto& own = things_[index].values;
    for (const auto& [key, value] : things_[found->second].values) {
      const auto [mine, is_new] = own.try_emplace(key, value);
      if (is_new) {
        if (auto good = spend(key.size() + value.size()); !good) return good;
      } else if (is_additive(key) && mine->second.starts_with('+') && value != "null") {
        if (auto good = spend(value.size()); !good) return good;
        mine->second = value + "," + mine->second.substr(1);
      }
    }
    return {};
  }

  ImportDraft& draft_;
  std::vector<NagiosThing> things_;
  std::vector<State> state_;
  std::map<std::string, std::size_t, std::less<>> templates_;  ///< by type and name
  std::size_t spent_ = 0;
};

}  // namespace

std::string_view NagiosThing::get(std::string_view name) const noexcept {
  const auto found = values.find(name);
  return found == values.end() ? std::string_view() : std::string_view(found->second);
}

Result<std::vector<NagiosThing>> resolve_nagios(ImportDraft& draft,
                                                std::span<const codec::NagiosFile> files) {
  Resolver resolver(draft);
  if (auto good = resolver.take(files); !good) return std::unexpected(good.error());
  if (auto good = resolver.resolve_all(); !good) return std::unexpected(good.error());
  return std::move(resolver).things();
}

}  // namespace wardmote::config
