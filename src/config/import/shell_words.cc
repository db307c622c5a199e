#include "config/import/shell_words.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/import/text.h"

namespace wardmote::config {
namespace {

class Splitter {
 public:
  explicit Splitter(std::string_view line) : line_(line) {}

  ShellWords split() && {
    for (at_ = 0; at_ < line_.size(); ++at_) one(line_[at_]);
    end_word();
    if (quote_ != 0) result_.needs_shell = true;
    return std::move(result_);
  }

 private:
  void one(char c) {
    if (quote_ == 0 && std::string_view(" \t\r\n").contains(c)) return end_word();
    if (c == quote_) {
      quote_ = 0;
    } else if (quote_ == 0 && (c == '"' || c == '\'')) {
      quote_ = c;
      open();
    } else if (c == '\\' && quote_ != '\'') {
      escaped();
    } else {
      look(c);
      put(c);
    }
  }

  void escaped() {
    const char next = at_ + 1 < line_.size() ? line_[at_ + 1] : '\0';
    const bool escapes = quote_ == 0 || std::string_view("\"\\$`").contains(next);
    if (!escapes || next == '\0') return put('\\');
    ++at_;
    put(next);
  }

  /// What only a shell can do.
  void look(char c) {
    const std::string_view special = quote_ == 0 ? "|<>&;()*?[]{}~#`$" : "`$";
    if (quote_ != '\'' && special.contains(c)) result_.needs_shell = true;
  }

  void open() {
    if (!word_) word_.emplace();
  }
  void put(char c) {
    open();
    *word_ += c;
  }
  void end_word() {
    if (word_) result_.words.push_back(*std::exchange(word_, std::nullopt));
  }

  std::string_view line_;
  std::size_t at_ = 0;
  char quote_ = 0;
  std::optional<std::string> word_;
  ShellWords result_;
};

struct SecretOptions {
  std::string_view program;
  std::string_view letters;
};
// monitoring-plugins 2.3, each one's --help.
constexpr auto kSecretOptions = std::to_array<SecretOptions>(
    {{"check_mysql", "p"},   {"check_mysql_query", "p"}, {"check_pgsql", "p"},
     {"check_radius", "pF"}, {"check_disk_smb", "p"},    {"check_ldap", "P"},
     {"check_ldaps", "P"},   {"check_smtp", "P"},        {"check_ssmtp", "P"},
     {"check_snmp", "CAX"},  {"check_ifstatus", "CAX"},  {"check_ifoperstatus", "CAX"},
     {"check_hpjd", "C"},    {"check_http", "ab"},       {"check_curl", "ab"},
     {"check_nt", "s"},      {"check_dbi", "o"},         {"check_oracle", ""},
     {"check_ping", ""},     {"check_tcp", ""},          {"check_udp", ""},
     {"check_ssh", ""},      {"check_disk", ""},         {"check_procs", ""},
     {"check_swap", ""},     {"check_load", ""},         {"check_users", ""},
     {"check_dig", ""},      {"check_dns", ""},          {"check_by_ssh", ""},
     {"check_nrpe", ""},     {"check_ftp", ""},          {"check_imap", ""},
     {"check_pop", ""},      {"check_icmp", ""},         {"check_host", ""},
     {"check_fping", ""}});

/// A port, a path or nothing: no password.
bool is_harmless(std::string_view value) {
  return value.empty() || value.starts_with('/') || value.starts_with('-') ||
         value.find_first_not_of("0123456789.,:%") == std::string_view::npos;
}

bool tells(std::string_view program, const std::string& word, std::string_view next) {
  if (word.starts_with("--")) {
    const std::size_t sign = word.find('=');
    const std::string_view value =
        sign == std::string::npos ? next : std::string_view(word).substr(sign + 1);
    return names_a_secret(std::string_view(word).substr(0, sign)) && !value.empty();
  }
  // `--user name:password` and the like come as an address, too.
  if ((word.contains("://") && word.contains('@')) || has_secret_parameter(word)) return true;
  if (word.size() < 2 || word[0] != '-') return false;
  const auto* const known = std::ranges::find(kSecretOptions, program, &SecretOptions::program);
  const std::string_view value = word.size() > 2 ? std::string_view(word).substr(2) : next;
  if (known != kSecretOptions.end()) return known->letters.contains(word[1]);
  return (word[1] == 'p' || word[1] == 'P') && !is_harmless(value);
}

}  // namespace

ShellWords shell_words(std::string_view line) {
  return Splitter(line).split();
}

bool may_hold_a_secret(const std::vector<std::string>& argv) {
  std::string_view program;
  for (std::size_t i = 0; i < argv.size(); ++i) {
    // Behind a shell or sudo the program stands later.
    const std::string_view base = std::string_view(argv[i]).substr(argv[i].rfind('/') + 1);
    if (i == 0 || base.starts_with("check_")) program = base;
    if (i > 0 && tells(program, argv[i], i + 1 < argv.size() ? argv[i + 1] : std::string_view()))
      return true;
  }
  return false;
}

}  // namespace wardmote::config
