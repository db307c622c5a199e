#include "act/notify/mail.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/text.h"
#include "codec/mail.h"
#include "codec/url.h"
#include "config/problem.h"
#include "config/reader.h"
#include "config/receivers/field.h"
#include "config/receivers/kinds.h"
#include "config/schema.h"
#include "config/yaml.h"
#include "runtime/mail_client.h"

namespace wardmote::config {
namespace {

using act::notify::MailOptions;

std::optional<std::string> read_server(const YamlNode& node, std::string_view what,
                                       Problems& problems) {
  auto server = read_text(node, what, problems);
  if (!server) return std::nullopt;
  const std::size_t colon = server->rfind(':');
  const auto port = colon == std::string::npos
                        ? std::nullopt
                        : parse_number<std::uint16_t>(std::string_view(*server).substr(colon + 1));
  if (port && *port != 0 && codec::parse_url("http://" + *server) &&
      server->find_first_of("/@?# \t\r\n") == std::string::npos)
    return server;
  problems.add(node.at, fmt::format("{} '{}'", what, escape_control(*server, 64)),
               "not a host and a port", "write for example mail.example.org:587");
  return std::nullopt;
}

std::optional<std::string> read_address(const YamlNode& node, std::string_view what,
                                        Problems& problems) {
  auto text = read_text(node, what, problems);
  if (!text || codec::is_mail_address(*text)) return text;
  problems.add(node.at, fmt::format("{} '{}'", what, escape_control(*text, 64)),
               "not an address of mail", "write for example oncall@example.org");
  return std::nullopt;
}

std::optional<std::vector<std::string>> read_addresses(const YamlNode& node, std::string_view what,
                                                       Problems& problems) {
  if (node.kind != YamlNode::Kind::kList || node.items.empty()) {
    problems.add(node.at, std::string(what), "not a list of addresses",
                 "write to: [oncall@example.org]");
    return std::nullopt;
  }
  std::vector<std::string> addresses;
  for (const YamlNode& item : node.items) {
    auto address = read_address(item, "item of to", problems);
    if (address) addresses.push_back(*std::move(address));
  }
  return addresses;
}

constexpr auto kFields = std::to_array<Field<MailOptions>>({
    {{"server", Form::kText, true, "host:port"},
     into<&MailOptions::server, read_server>,
     "server: mail.example.org:587"},
    {{.name = "tls",
      .form = Form::kWord,
      .required = false,
      .help = "starttls (asked for, and without it nothing is sent), implicit or never",
      .words = "starttls|implicit|never",
      .otherwise = "starttls"},
     into_word<&MailOptions::tls>},
    {{"from", Form::kText, true, "The sender's address"},
     into<&MailOptions::from, read_address>,
     "from: wardmote@example.org"},
    {{"to", Form::kTexts, true, "Addresses"},
     into<&MailOptions::to, read_addresses>,
     "to: [oncall@example.org]"},
    {{"user", Form::kText, false, "Who logs in"}, into<&MailOptions::user, read_line>},
    {{"password_file", Form::kText, false, "The absolute path of his password"},
     into_file_of<&MailOptions::password, read_file_name>},
    {{"trust", Form::kText, false, "The absolute path of CA certificates"},
     into<&MailOptions::trust, read_file_name>},
});
constexpr auto kKeys = keys_of(kFields);
constexpr Section kSections[] = {{"mail", kKeys, false}};

void check(const MailOptions& options, MapReader& map) {
  if (options.user.empty() != options.password.file.empty()) {
    map.problems().add(map.at(), "mail", "user and password_file go together",
                       "give both, or neither");
  }
  if (!options.user.empty() && options.tls == runtime::MailCall::Tls::kNever) {
    map.problems().add(map.at(), "mail", "a password would be sent for all to read",
                       "write tls: starttls or tls: implicit");
  }
}

}  // namespace

constexpr ReceiverKind kMailKind = {.name = "mail",
                                    .help = "Mail by SMTP",
                                    .sections = kSections,
                                    .read = [](const YamlNode& node, Problems& problems) {
                                      return read_options(node, "mail", kFields, problems, check);
                                    }};

}  // namespace wardmote::config
