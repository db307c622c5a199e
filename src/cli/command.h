#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "cli/exit_code.h"

namespace wardmote::cli {

/// What the shell completion offers for a value.
enum class Completes : std::uint8_t { kNothing, kFiles, kCodes };

/// A positional value.
struct Argument {
  std::string name;  ///< upper case, as help shows it; Call::value() asks for it by this name
  std::string help;
  bool required = true;
  std::vector<std::string> choices = {};
  Completes completes = Completes::kNothing;
  bool repeats = false;  ///< the last one only: it takes all words that follow
};

struct Option {
  std::string name;   ///< without dashes
  std::string value;  ///< what help calls its value; empty for a flag
  std::string help;
  char letter = 0;  ///< its short form
  bool required = false;
  bool repeats = false;
  std::string implied =
      {};  ///< the value of a bare `--watch`; others must then come as `--watch=VALUE`
  std::vector<std::string> choices = {};
  Completes completes = Completes::kNothing;
};

struct Example {
  std::string line;
  std::string what;
};

class Call;

/// A verb or a group of verbs. Help, parsing, completion and docs/cli.md come from this one table.
struct Command {
  std::string name;
  /// one line, an order to the program (`list …`), without a full stop
  std::string summary;
  std::string description = {};  ///< more text for its own help
  std::vector<Argument> arguments = {};
  std::vector<Option> options = {};
  std::vector<Example> examples = {};
  std::vector<Command> commands = {};  ///< a group has these, and nothing to run
  Exit (*run)(const Call& call) = nullptr;
};

/// What the user asked for, checked against the table.
class Call {
 public:
  using Values = std::map<std::string, std::vector<std::string>, std::less<>>;

  Call(std::vector<const Command*> path, Values values)
      : path_(std::move(path)), values_(std::move(values)) {}

  [[nodiscard]] const Command& command() const noexcept { return *path_.back(); }
  /// From the program down to the command.
  [[nodiscard]] std::span<const Command* const> path() const noexcept { return path_; }
  [[nodiscard]] bool has(std::string_view name) const noexcept { return values_.contains(name); }
  /// The only or last value; "" when absent, and for a flag.
  [[nodiscard]] std::string value(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> values(std::string_view name) const;
  /// `fallback` when absent; kInvalid says how to write a duration or a number.
  [[nodiscard]] Result<Duration> duration(std::string_view name, Duration fallback) const;
  [[nodiscard]] Result<std::int64_t> integer(std::string_view name, std::int64_t fallback) const;

 private:
  std::vector<const Command*> path_;
  Values values_;
};

/// `wardmote get members`.
std::string spelled(std::span<const Command* const> path);

}  // namespace wardmote::cli
