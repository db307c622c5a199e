#include "config/import/monit_objects.h"

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/text.h"
#include "config/import/draft.h"
#include "config/import/monit_service.h"
#include "config/import/shell_words.h"
#include "config/import/text.h"

namespace wardmote::config {
namespace {

namespace json = boost::json;

/// `> 100 MB`, wherever it stands in a test.
struct Comparison {
  char sign = '=';  ///< of `<`, `>`, `=` and `!`
  std::int64_t value = 0;
  std::string unit;
};

char sign_of(std::string_view word) {
  struct Sign {
    std::string_view word;
    char sign;
  };
  constexpr auto kSigns = std::to_array<Sign>({{">", '>'},
                                               {"gt", '>'},
                                               {"greater", '>'},
                                               {"older", '>'},
                                               {"<", '<'},
                                               {"lt", '<'},
                                               {"less", '<'},
                                               {"newer", '<'},
                                               {"=", '='},
                                               {"==", '='},
                                               {"eq", '='},
                                               {"equal", '='},
                                               {"!=", '!'},
                                               {"ne", '!'},
                                               {"notequal", '!'}});
  const auto* const found = std::ranges::find(kSigns, word, &Sign::word);
  return found == kSigns.end() ? '\0' : found->sign;
}

std::optional<Comparison> comparison_of(const MonitTest& test) {
  Comparison found;
  for (std::size_t i = 0; i < test.words.size(); ++i) {
    const std::string_view word = test.words[i];
    if (const char sign = sign_of(word)) found.sign = sign;
    const std::size_t digits = std::min(word.find_first_not_of("0123456789"), word.size());
    const auto value = parse_number<std::int64_t>(word.substr(0, digits));
    if (!value) continue;
    found.value = *value;
    found.unit = digits < word.size() ? std::string(word.substr(digits))
                                      : (i + 1 < test.words.size() ? test.words[i + 1] : "");
    return found;
  }
  return std::nullopt;
}

/// `64MiB`: Monit's MB are 1024 kB.
std::optional<std::string> size_of(const Comparison& comparison) {
  struct Unit {
    std::string_view name;
    std::string_view ours;
  };
  constexpr auto kUnits = std::to_array<Unit>({{"", ""},
                                               {"b", ""},
                                               {"byte", ""},
                                               {"bytes", ""},
                                               {"kb", "KiB"},
                                               {"kilobyte", "KiB"},
                                               {"mb", "MiB"},
                                               {"megabyte", "MiB"},
                                               {"gb", "GiB"},
                                               {"gigabyte", "GiB"}});
  const auto* const unit = std::ranges::find(kUnits, comparison.unit, &Unit::name);
  if (unit == kUnits.end() || comparison.value > 1'000'000'000) return std::nullopt;
  return fmt::format("{}{}", comparison.value, unit->ours);
}

std::optional<std::string> age_of(const Comparison& comparison) {
  struct Unit {
    std::string_view name;
    std::int64_t seconds;
  };
  constexpr auto kUnits =
      std::to_array<Unit>({{"second", 1}, {"minute", 60}, {"hour", 3600}, {"day", 86'400}});
  for (const Unit& unit : kUnits) {
    if (!std::string_view(comparison.unit).starts_with(unit.name)) continue;
    if (comparison.value > 1'000'000) return std::nullopt;
    return fmt::format("{}s", comparison.value * unit.seconds);
  }
  return std::nullopt;
}

class Object {
 public:
  Object(ImportDraft& draft, const MonitService& service)
      : draft_(draft), service_(service), check_{.name = service.name, .kind = {}, .params = {}} {}

  std::optional<ImportedCheck> read() {
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
    if (service_.type == "filesystem") is_one = end_filesystem();
    if (!is_one) return std::nullopt;
    return check_;
  }

 private:
  void say(const MonitTest& test, std::string_view says) {
    const std::string what = test.words.empty() ? "" : " " + test.words.front();
    draft_.say({service_.at.file, test.line}, fmt::format("{}: if{}", service_.name, what), says);
  }

  bool begin_process() {
    check_.kind = "process";
    if (!service_.path.empty()) {
      check_.params["program"] = service_.path;
      return true;
    }
    const auto name = literal_of(service_.matching);
    if (!name || name->contains('/') || name->contains(' ')) {
      draft_.say(service_.at, service_.name,
                 "left out: `process` knows a process by its name or its pid file, and not by an "
                 "expression over its command line");
      return false;
    }
    check_.params["program"] = *name;
    draft_.say(service_.at, service_.name,
               "matching: the name of the program is compared, and not its command line");
    return true;
  }

  bool begin_file() {
    check_.kind = "file";
    check_.params["path"] = service_.path;
    return true;
  }

  bool begin_program() {
    ShellWords split;
    for (const std::string_view word : words_of(service_.path)) split.words.emplace_back(word);
    if (split.words.empty()) {
      draft_.say(service_.at, service_.name, "left out: it has no path");
      return false;
    }
    check_.kind = "exec";
    check_.params["program"] = split.words.front();
    json::array args;
    for (std::size_t i = 1; i < split.words.size(); ++i) args.emplace_back(split.words[i]);
    if (!args.empty()) check_.params["args"] = std::move(args);
    check_.params["style"] = "script";
    check_.timeout = std::chrono::seconds(service_.timeout.value_or(300));
    return true;
  }

  bool begin_host() { return false; }  // its tests are checks

  bool begin_filesystem() {
    check_.kind = "exec";
    check_.params["program"] = "/usr/lib/nagios/plugins/check_disk";
    return true;
  }

  bool end_filesystem() {
    if (disk_.empty()) {
      draft_.say(service_.at, service_.name,
                 "left out: no probe looks at a file system as such, and it has no test of how "
                 "full it is");
      return false;
    }
    disk_.emplace_back("-p");
    disk_.emplace_back(service_.path);
    check_.params["args"] = disk_;
    draft_.say("file systems are looked at by check_disk of the package monitoring-plugins-basic");
    return true;
  }

  void take(const MonitTest& test) {
    struct Test {
      std::string_view type;  ///< empty: any
      std::string_view word;
      bool (Object::*take)(const MonitTest& test);
    };
    static constexpr auto kTests =
        std::to_array<Test>({{"", "exist", &Object::take_existence},
                             {"", "exists", &Object::take_existence},
                             {"file", "size", &Object::take_size},
                             {"file", "timestamp", &Object::take_age},
                             {"file", "time", &Object::take_age},
                             {"file", "mtime", &Object::take_age},
                             {"file", "modification", &Object::take_age},
                             {"process", "memory", &Object::take_memory},
                             {"process", "mem", &Object::take_memory},
                             {"program", "status", &Object::take_status},
                             {"filesystem", "space", &Object::take_space},
                             {"filesystem", "inode", &Object::take_space},
                             {"filesystem", "inodes", &Object::take_space}});
    if (test.find("restarts") || test.find("restart"))
      return say(test, "no counterpart: the agent restarts no service");
    bool taken = false;
    if (!test.find("changed") && !test.find("succeeded")) {
      const auto* const row = std::ranges::find_if(kTests, [&](const Test& one) {
        return (one.type.empty() || one.type == service_.type) && test.find(one.word);
      });
      taken = row != kTests.end() && (this->*row->take)(test);
    }
    if (!taken) return say(test, "this test has no counterpart");
    if (test.cycles) check_.fall = std::max(check_.fall.value_or(1), *test.cycles);
  }

  bool take_existence(const MonitTest& test) {
    if (test.find("not")) return true;  // that is what a check is for
    if (service_.type == "file") check_.params["absent"] = true;
    if (service_.type == "process") {
      check_.params["min"] = 0;
      check_.params["max"] = 0;
    }
    return service_.type == "file" || service_.type == "process";
  }

  bool take_size(const MonitTest& test) {
    const auto comparison = comparison_of(test);
    const auto size = comparison ? size_of(*comparison) : std::nullopt;
    if (!size || (comparison->sign != '>' && comparison->sign != '<')) return false;
    check_.params[comparison->sign == '>' ? "max_size" : "min_size"] = *size;
    return true;
  }

  bool take_age(const MonitTest& test) {
    const auto comparison = comparison_of(test);
    const auto age = comparison ? age_of(*comparison) : std::nullopt;
    if (!age || comparison->sign != '>' || test.find("atime") || test.find("access")) return false;
    check_.params["max_age"] = *age;
    return true;
  }

  bool take_memory(const MonitTest& test) {
    const auto comparison = comparison_of(test);
    const auto size = comparison ? size_of(*comparison) : std::nullopt;
    if (!size || comparison->sign != '>' || comparison->unit.empty() || test.find("total"))
      return false;
    check_.params["max_rss"] = *size;
    return true;
  }

  bool take_status(const MonitTest& test) {
    const auto comparison = comparison_of(test);
    if (comparison && comparison->value == 0 &&
        (comparison->sign == '!' || comparison->sign == '>'))
      return true;
    say(test, "every exit code but 0 is a failure here");
    return true;
  }

  bool take_space(const MonitTest& test) {
    const auto comparison = comparison_of(test);
    const bool per_cent = comparison && (comparison->unit == "%" || comparison->unit == "percent");
    if (!per_cent || comparison->sign != '>' || comparison->value > 100 || test.find("free"))
      return false;
    disk_.emplace_back(test.find("space") ? "-c" : "-K");
    disk_.emplace_back(fmt::format("{}%", 100 - comparison->value));
    return true;
  }

  ImportDraft& draft_;
  const MonitService& service_;
  ImportedCheck check_;
  json::array disk_;
};

}  // namespace

bool is_connection_test(const MonitTest& test) {
  const bool about = test.find("failed") || test.find("succeeded");
  return about && (test.find("port") || test.find("unixsocket") || test.find("ping") ||
                   test.find("ping4") || test.find("ping6") || test.find("icmp"));
}

std::optional<ImportedCheck> check_of_object(ImportDraft& draft, const MonitService& service) {
  return Object(draft, service).read();
}

}  // namespace wardmote::config
