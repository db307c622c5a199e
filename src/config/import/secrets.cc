#include "config/import/secrets.h"

#include <algorithm>
#include <array>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "config/import/shell_words.h"
#include "config/import/text.h"

namespace wardmote::config {
namespace {

namespace json = boost::json;

constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
constexpr std::string_view kNameSigns =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
constexpr std::string_view kSpaces = " \t\r\n";
constexpr int kDeepest = 3;  // command lines within command lines

struct SecretOptions {
  std::string_view program;
  std::string_view letters;  ///< `*`: any word may be one
};
// monitoring-plugins 2.3, each one's --help; below them what checks of one's own call.
constexpr auto kSecretOptions = std::to_array<SecretOptions>({{"check_mysql", "p"},
                                                              {"check_mysql_query", "p"},
                                                              {"check_pgsql", "p"},
                                                              {"check_radius", "pF"},
                                                              {"check_disk_smb", "p"},
                                                              {"check_ldap", "P"},
                                                              {"check_ldaps", "P"},
                                                              {"check_smtp", "P"},
                                                              {"check_ssmtp", "P"},
                                                              {"check_snmp", "CAX"},
                                                              {"check_ifstatus", "CAX"},
                                                              {"check_ifoperstatus", "CAX"},
                                                              {"check_hpjd", "C"},
                                                              {"check_http", "ab"},
                                                              {"check_curl", "ab"},
                                                              {"check_nt", "s"},
                                                              {"check_dbi", "o"},
                                                              {"check_oracle", "*"},
                                                              {"check_ping", ""},
                                                              {"check_tcp", ""},
                                                              {"check_udp", ""},
                                                              {"check_ssh", ""},
                                                              {"check_disk", ""},
                                                              {"check_procs", ""},
                                                              {"check_swap", ""},
                                                              {"check_load", ""},
                                                              {"check_users", ""},
                                                              {"check_dig", ""},
                                                              {"check_dns", ""},
                                                              {"check_by_ssh", ""},
                                                              {"check_nrpe", ""},
                                                              {"check_ftp", ""},
                                                              {"check_imap", ""},
                                                              {"check_pop", ""},
                                                              {"check_icmp", ""},
                                                              {"check_host", ""},
                                                              {"check_fping", ""},
                                                              {"curl", "bE"},
                                                              {"redis-cli", "a"},
                                                              {"mysql", "p"},
                                                              {"mysqladmin", "p"},
                                                              {"mariadb", "p"},
                                                              {"mariadb-admin", "p"},
                                                              {"sshpass", "p"},
                                                              {"mongo", "p"},
                                                              {"mongosh", "p"},
                                                              {"ldapsearch", "w"},
                                                              {"ldapwhoami", "w"},
                                                              {"snmpget", "cAX"},
                                                              {"snmpwalk", "cAX"},
                                                              {"ipmitool", "P"},
                                                              {"sqlplus", "*"},
                                                              {"isql", "*"},
                                                              {"psql", ""}});

/// What a token of a well-known maker begins with.
constexpr auto kTokenBegins =
    std::to_array<std::string_view>({"ghp_", "gho_", "ghs_", "github_pat_", "glpat-", "xoxb-",
                                     "xoxp-", "xapp-", "AKIA", "eyJ", "sk-", "hvs.", "dop_v1_"});

/// Words that a secret follows in a dialogue or a statement of SQL, as these are written: in
/// capitals anywhere, or else in front. `Please login` is for people.
constexpr auto kLoginWords =
    std::to_array<std::string_view>({"auth", "pass", "password", "passwd", "login", "identified"});

/// What is behind `Bearer` and `Basic`, and no word for people.
constexpr std::size_t kShortestToken = 16;

bool is_login(std::string_view word, bool in_front, std::string_view next) {
  const std::string small = lower(word);
  if (small == "bearer" || small == "basic")
    return next.size() >= kShortestToken || next.find_first_of("0123456789=") != next.npos;
  const bool capitals = word.find_first_of("abcdefghijklmnopqrstuvwxyz") == std::string_view::npos;
  return (capitals || (in_front && small == word)) &&
         std::ranges::find(kLoginWords, small) != kLoginWords.end();
}

/// A port, a limit, a path or nothing: no password.
bool is_harmless(std::string_view value) {
  constexpr std::size_t kMostDigits = 5;  // of a port
  if (value.empty() || value.starts_with('/') || value.starts_with('-')) return true;
  if (value.find_first_not_of("0123456789.,:%") != std::string_view::npos) return false;
  return value.size() <= kMostDigits || value.find_first_of(".,:%") != std::string_view::npos;
}

/// `NAME=value` and `Name: value`, anywhere.
bool has_named_value(std::string_view text) {
  for (std::size_t sign = text.find_first_of("=:"); sign != std::string_view::npos;
       sign = text.find_first_of("=:", sign + 1)) {
    std::string_view name = text.substr(0, sign);
    name = name.substr(0, name.find_last_not_of(" \t\"'") + 1);
    name.remove_prefix(name.find_last_not_of(kNameSigns) + 1);  // npos + 1 is nothing
    std::string_view value = text.substr(sign + 1);
    value.remove_prefix(std::min(value.find_first_not_of(" \t\"'"), value.size()));
    value = value.substr(0, value.find_first_of(" \t\r\n,;&\"'}"));
    if (value.empty() || !names_a_secret(name)) continue;
    // `token-server:8443/x` and `key://…` are addresses.
    const std::string_view port = value.substr(0, value.find('/'));
    if (text[sign] == '=' || !is_harmless(port)) return true;
  }
  return false;
}

/// `user:password@host`, also behind a scheme, and Oracle's `user/password@name`.
bool has_user_in_address(std::string_view text) {
  for (std::size_t at = text.find('@'); at != std::string_view::npos; at = text.find('@', at + 1)) {
    std::string_view user = text.substr(0, at);
    const std::size_t scheme = user.rfind("://");
    if (scheme != std::string_view::npos) {
      if (!user.substr(scheme + 3).contains('/')) return true;
      continue;  // the sign stands in a path
    }
    user.remove_prefix(user.find_last_of(" \t\r\n\"',;=") + 1);  // npos + 1 is nothing
    const std::size_t sign = user.find_first_of(":/");
    if (sign != 0 && sign != std::string_view::npos && sign + 1 < user.size()) return true;
  }
  return false;
}

bool has_token(std::string_view text) {
  const auto words = words_of(text);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i + 1 < words.size() && is_login(words[i], i == 0, words[i + 1])) return true;
    const std::string_view word = words[i].substr(words[i].find_last_of("=:\"'/") + 1);
    if (word.size() >= kShortestToken &&
        std::ranges::any_of(kTokenBegins,
                            [&](std::string_view begin) { return word.starts_with(begin); }))
      return true;
  }
  return false;
}

const SecretOptions* options_of(std::string_view program) {
  const auto* row = std::ranges::find(kSecretOptions, program, &SecretOptions::program);
  if (row != kSecretOptions.end()) return row;
  // `check_snmp_load` and the like take the options of check_snmp.
  row = std::ranges::find_if(kSecretOptions, [&](const SecretOptions& one) {
    return !one.letters.empty() && program.starts_with(one.program) &&
           program.substr(one.program.size()).starts_with('_');
  });
  return row == kSecretOptions.end() ? nullptr : row;
}

/// `user:password` of curl, `user%password` of smbclient.
bool is_user_with_password(std::string_view value) {
  if (is_harmless(value) || value.contains("://")) return false;
  const std::size_t sign = value.find_first_of(":%");
  return sign != std::string_view::npos && sign + 1 < value.size();
}

bool long_option_tells(std::string_view word, std::string_view next) {
  const std::size_t sign = word.find('=');
  const std::string_view name = word.substr(0, sign);
  const std::string_view value = sign == std::string_view::npos ? next : word.substr(sign + 1);
  if (value.empty()) return false;
  const std::string small = lower(name);
  const bool names_user = small.contains("user") || small.contains("login");
  return names_a_secret(name) || (names_user && is_user_with_password(value));
}

/// `-p x`, `-px`, and the last letter of several, as in `-fsu x`.
bool short_option_tells(const SecretOptions* known, std::string_view word, std::string_view next) {
  const std::string_view rest = word.substr(2);
  const bool is_cluster = word.find_first_not_of(kLetters, 1) == std::string_view::npos;
  const bool ends_cluster = is_cluster && !rest.empty() && !next.empty() && !next.starts_with('-');
  for (std::size_t i = 1; i < word.size() && kLetters.contains(word[i]); ++i) {
    if (word[i] != 'u' && word[i] != 'U') continue;
    if (is_user_with_password(i + 1 < word.size() ? word.substr(i + 1) : next)) return true;
  }
  const auto is_one = [&](char letter, std::string_view value) {
    if (known != nullptr) return known->letters.contains(letter);
    return (letter == 'p' || letter == 'P') && !is_harmless(value);
  };
  if (is_one(word[1], rest.empty() ? next : rest)) return true;
  if (ends_cluster && is_one(word.back(), next)) return true;
  // `-passin x` of openssl, `-storepass x` of keytool.
  return known == nullptr && rest.size() > 1 && names_a_secret(word) && !next.empty();
}

bool word_tells(const SecretOptions* known, std::string_view word, std::string_view next) {
  if (text_may_hold_a_secret(word)) return true;
  if (word.starts_with("--")) return long_option_tells(word, next);
  return word.size() > 1 && word[0] == '-' && short_option_tells(known, word, next);
}

bool line_tells(const std::vector<std::string>& argv, int depth) {
  const SecretOptions* known = nullptr;
  bool begins = true;  // a program stands here
  for (std::size_t i = 0; i < argv.size(); ++i) {
    std::string_view base = argv[i];
    base.remove_prefix(base.find_last_of("/|&;(`") + 1);  // npos + 1 is nothing
    const SecretOptions* const row = options_of(base);
    if (begins || row != nullptr || base.starts_with("check_")) {
      known = row;
    } else if (known != nullptr && known->letters == "*") {
      return true;
    }
    const std::string_view next = i + 1 < argv.size() ? argv[i + 1] : std::string_view();
    if (word_tells(known, argv[i], next)) return true;
    const bool may_be_line = argv[i].find_first_of(kSpaces) != std::string::npos;
    if (may_be_line && depth < kDeepest && line_tells(shell_words(argv[i]).words, depth + 1))
      return true;
    begins = !argv[i].empty() && std::string_view("|&;(").contains(argv[i].back());
  }
  return false;
}

bool value_tells(const json::value& value) {
  if (const auto* const text = value.if_string()) return text_may_hold_a_secret(*text);
  const auto* const list = value.if_array();
  return list != nullptr && std::ranges::any_of(*list, value_tells);
}

}  // namespace

bool names_a_secret(std::string_view name) {
  constexpr auto kWords = std::to_array<std::string_view>(
      {"token", "pass", "secret", "auth", "cookie", "key", "community", "cred", "pwd", "session",
       "signature", "jwt", "psk"});
  const std::string small = lower(name);
  return small.ends_with("pw") || small == "sig" ||
         std::ranges::any_of(kWords, [&](std::string_view word) { return small.contains(word); });
}

bool text_may_hold_a_secret(std::string_view text) {
  return has_named_value(text) || has_user_in_address(text) || has_token(text);
}

bool command_may_hold_a_secret(const std::vector<std::string>& argv) {
  return line_tells(argv, 0);
}

bool params_may_hold_a_secret(const json::object& params) {
  const json::value* const program = params.if_contains("program");
  const json::value* const args = params.if_contains("args");
  if (program != nullptr && args != nullptr && program->is_string() && args->is_array()) {
    std::vector<std::string> argv{std::string(program->get_string())};
    for (const json::value& one : args->get_array()) {
      if (one.is_string()) argv.emplace_back(one.get_string());
    }
    if (command_may_hold_a_secret(argv)) return true;
  }
  return std::ranges::any_of(params, [](const auto& one) { return value_tells(one.value()); });
}

}  // namespace wardmote::config
