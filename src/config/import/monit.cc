#include "config/import/monit.h"

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "codec/mail.h"
#include "codec/monit_control.h"
#include "config/import/draft.h"
#include "config/import/format.h"
#include "config/import/monit_connection.h"
#include "config/import/monit_objects.h"
#include "config/import/monit_service.h"
#include "config/import/text.h"

namespace wardmote::config {
namespace {

namespace json = boost::json;
using codec::MonitStatement;
using codec::MonitWord;
using std::chrono::milliseconds;

constexpr std::string_view kPasswordFile = "/etc/wardmote/mail.secret";

struct Setting {
  std::string_view name;
  std::string_view says;
};
constexpr std::string_view kOwn = "it concerns Monit itself only";
constexpr auto kSettings = std::to_array<Setting>({
    {"httpd", "the API and the page of the agent: `api.listen`; no password is copied"},
    {"log", "the agent logs to the journal or standard error"},
    {"logfile", "the agent logs to the journal or standard error"},
    {"eventqueue", "no counterpart is needed: what is not delivered is kept and tried again"},
    {"mmonit",
     "no counterpart: agents that share a `store` see each other's checks; no address is "
     "copied, since it may hold a password"},
    {"pidfile", kOwn},
    {"idfile", kOwn},
    {"statefile", kOwn},
    {"init", kOwn},
    {"fips", kOwn},
    {"terminal", kOwn},
    {"onreboot", kOwn},
    {"expectbuffer", kOwn},
});

/// What `set mailserver`, `set alert` and `set mail-format` say.
struct Mail {
  std::string host;
  std::string port;
  std::string user;
  std::string from = "monit@localhost";
  bool tls = false;
  std::vector<std::string> to;
};

/// `depends on`.
struct Dependency {
  ForeignPlace at;
  std::string service;
  std::vector<std::string> checks;  ///< of the service
  std::string above;                ///< the name of the other one
};

class Translation {
 public:
  explicit Translation(std::span<const ForeignFile> files) : draft_(files), files_(files) {}

  Result<Imported> run() {
    std::vector<std::pair<std::size_t, MonitStatement>> checks;
    for (std::size_t i = 0; i < files_.size(); ++i) {
      auto parsed = codec::parse_monit_control(files_[i].text);
      if (!parsed) return with_context(parsed, "{}", escape_control(files_[i].name));
      for (const MonitWord& include : parsed->includes)
        draft_.say({i, include.line}, "include " + include.text,
                   "files that a file names are not read: name them on the command line, too");
      for (MonitStatement& statement : parsed->statements) {
        const std::string word = lower(statement.words.front().text);
        if (word == "check") {
          checks.emplace_back(i, std::move(statement));
        } else {
          take_setting(i, statement);
        }
      }
    }
    for (const auto& [file, statement] : checks)
      add_service(read_monit_service(draft_, file, statement));
    add_dependencies();
    add_receiver();
    return std::move(draft_).finish();
  }

 private:
  void take_setting(std::size_t file, const MonitStatement& statement) {
    std::vector<MonitWord> words;
    for (const MonitWord& word : statement.words) {
      if (word.quoted() || !is_monit_noise(lower(word.text))) words.push_back(word);
    }
    const ForeignPlace at{file, statement.words.front().line};
    const std::string name = words.size() > 1 ? lower(words[1].text) : std::string();
    if (words.empty() || lower(words.front().text) != "set")
      return draft_.say(at, "", "neither a statement nor a comment: left out");
    if (name == "daemon") {
      take_daemon(words);
    } else if (name == "mailserver") {
      take_mailserver(at, words);
    } else if (name == "alert") {
      take_alert(at, words);
    } else if (name == "mail-format") {
      take_format(words);
    } else if (name == "ssl" || name == "tls") {
      read_monit_tls(words, defaults_.tls);
    } else if (name == "limits") {
      take_limits(at, words);
    } else {
      const auto* const row = std::ranges::find(kSettings, name, &Setting::name);
      draft_.say(at, "set " + name,
                 row == kSettings.end() ? "no statement that is known: left out" : row->says);
    }
  }

  void take_daemon(const std::vector<MonitWord>& words) {
    const auto seconds =
        words.size() > 2 ? parse_number<std::int64_t>(words[2].text) : std::nullopt;
    if (seconds && *seconds >= 1 && *seconds <= 86'400) cycle_ = milliseconds(*seconds * 1000);
  }

  /// `{ programTimeout: 300 s, networkTimeout: 5 s }`.
  void take_limits(ForeignPlace at, const std::vector<MonitWord>& words) {
    for (std::size_t i = 0; i + 2 < words.size(); ++i) {
      const std::string name = lower(words[i].text);
      const std::string unit = lower(words[i + 2].text);
      const bool thousandth = unit.starts_with("ms") || unit.starts_with("milli");
      const auto time =
          foreign_duration(words[i + 1].text + (thousandth ? "ms" : unit.substr(0, 1)));
      if (!time || *time < milliseconds(1000) || *time > milliseconds(3'600'000)) continue;
      if (name == "programtimeout:") defaults_.program = *time;
      if (name == "networktimeout:") defaults_.network = *time;
    }
    draft_.say(at, "set limits",
               "programTimeout and networkTimeout are the `timeout` of checks; the others have no "
               "counterpart");
  }

  void take_mailserver(ForeignPlace at, const std::vector<MonitWord>& words) {
    if (words.size() < 3 || !mail_.host.empty()) return;
    mail_.host = words[2].text;
    for (std::size_t i = 3; i < words.size(); ++i) {
      const std::string word = words[i].quoted() ? std::string() : lower(words[i].text);
      const std::string next = i + 1 < words.size() ? words[i + 1].text : std::string();
      if (word == "port") mail_.port = next;
      if (word == "username") mail_.user = next;
      if (word == "password") secret_ = true;
      if (word == "ssl" || word == "sslauto" || word.starts_with("tls")) mail_.tls = true;
      if (word == ",") {
        draft_.say(at, "set mailserver", "only the first server is used");
        break;
      }
    }
  }

  void take_alert(ForeignPlace at, const std::vector<MonitWord>& words) {
    if (words.size() < 3 || !codec::is_mail_address(words[2].text))
      return draft_.say(at, "set alert", "not an address of mail: left out");
    if (std::ranges::find(mail_.to, words[2].text) == mail_.to.end())
      mail_.to.push_back(words[2].text);
    if (words.size() > 3)
      draft_.say(at, "set alert",
                 "which events, and how often: write `routes` of `notify`, with match and "
                 "repeat_interval");
  }

  void take_format(const std::vector<MonitWord>& words) {
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
      if (lower(words[i].text) == "from:" && codec::is_mail_address(words[i + 1].text))
        mail_.from = words[i + 1].text;
    }
    draft_.say(
        "set mail-format: subject and message have templates of their own "
        "(docs/notifications.md)");
  }

  void add_service(const MonitService& service) {
    std::vector<std::string> made;
    for (ImportedCheck& check : checks_of_object(draft_, service, defaults_.program))
      add(service, std::move(check), service.at.line, made);
    const bool has_object = !made.empty();
    for (const MonitTest& test : service.tests) {
      if (!is_connection_test(test)) continue;
      if (auto check = check_of_connection(draft_, service, test, defaults_))
        add(service, *std::move(check), test.line, made);
    }
    for (std::size_t i = 1; i < made.size() && has_object; ++i) draft_.depend(made[i], made[0]);
    for (const std::string& above : service.depends)
      depends_.push_back({service.at, service.name, made, above});
    for (const MonitTest& test : service.tests) {
      if (test.within)
        draft_.say({service.at.file, test.line}, service.name,
                   "`X times within Y cycles` is X failures in a row here");
      if (test.acts)
        draft_.say(
            "if … then restart, stop, exec: no counterpart: a check reports, and its "
            "supervisor or a receiver of the type exec acts");
    }
    if (!made.empty()) services_.emplace(lower(service.name), made.front());
  }

  void add(const MonitService& service, ImportedCheck check, std::size_t line,
           std::vector<std::string>& made) {
    check.every = cycle_ * service.every;
    if (auto name = draft_.add_check({service.at.file, line}, std::move(check)))
      made.push_back(*std::move(name));
  }

  void add_dependencies() {
    for (const Dependency& one : depends_) {
      const auto found = services_.find(lower(one.above));
      if (found == services_.end() && !one.checks.empty())
        draft_.say(one.at, one.service,
                   fmt::format("depends on {}: left out: there is no check of it, so that a "
                               "failure of it explains none here",
                               escape_control(one.above, 64)));
      for (const std::string& check : one.checks) {
        if (found != services_.end()) draft_.depend(check, found->second);
      }
    }
  }

  void add_receiver() {
    if (mail_.to.empty()) return;
    if (mail_.host.empty()) return draft_.say("no receiver is made: no file has `set mailserver`");
    const std::string port = !mail_.port.empty() ? mail_.port : mail_.tls ? "465" : "25";
    const auto number = parse_number<std::uint16_t>(port);
    const bool clean = mail_.host.find_first_not_of(
                           "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_") ==
                       std::string::npos;
    if (!number || *number == 0 || !clean || mail_.host.size() > 253)
      return draft_.say("no receiver is made: `set mailserver` has no host and port");
    json::array to;
    for (const std::string& one : mail_.to) to.emplace_back(one);
    json::object options{{"server", fmt::format("{}:{}", mail_.host, *number)},
                         {"from", mail_.from},
                         {"to", std::move(to)},
                         {"tls", !mail_.tls       ? "never"
                                 : *number == 465 ? "implicit"
                                                  : "starttls"}};
    if (!mail_.user.empty() && mail_.tls && escape_control(mail_.user, 256) == mail_.user) {
      options["user"] = mail_.user;
      options["password_file"] = kPasswordFile;
      draft_.say(fmt::format("the {} is not copied: write it into {}, readable by the agent only",
                             secret_ ? "password of the mail server" : "password (there is none)",
                             kPasswordFile));
    } else if (!mail_.user.empty()) {
      draft_.say("set mailserver: the agent logs in over TLS only, so the user is left out");
    }
    draft_.add_receiver("mail", "mail", std::move(options));
  }

  ImportDraft draft_;
  std::span<const ForeignFile> files_;
  milliseconds cycle_{30'000};
  MonitDefaults defaults_;
  bool secret_ = false;
  Mail mail_;
  std::map<std::string, std::string, std::less<>> services_;  ///< the first check of each
  std::vector<Dependency> depends_;
};

}  // namespace

bool is_monit(std::string_view text) {
  constexpr auto kTypes =
      std::to_array<std::string_view>({"process", "file", "fifo", "filesystem", "device",
                                       "directory", "host", "system", "program", "network"});
  constexpr auto kSets = std::to_array<std::string_view>(
      {"daemon", "mailserver", "alert", "httpd", "logfile", "log", "eventqueue", "mail-format"});
  while (!text.empty()) {
    const auto words = words_of(take_until(text, '\n'));
    if (words.size() < 2) continue;
    const std::string first = lower(words[0]);
    const std::string second = lower(words[1]);
    if (first == "check" && words.size() > 2 && std::ranges::find(kTypes, second) != kTypes.end())
      return true;
    if (first == "set" && std::ranges::find(kSets, second) != kSets.end()) return true;
  }
  return false;
}

Result<Imported> import_monit(std::span<const ForeignFile> files) {
  return Translation(files).run();
}

}  // namespace wardmote::config
