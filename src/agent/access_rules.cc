#include "agent/access_rules.h"

#include <grp.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "codec/digest.h"
#include "config/config.h"
#include "net/secret.h"
#include "serve/access.h"
#include "serve/role.h"

namespace wardmote::agent {
namespace {

using serve::Role;
using serve::Token;

constexpr std::size_t kFileCap = 4096;
constexpr std::size_t kGroupBytes = 64 << 10;

bool is_token_character(char c) {
  return c > ' ' && c < 0x7f;
}

Result<std::string> read_token_file(const std::string& path) {
  const Result<net::SecretFile> file = net::open_secret(path);
  if (!file) {
    const Errc why = file.error().code;
    return fail(Errc::kInvalid, "{}: cannot be read: {}", path,
                why == Errc::kInvalid ? "it is no regular file" : to_string(why));
  }
  struct stat about{};
  if (::fstat(::fileno(file->get()), &about) == 0 && (about.st_mode & S_IRWXO) != 0) {
    log(LogLevel::kWarning, "secret_readable_by_all",
        {{"file", path}, {"fix", "chmod o= " + path}});
  }
  std::string bytes(kFileCap, '\0');
  bytes.resize(std::fread(bytes.data(), 1, bytes.size(), file->get()));
  return std::string(trim(bytes));
}

Result<Token> read_token(const config::ApiToken& configured) {
  const Result<std::string> text = read_token_file(configured.file);
  if (!text) return with_context(text, "api: token {}", configured.name);
  const bool fits = text->size() >= Token::kLeast && text->size() <= Token::kMost;
  if (!fits || !std::ranges::all_of(*text, is_token_character)) {
    return fail(Errc::kInvalid,
                "api: token {}: {}: holds no token: one line of {} to {} visible characters, for "
                "example from openssl rand -hex 32",
                configured.name, configured.file, Token::kLeast, Token::kMost);
  }
  return Token{configured.name, configured.role, codec::sha256(*text)};
}

Result<std::uint32_t> group_id(const std::string& name) {
  if (const auto number = parse_number<std::uint32_t>(name)) return *number;
  std::vector<char> bytes(kGroupBytes);
  group entry{};
  group* found = nullptr;
  ::getgrnam_r(name.c_str(), &entry, bytes.data(), bytes.size(), &found);
  if (found == nullptr) return fail(Errc::kInvalid, "api: groups: no group is named '{}'", name);
  return found->gr_gid;
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "localhost";
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  });
  return text;
}

}  // namespace

namespace {

/// Adds what can be added, and to `problems` why the rest cannot.
serve::AccessRules gather(const config::Api& api, std::vector<std::string>& problems) {
  serve::AccessRules rules;
  rules.anonymous = api.anonymous;
  for (const config::ApiToken& configured : api.tokens) {
    Result<Token> token = read_token(configured);
    if (!token) {
      problems.push_back(token.error().context);
      continue;
    }
    for (const Token& other : rules.tokens) {
      if (other.digest == token->digest) {
        problems.push_back(
            fmt::format("api: tokens {} and {} are the same", other.name, token->name));
      }
    }
    rules.tokens.push_back(*std::move(token));
  }
  rules.certificates.insert(api.certificates.begin(), api.certificates.end());
  for (const auto& [name, role] : api.groups) {
    const Result<std::uint32_t> id = group_id(name);
    if (id) {
      rules.groups[*id] = role;
    } else {
      problems.push_back(id.error().context);
    }
  }
  return rules;
}

}  // namespace

std::vector<std::string> access_problems(const config::Api& api) {
  std::vector<std::string> problems;
  (void)gather(api, problems);
  return problems;
}

Result<serve::AccessRules> access_rules(const config::Api& api, const std::string& node) {
  std::vector<std::string> problems;
  serve::AccessRules rules = gather(api, problems);
  if (!problems.empty()) return fail(Errc::kInvalid, "{}", problems.front());
  rules.users[0] = Role::kAdmin;
  rules.users[::geteuid()] = Role::kAdmin;
  rules.hosts = api.hosts;
  rules.hosts.push_back(lower(node));
  rules.hosts.push_back(lower(host_name()));
  return rules;
}

}  // namespace wardmote::agent
