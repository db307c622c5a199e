#include "config/import/monit_objects.h"

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/value.hpp>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "config/import/draft.h"
#include "config/import/monit_limits.h"
#include "config/import/monit_service.h"
#include "config/import/text.h"

namespace wardmote::config {
namespace {

namespace json = boost::json;
using std::chrono::milliseconds;

constexpr std::string_view kStricter =
    "not tested by itself: another test of the same kind is stricter";

/// Cycles that a failure and a recovery last: what `fall` and `rise` say.
struct Pace {
  int fall = 1;
  int rise = 1;
  friend bool operator==(const Pace&, const Pace&) = default;
};

Pace pace_of(const MonitTest& test) {
  return {test.cycles.value_or(1), test.recovery.value_or(1)};
}

/// What a test asks of a parameter of ours.
struct Limit {
  std::string_view key;    ///< of a file system, an option of check_disk
  std::int64_t value = 0;  ///< by which the stricter of two is found
  bool most = false;       ///< it is an upper limit: the lower of two is the stricter
  json::value spelled;
};

/// The limits of tests with one pace: they make a check.
struct Group {
  Pace pace;
  std::string name;  ///< what the first of them looks at
  std::vector<Limit> limits;
};

std::string spell_seconds(std::int64_t seconds) {
  return fmt::format("{}s", seconds);
}

std::optional<std::int64_t> bytes_of_process(const MonitComparison& comparison) {
  return comparison.unit.empty() ? std::nullopt : monit_bytes(comparison);
}

std::optional<std::int64_t> per_cent_used(const MonitComparison& comparison) {
  const bool per_cent = comparison.unit == "%" || comparison.unit == "percent";
  if (!per_cent || comparison.value > 100) return std::nullopt;
  return comparison.value;
}

/// 80 % in use are 20 % that are free.
std::string spell_free(std::int64_t per_cent) {
  return fmt::format("{}%", 100 - per_cent);
}

class Object {
 public:
  Object(ImportDraft& draft, const MonitService& service, milliseconds patience)
      : draft_(draft),
        service_(service),
        patience_(patience),
        base_{.name = service.name, .kind = {}, .params = {}} {}

  std::vector<ImportedCheck> read() {
    struct Type {
      std::string_view type;
      bool (Object::*begin)();
    };
    static constexpr auto kTypes = std::to_array<Type>({{"process", &Object::begin_process},
                                                        {"file", &Object::begin_file},
                                                        {"directory", &Object::begin_file},
                                                        {"fifo", &Object::begin_file},
                                                        {"program", &Object::begin_program},
                                                        {"filesystem", &Object::begin_filesystem},
                                                        {"host", &Object::begin_host}});
    const auto* const row = std::ranges::find(kTypes, service_.type, &Type::type);
    bool is_one = false;
    if (row == kTypes.end()) {
      draft_.say(service_.at, fmt::format("{} {}", service_.type, service_.name),
                 "no probe looks at this; a check of the kind exec can run a plugin, such as "
                 "check_load or check_swap");
    } else {
      is_one = (this->*row->begin)();
    }
    for (const MonitTest& test : service_.tests) {
      if (!is_connection_test(test)) take(test);
    }
    is_one = is_one && fits_existence() && (service_.type != "program" || is_judged());
    return is_one ? checks() : std::vector<ImportedCheck>();
  }

 private:
  void say(const MonitTest& test, std::string_view says) {
    const std::string what = test.words.empty() ? "" : " " + test.words.front();
    draft_.say({service_.at.file, test.line}, fmt::format("{}: if{}", service_.name, what), says);
  }
  bool none(std::string_view says) {
    draft_.say(service_.at, service_.name, fmt::format("left out: {}", says));
    return false;
  }

  bool begin_process() {
    base_.kind = "process";
    if (!service_.path.empty()) {
      base_.params["program"] = service_.path;
      return true;
    }
    const auto name = literal_of(service_.matching);
    if (!name || name->contains('/') || name->contains(' '))
      return none(
          "`process` knows a process by its name or its pid file, and not by an expression over "
          "its command line");
    base_.params["program"] = *name;
    draft_.say(service_.at, service_.name,
               "matching: the name of the program is compared, and not its command line");
    return true;
  }

  bool begin_file() {
    base_.kind = "file";
    base_.params["path"] = service_.path;
    draft_.say("check file, directory, fifo: not tested: which of them it is");
    return true;
  }

  bool begin_program() {
    base_.kind = "exec";
    if (!service_.readable || service_.command.empty())
      return none("its command line cannot be read as Monit reads it");
    if (service_.other_user)
      return none(
          "uid, gid: the agent runs programs as its own user, with which this one may do or "
          "see something else");
    base_.params["program"] = service_.command.front();
    json::array args;
    for (const std::string& one : std::span(service_.command).subspan(1)) args.emplace_back(one);
    if (!args.empty()) base_.params["args"] = std::move(args);
    base_.params["style"] = "script";
    base_.timeout = patience_;
    if (service_.timeout && *service_.timeout >= 1)
      base_.timeout = std::chrono::seconds(*service_.timeout);
    draft_.say(
        "check program: not tested: exit codes above 128, which are unknown here and no failure");
    return true;
  }

  bool begin_host() { return false; }  // its tests are checks

  bool begin_filesystem() {
    base_.kind = "exec";
    base_.params["program"] = "/usr/lib/nagios/plugins/check_disk";
    draft_.say(
        "file systems are looked at by check_disk of the package monitoring-plugins-basic, for "
        "which blocks that are reserved for root are no free space");
    return true;
  }

  void take(const MonitTest& test) {
    if (test.find("restarts") || test.find("restart"))
      return say(test, "no counterpart: the agent restarts no service");
    if (take_existence(test)) return;
    const auto comparison = monit_comparison(test);
    if (comparison && service_.type == "program" && comparison->subject == "status")
      return take_status(test, *comparison);
    auto limit = comparison ? limit_of(*comparison) : std::nullopt;
    if (!limit) return say(test, "this test has no counterpart");
    add_limit(test, *std::move(limit));
  }

  /// `[does] [not] exist`.
  bool take_existence(const MonitTest& test) {
    constexpr auto kWords =
        std::to_array<std::string_view>({"does", "not", "exist", "exists", "nonexist"});
    const bool about = test.find("exist") || test.find("exists") || test.find("nonexist");
    const bool only = std::ranges::all_of(test.words, [&](const std::string& word) {
      return std::ranges::find(kWords, word) != kWords.end();
    });
    if (!about || !only) return false;
    const bool must_not = !test.find("not") && !test.find("nonexist");
    (must_not ? absent_ : present_) = &test;
    return true;
  }

  struct Kind {
    std::string_view type;
    std::string_view subject;  ///< what Monit compares
    std::string_view sign;
    std::string_view key;
    std::optional<std::int64_t> (*value)(const MonitComparison& comparison);
    std::string (*spell)(std::int64_t value);
  };

  static std::optional<Limit> limit_of_kind(const Kind& kind, const MonitComparison& comparison) {
    const auto value = kind.value(comparison);
    if (!value) return std::nullopt;
    return Limit{kind.key, *value, kind.sign == ">", json::value(kind.spell(*value))};
  }

  [[nodiscard]] std::optional<Limit> limit_of(const MonitComparison& comparison) const {
    static constexpr auto kKinds = std::to_array<Kind>({
        {"file", "size", ">", "max_size", monit_bytes, spell_bytes},
        {"file", "size", "<", "min_size", monit_bytes, spell_bytes},
        {"file", "timestamp", ">", "max_age", monit_seconds, spell_seconds},
        {"file", "time", ">", "max_age", monit_seconds, spell_seconds},
        {"file", "mtime", ">", "max_age", monit_seconds, spell_seconds},
        {"file", "modification time", ">", "max_age", monit_seconds, spell_seconds},
        {"process", "memory", ">", "max_rss", bytes_of_process, spell_bytes},
        {"process", "mem", ">", "max_rss", bytes_of_process, spell_bytes},
        {"filesystem", "space", ">", "-c", per_cent_used, spell_free},
        {"filesystem", "inode", ">", "-K", per_cent_used, spell_free},
        {"filesystem", "inodes", ">", "-K", per_cent_used, spell_free},
    });
    const bool is_file = service_.type == "directory" || service_.type == "fifo";
    const std::string_view type = is_file ? std::string_view("file") : service_.type;
    for (const Kind& kind : kKinds) {
      if (kind.type == type && kind.subject == comparison.subject && kind.sign == comparison.sign)
        return limit_of_kind(kind, comparison);
    }
    return std::nullopt;
  }

  void add_limit(const MonitTest& test, Limit limit) {
    if (limit.key == "max_age" && test.words.front().starts_with("time"))
      draft_.say(
          "timestamp: the time of the last modification counts; there that of a change of "
          "owner or permissions does, too");
    const Pace pace = pace_of(test);
    auto group = std::ranges::find(groups_, pace, &Group::pace);
    if (group == groups_.end()) {
      groups_.push_back({pace, test.words.front(), {}});
      group = groups_.end() - 1;
    }
    const auto other = std::ranges::find(group->limits, limit.key, &Limit::key);
    if (other == group->limits.end()) {
      group->limits.push_back(std::move(limit));
    } else {
      const bool stricter = limit.most ? limit.value < other->value : limit.value > other->value;
      if (stricter) *other = std::move(limit);
      say(test,
          "two tests of one kind: only the stricter one is kept, which fails before the other");
    }
  }

  /// What `style: script` means is the only test that can be made: every exit code but 0 fails.
  void take_status(const MonitTest& test, const MonitComparison& comparison) {
    const bool is_script =
        (comparison.value == 0 && (comparison.sign == "!=" || comparison.sign == ">")) ||
        (comparison.value == 1 && comparison.sign == ">=");
    if (!is_script) {
      others_.push_back(&test);
    } else if (judged_ == nullptr || pace_of(test).fall < pace_of(*judged_).fall) {
      if (judged_ != nullptr) say(*judged_, kStricter);
      judged_ = &test;
    } else {
      say(test, kStricter);
    }
  }

  bool is_judged() {
    if (judged_ == nullptr)
      return none(
          "here every exit code but 0 is a failure, and it has no test `status != 0`: write an "
          "exec of a script that judges as you want");
    for (const MonitTest* const test : others_)
      say(*test, "not tested by itself: every exit code but 0 is a failure");
    return true;
  }

  /// Whether the probe can ask for what `if exist` and `if not exist` say.
  bool fits_existence() {
    if (absent_ == nullptr) return true;
    if (present_ != nullptr) return none("it is a failure there whether it exists or not");
    if (service_.type == "filesystem" || (service_.type == "process" && !service_.path.empty()))
      return none("if exist: the probe has no way to be content without it");
    for (const Group& group : groups_)
      draft_.say(service_.at, fmt::format("{}: if {}", service_.name, group.name),
                 "not tested: a failure is that it is there at all");
    groups_.clear();
    if (service_.type == "process") {
      base_.params["min"] = 0;
      base_.params["max"] = 0;
    } else {
      base_.params["absent"] = true;
    }
    return true;
  }

  std::vector<ImportedCheck> checks() const {
    const MonitTest* const existence = service_.type == "program" ? judged_
                                       : absent_ != nullptr       ? absent_
                                                                  : present_;
    const Pace pace = existence == nullptr ? Pace() : pace_of(*existence);
    static const std::vector<Limit> kNone;
    const auto same = std::ranges::find(groups_, pace, &Group::pace);
    std::vector<ImportedCheck> made{check(pace, same == groups_.end() ? kNone : same->limits)};
    for (const Group& group : groups_) {
      if (group.pace == pace) continue;
      made.push_back(check(group.pace, group.limits));
      made.back().name += "-" + group.name;
    }
    return made;
  }

  [[nodiscard]] ImportedCheck check(Pace pace, const std::vector<Limit>& limits) const {
    ImportedCheck made = base_;
    made.fall = pace.fall;
    made.rise = pace.rise;
    if (service_.type == "filesystem") {
      // -E: only a file system that is mounted there, and not the one above it.
      json::array args{"-E"};
      for (const Limit& limit : limits) {
        args.emplace_back(limit.key);
        args.emplace_back(limit.spelled);
      }
      if (limits.empty()) {  // the plugin wants a limit
        args.emplace_back("-c");
        args.emplace_back("0%");
      }
      args.emplace_back("-p");
      args.emplace_back(service_.path);
      made.params["args"] = std::move(args);
    } else {
      for (const Limit& limit : limits) made.params[limit.key] = limit.spelled;
    }
    return made;
  }

  ImportDraft& draft_;
  const MonitService& service_;
  const milliseconds patience_;
  ImportedCheck base_;
  std::vector<Group> groups_;
  const MonitTest* absent_ = nullptr;     ///< `if exist`
  const MonitTest* present_ = nullptr;    ///< `if not exist`
  const MonitTest* judged_ = nullptr;     ///< `if status != 0`
  std::vector<const MonitTest*> others_;  ///< of the status
};

}  // namespace

bool is_connection_test(const MonitTest& test) {
  const bool about = test.find("failed") || test.find("succeeded");
  return about && (test.find("port") || test.find("unixsocket") || test.find("ping") ||
                   test.find("ping4") || test.find("ping6") || test.find("icmp"));
}

std::vector<ImportedCheck> checks_of_object(ImportDraft& draft, const MonitService& service,
                                            milliseconds patience) {
  return Object(draft, service, patience).read();
}

}  // namespace wardmote::config
