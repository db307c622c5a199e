#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "codec/monit_control.h"
#include "config/import/draft.h"

namespace wardmote::config {

/// `if … then …`: the words of the condition without Monit's noise words.
struct MonitTest {
  std::size_t line = 0;
  std::vector<std::string> words;     ///< in small letters; empty for a text in quotes
  std::vector<codec::MonitWord> raw;  ///< the same as they were written
  std::optional<int> cycles;          ///< that must fail: `for 3 cycles`, `3 times within 5 cycles`
  bool within = false;                ///< the latter
  std::optional<int> recovery;        ///< cycles of `else if succeeded for 2 cycles`
  bool acts = false;                  ///< it does more than alert

  /// The place of a keyword; nothing when it is absent.
  [[nodiscard]] std::optional<std::size_t> find(std::string_view word) const;
  /// The word behind a keyword, as it was written; empty when there is none.
  [[nodiscard]] std::string after(std::string_view word) const;
};

/// A `check` of a control file.
struct MonitService {
  ForeignPlace at;
  std::string type;  ///< process, file, host, program …
  std::string name;
  std::string path;                  ///< also the pid file
  std::vector<std::string> command;  ///< of a program, with its arguments
  bool readable = true;              ///< the command was understood
  bool other_user = false;           ///< the program runs as another user
  std::string matching;              ///< of a process
  std::string address;               ///< of a host
  std::optional<int> timeout;        ///< of a program, in seconds
  int every = 1;                     ///< in cycles
  std::vector<MonitTest> tests;
  std::vector<std::string> depends;
};

/// Reads one statement that begins with `check`; says which of its clauses have no counterpart.
MonitService read_monit_service(ImportDraft& draft, std::size_t file,
                                const codec::MonitStatement& statement);

/// A word that Monit passes over: `with`, `and`, `for` …
bool is_monit_noise(std::string_view word);

}  // namespace wardmote::config
