#include "config/import/monit_service.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/text.h"
#include "codec/monit_control.h"
#include "config/import/draft.h"
#include "config/import/shell_words.h"
#include "config/import/text.h"

namespace wardmote::config {
namespace {

using codec::MonitWord;

constexpr int kMostCycles = 1000;

class ServiceReader {
 public:
  ServiceReader(ImportDraft& draft, std::size_t file, const std::vector<MonitWord>& words)
      : draft_(draft), words_(words) {
    service_.at = {file, words.front().line};
  }

  MonitService read() && {
    at_ = 1;
    service_.type = lower(take());
    service_.name = take();
    while (at_ < words_.size()) clause();
    return std::move(service_);
  }

 private:
  using Handler = void (ServiceReader::*)();
  struct Clause {
    std::string_view word;
    Handler handler;
  };

  [[nodiscard]] bool done() const { return at_ >= words_.size(); }
  /// In small letters; empty for a text in quotes and at the end.
  [[nodiscard]] std::string keyword() const {
    return done() || words_[at_].quoted() ? std::string() : lower(words_[at_].text);
  }
  bool skip(std::string_view word) {
    if (keyword() != word) return false;
    ++at_;
    return true;
  }
  std::string take() { return done() ? std::string() : words_[at_++].text; }
  void skip_noise() {
    while (!done() && is_monit_noise(keyword())) ++at_;
  }
  std::string value() {
    skip_noise();
    skip("=");
    return take();
  }
  std::optional<int> number() { return parse_number<int>(value()); }

  void say(std::string_view what, std::string_view says) {
    draft_.say({service_.at.file, line_}, fmt::format("{}: {}", service_.name, what), says);
  }

  static const Clause* clause_of(std::string_view word) {
    static constexpr auto kClauses = std::to_array<Clause>({
        {"if", &ServiceReader::take_test},           {"path", &ServiceReader::take_path},
        {"pidfile", &ServiceReader::take_path},      {"matching", &ServiceReader::take_matching},
        {"match", &ServiceReader::take_matching},    {"address", &ServiceReader::take_address},
        {"interface", &ServiceReader::take_address}, {"timeout", &ServiceReader::take_timeout},
        {"start", &ServiceReader::pass_program},     {"stop", &ServiceReader::pass_program},
        {"restart", &ServiceReader::pass_program},   {"as", &ServiceReader::pass_user},
        {"uid", &ServiceReader::pass_user},          {"gid", &ServiceReader::pass_user},
        {"group", &ServiceReader::pass_value},       {"mode", &ServiceReader::pass_value},
        {"onreboot", &ServiceReader::pass_value},    {"depend", &ServiceReader::take_depends},
        {"depends", &ServiceReader::take_depends},   {"every", &ServiceReader::take_every},
        {"not", &ServiceReader::take_not},           {"alert", &ServiceReader::pass_alert},
        {"noalert", &ServiceReader::pass_alert},
    });
    const auto* const row = std::ranges::find(kClauses, word, &Clause::word);
    return row == kClauses.end() ? nullptr : row;
  }

  void clause() {
    line_ = words_[at_].line;
    const std::string word = keyword();
    ++at_;
    if (is_monit_noise(word)) return;
    if (const Clause* const row = clause_of(word)) {
      (this->*row->handler)();
    } else if (std::exchange(unknown_line_, line_) != line_) {
      say("a word", "no statement that is known: left out");
    }
  }

  void take_path() {
    if (service_.type == "program") return take_command();
    service_.path = value();
  }

  /// A first text in double quotes has all arguments; else each word is one, up to a keyword.
  void take_command() {
    skip_noise();
    skip("=");
    std::vector<std::string>& command = service_.command;
    bool ends = true;  // the argument before this word
    while (!done()) {
      const MonitWord& word = words_[at_];
      const std::string small = keyword();
      if (!word.quoted() && clause_of(small) != nullptr) return;
      ++at_;
      if (!word.quoted() && (is_monit_noise(small) || small == "," || small == ";")) {
        ends = true;
        continue;
      }
      const bool joins = !word.quoted() && word.glued && !ends;
      ends = word.quoted();
      if (command.empty() && word.quote == '"') {
        command = monit_words(word.text);
        service_.readable = service_.readable && !command.empty();
      } else if (joins) {
        command.back() += word.text;
      } else {
        // Monit cuts quotes at the ends of a text in quotes, or some of them.
        const auto is_quote = [](char c) { return c == '"' || c == '\''; };
        if (word.text.empty() || is_quote(word.text.front()) || is_quote(word.text.back()))
          service_.readable = false;
        command.push_back(word.text);
      }
    }
  }

  void take_matching() { service_.matching = value(); }
  void take_address() { service_.address = value(); }
  void take_timeout() {
    service_.timeout = number();
    if (!skip("seconds")) skip("second");
  }
  void pass_value() { value(); }

  void pass_user() {
    if (!skip("uid")) skip("gid");  // `as uid nobody`
    value();
    service_.other_user = true;
  }

  void pass_program() {
    skip("program");
    value();
    for (bool more = true; more;) {
      skip_noise();
      more = skip("as") || skip("seconds") || skip("second");
      if (skip("uid") || skip("gid") || skip("timeout")) {
        value();
        more = true;
      }
    }
    say("start, stop, restart",
        "no counterpart: the agent restarts no service; let its supervisor do that (Restart= of a "
        "systemd unit)");
  }

  void take_depends() {
    do {
      service_.depends.push_back(value());
    } while (skip(","));
  }

  void take_every() {
    const bool cron = !done() && words_[at_].quoted();
    const auto cycles = number();
    if (cron || !cycles || *cycles < 1 || *cycles > kMostCycles) {
      say("every", "checks run around the clock, at one interval: left out");
    } else {
      service_.every = *cycles;
    }
    skip("cycles");
    skip("cycle");
  }

  void take_not() {
    if (skip("every")) value();
    say("not every", "checks run around the clock: use a `maintenance` of `notify`");
  }

  void pass_alert() {
    value();
    skip_noise();
    skip("not");
    skip_noise();
    if (skip("{")) {
      while (!done() && !skip("}")) ++at_;
    }
    skip_noise();
    if (skip("reminder")) {
      value();
      skip("cycles");
      skip("cycle");
    }
    say("alert", "who is told of which check is said by `routes` of `notify`");
  }

  void take_test() {
    MonitTest test;
    test.line = line_;
    while (!done() && keyword() != "then") {
      const MonitWord& word = words_[at_++];
      std::string small = word.quoted() ? std::string() : lower(word.text);
      if (is_monit_noise(small)) {
        test.within = test.within || small == "within";
        continue;
      }
      test.words.push_back(std::move(small));
      test.raw.push_back(word);
    }
    take_cycles(test);
    skip("then");
    take_action(test);
    skip_noise();
    if (skip("else")) {
      skip_noise();
      // `else if recovered for 2 cycles then alert`
      if (skip("if")) take_recovery(test);
      take_action(test);
    }
    service_.tests.push_back(std::move(test));
  }

  void take_recovery(MonitTest& test) {
    MonitTest recovery;
    for (; !done() && keyword() != "then"; ++at_) {
      if (is_monit_noise(keyword())) {
        recovery.within = recovery.within || keyword() == "within";
      } else {
        recovery.words.push_back(keyword());
        recovery.raw.push_back(words_[at_]);
      }
    }
    skip("then");
    take_cycles(recovery);
    test.recovery = recovery.cycles;
  }

  void take_action(MonitTest& test) {
    skip_noise();
    const std::string action = keyword();
    if (!done()) ++at_;
    test.acts = test.acts || (action != "alert" && action != "timeout");
    if (action != "exec") return;
    value();
    for (bool more = true; more;) {
      more = false;
      skip_noise();
      if (skip("as")) more = true;
      if (skip("uid") || skip("gid")) {
        value();
        more = true;
      }
      if (skip("repeat")) {
        skip("every");
        value();
        skip("cycles");
        skip("cycle");
        more = true;
      }
    }
  }

  /// Cuts `3 cycles` and `3 times 5 cycles` off the end. `4 restarts 20 cycles` stays.
  static void take_cycles(MonitTest& test) {
    auto& words = test.words;
    if (words.size() < 2 || (words.back() != "cycles" && words.back() != "cycle")) return;
    const bool times = words.size() >= 4 && words[words.size() - 3] == "times";
    const bool bare = words.size() >= 3 && test.within && !times &&
                      parse_number<int>(words[words.size() - 3]).has_value();
    const std::size_t back = times ? 4 : bare ? 3 : 2;
    const auto count = parse_number<int>(words[words.size() - back]);
    if (!count || *count < 1) return;
    test.cycles = std::min(*count, kMostCycles);
    test.within = times || bare;
    words.resize(words.size() - back);
    test.raw.resize(words.size());
  }

  ImportDraft& draft_;
  const std::vector<MonitWord>& words_;
  MonitService service_;
  std::size_t at_ = 0;
  std::size_t line_ = 0;
  std::size_t unknown_line_ = 0;
};

}  // namespace

std::optional<std::size_t> MonitTest::find(std::string_view word) const {
  if (word.empty()) return std::nullopt;  // a text in quotes
  const auto found = std::ranges::find(words, word);
  if (found == words.end()) return std::nullopt;
  return static_cast<std::size_t>(found - words.begin());
}

std::string MonitTest::after(std::string_view word) const {
  auto place = find(word);
  if (!place) return {};
  ++*place;
  while (*place < words.size() && (words[*place] == "=" || words[*place] == "==")) ++*place;
  return *place < raw.size() ? raw[*place].text : std::string();
}

bool is_monit_noise(std::string_view word) {
  constexpr auto kNoise = std::to_array<std::string_view>(
      {"and", "with", "within", "has", "use", "uses", "using", "on", "only", "for", "of", "is",
       "usage", "than", "the", "program"});
  return std::ranges::find(kNoise, word) != kNoise.end();
}

MonitService read_monit_service(ImportDraft& draft, std::size_t file,
                                const codec::MonitStatement& statement) {
  return ServiceReader(draft, file, statement.words).read();
}

}  // namespace wardmote::config
