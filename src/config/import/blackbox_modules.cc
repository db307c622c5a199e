#include "config/import/blackbox_modules.h"

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/text.h"
#include "config/import/draft.h"
#include "config/import/foreign_yaml.h"
#include "config/import/secrets.h"
#include "config/import/text.h"
#include "config/yaml.h"

namespace wardmote::config {
namespace {

namespace json = boost::json;

/// A module while its options are read.
struct Reading {
  ImportDraft& draft;
  BlackboxModule module;
  bool usable = true;

  void say(const YamlEntry& option, std::string_view says) {
    const ForeignPlace at{module.at.file, static_cast<std::size_t>(option.at.line)};
    draft.say(at, fmt::format("module {}: {}", module.name, option.key), says);
  }
};

/// `text`: a key of ours, or what is said.
using Take = void (*)(Reading& reading, const YamlEntry& option, std::string_view text);

struct Option {
  std::string_view prober;  ///< empty: any
  std::string_view name;
  Take take;
  std::string_view text;
};

/// Whether an option says anything at all: the defaults are `false`, 0 and nothing.
bool is_set(const YamlNode& value) {
  if (value.kind == YamlNode::Kind::kScalar)
    return !value.text.empty() && value.text != "false" && value.text != "0";
  return !value.items.empty() || !value.entries.empty();
}

void only_say(Reading& reading, const YamlEntry& option, std::string_view text) {
  if (is_set(option.value)) reading.say(option, text);
}

/// The check would ask something else.
void refuse(Reading& reading, const YamlEntry& option, std::string_view text) {
  if (!is_set(option.value)) return;
  reading.usable = false;
  reading.say(option, fmt::format("the module is left out: {}", text));
}

void take_nothing(Reading&, const YamlEntry&, std::string_view) {}

void take_text(Reading& reading, const YamlEntry& option, std::string_view key) {
  if (is_set(option.value) && option.value.kind == YamlNode::Kind::kScalar)
    reading.module.params[key] = option.value.text;
}

void take_statuses(Reading& reading, const YamlEntry& option, std::string_view) {
  json::array statuses;
  for (const YamlNode& item : option.value.items) statuses.emplace_back(item.text);
  if (!statuses.empty()) reading.module.params["status"] = std::move(statuses);
}

void take_method(Reading& reading, const YamlEntry& option, std::string_view) {
  const std::string& method = option.value.text;
  if (method == "HEAD") {
    reading.module.params["head"] = true;
  } else if (!method.empty() && method != "GET") {
    refuse(reading, option,
           "the probe sends GET or HEAD only; a check of the kind exec can run a plugin that sends "
           "another method");
  }
}

bool is_ours_alone(std::string_view header) {
  return header == "connection" || header == "content-length" || header == "transfer-encoding";
}

void add_header(Reading& reading, const YamlEntry& option, const YamlEntry& header,
                const std::string& value) {
  const std::string small = lower(header.key);
  if (text_may_hold_a_secret(fmt::format("{}: {}", header.key, value))) {
    return refuse(reading, option,
                  "a header may hold a credential, which the configuration would show: it is not "
                  "copied");
  }
  if (is_ours_alone(small) || small == "accept-encoding")
    return reading.say(option, "the probe writes this header itself, or not at all");
  json::value& headers = reading.module.params["header"];
  if (headers.is_null()) headers.emplace_array();
  headers.get_array().emplace_back(header.key + ": " + value);
}

void take_headers(Reading& reading, const YamlEntry& option, std::string_view) {
  for (const YamlEntry& header : option.value.entries)
    add_header(reading, option, header, header.value.text);
}

void take_http_headers(Reading& reading, const YamlEntry& option, std::string_view) {
  for (const YamlEntry& header : option.value.entries) {
    if (child(header.value, "secrets") != nullptr || child(header.value, "files") != nullptr) {
      refuse(reading, option, "a header with a secret or from a file has no counterpart");
      continue;
    }
    for (const std::string& value : texts_at(header.value, "values"))
      add_header(reading, option, header, value);
  }
}

void take_versions(Reading& reading, const YamlEntry& option, std::string_view) {
  const bool known = std::ranges::any_of(option.value.items, [](const YamlNode& one) {
    return one.text == "HTTP/1.1" || one.text == "HTTP/1.0";
  });
  if (!known) return refuse(reading, option, "the probe speaks HTTP/1.1 only");
  reading.say(option, "not tested: HTTP/1.0 and HTTP/1.1 are both good");
}

void take_body_pattern(Reading& reading, const YamlEntry& option, std::string_view) {
  const auto& patterns = option.value.items;
  const auto literal = patterns.size() == 1 ? literal_of(patterns.front().text) : std::nullopt;
  if (literal) {
    reading.module.params["body"] = *literal;
    reading.draft.say("body: the text must be in the first 64 KiB of the body");
  } else {
    only_say(reading, option,
             "not tested: `body` is one text that the body must contain, and no expression");
  }
}

void take_follow(Reading& reading, const YamlEntry& option, std::string_view opposite) {
  const bool said = option.value.text == "true";
  if (said != (opposite.empty())) reading.module.params["redirects"] = 0;
}

void take_ssl(Reading& reading, const YamlEntry& option, std::string_view which) {
  if (option.value.text != "true") return;
  (which == "refused" ? reading.module.ssl_refused : reading.module.ssl_required) = true;
}

void take_family(Reading& reading, const YamlEntry& option, std::string_view) {
  if (option.value.text == "ip4") reading.module.family = "ipv4";
  if (option.value.text == "ip6") reading.module.family = "ipv6";
}

void take_fallback(Reading& reading, const YamlEntry& option, std::string_view) {
  reading.module.fallback = option.value.text != "false";
}

void take_tls_flag(Reading& reading, const YamlEntry& option, std::string_view) {
  reading.module.with_tls = option.value.text == "true";
}

struct TlsKey {
  std::string_view name;
  std::string_view ours;  ///< empty: `says`
  std::string_view says;
};
constexpr std::string_view kInline =
    "certificates and keys are not copied: write them into a file, and name it with tls_ca, "
    "tls_certificate or tls_key";
constexpr std::string_view kVersions = "not tested: TLS 1.2 and later are spoken";
constexpr auto kTlsKeys = std::to_array<TlsKey>({{"ca_file", "tls_ca", ""},
                                                 {"cert_file", "tls_certificate", ""},
                                                 {"key_file", "tls_key", ""},
                                                 {"server_name", "server_name", ""},
                                                 {"insecure_skip_verify", "", ""},
                                                 {"min_version", "", kVersions},
                                                 {"max_version", "", kVersions},
                                                 {"ca", "", kInline},
                                                 {"cert", "", kInline},
                                                 {"key", "", kInline}});

void take_tls_config(Reading& reading, const YamlEntry& option, std::string_view) {
  for (const YamlEntry& entry : option.value.entries) {
    const auto* const row = std::ranges::find(kTlsKeys, entry.key, &TlsKey::name);
    if (row == kTlsKeys.end()) {
      reading.say(entry, "no option that is known: left out");
    } else if (!row->ours.empty() && is_set(entry.value)) {
      reading.module.tls[row->ours] = entry.value.text;
    } else if (entry.key == "insecure_skip_verify") {
      if (entry.value.text == "true") reading.module.tls["verify"] = "none";
    } else {
      only_say(reading, entry, row->says);
    }
  }
}

void take_rcodes(Reading& reading, const YamlEntry& option, std::string_view) {
  const auto& rcodes = option.value.items;
  if (rcodes.size() > 1) return refuse(reading, option, "only one of them can be good here");
  if (!rcodes.empty()) reading.module.params["rcode"] = rcodes.front().text;
}

void take_type(Reading& reading, const YamlEntry& option, std::string_view) {
  if (is_set(option.value) && option.value.text != "ANY")
    reading.module.params["type"] = option.value.text;
}

void take_transport(Reading& reading, const YamlEntry& option, std::string_view) {
  if (option.value.text == "tcp") reading.module.params["tcp"] = true;
}

void take_class(Reading& reading, const YamlEntry& option, std::string_view) {
  if (is_set(option.value) && option.value.text != "IN")
    refuse(reading, option, "only the class IN is asked for");
}

void take_recursion(Reading& reading, const YamlEntry& option, std::string_view) {
  if (option.value.text != "false") return;
  reading.usable = false;  // refuse() takes `false` for nothing
  reading.say(option, "the module is left out: the probe always desires recursion");
}

constexpr std::string_view kLogin =
    "the probe does not log in, and no credential is copied; a check of the kind exec can run a "
    "plugin that reads one from a file";
constexpr std::string_view kProxy = "the probe uses no proxy";
constexpr std::string_view kSource = "no counterpart: the system chooses the source address";
constexpr std::string_view kDialogue =
    "not played: the check sees only that the server accepts connections; a check of the kind exec "
    "can run a plugin for the protocol";
constexpr std::string_view kRecords =
    "not tested: write the answers that must be there into `expect`";
constexpr std::string_view kExpressions = "not tested: no expression is matched against it";
constexpr std::string_view kEcho = "no counterpart: the probe sends plain echo requests";

// blackbox_exporter config/config.go, and HTTPClientConfig of Prometheus' common/config.
constexpr auto kOptions = std::to_array<Option>({
    {"", "preferred_ip_protocol", take_family, ""},
    {"", "ip_protocol_fallback", take_fallback, ""},
    {"", "tls_config", take_tls_config, ""},
    {"http", "valid_status_codes", take_statuses, ""},
    {"http", "valid_http_versions", take_versions, ""},
    {"http", "method", take_method, ""},
    {"http", "headers", take_headers, ""},
    {"http", "http_headers", take_http_headers, ""},
    {"http", "follow_redirects", take_follow, ""},
    {"http", "no_follow_redirects", take_follow, "opposite"},
    {"http", "fail_if_ssl", take_ssl, "refused"},
    {"http", "fail_if_not_ssl", take_ssl, "required"},
    {"http", "fail_if_body_not_matches_regexp", take_body_pattern, ""},
    {"http", "fail_if_body_matches_regexp", only_say, kExpressions},
    {"http", "fail_if_body_json_matches_cel", only_say, kExpressions},
    {"http", "fail_if_body_json_not_matches_cel", only_say, kExpressions},
    {"http", "fail_if_header_matches", only_say, kExpressions},
    {"http", "fail_if_header_not_matches", only_say, kExpressions},
    {"http", "body", refuse, "the probe sends no body"},
    {"http", "body_file", refuse, "the probe sends no body"},
    {"http", "body_size_limit", only_say, "not tested: how long the body is"},
    {"http", "compression", take_nothing, ""},
    {"http", "basic_auth", refuse, kLogin},
    {"http", "authorization", refuse, kLogin},
    {"http", "oauth2", refuse, kLogin},
    {"http", "bearer_token", refuse, kLogin},
    {"http", "bearer_token_file", refuse, kLogin},
    {"http", "proxy_url", refuse, kProxy},
    {"http", "proxy_from_environment", refuse, kProxy},
    {"http", "proxy_connect_header", refuse, kProxy},
    {"http", "no_proxy", take_nothing, ""},
    {"http", "skip_resolve_phase_with_proxy", take_nothing, ""},
    {"http", "enable_http2", take_nothing, ""},
    {"http", "enable_http3", refuse, "the probe speaks HTTP/1.1 only"},
    {"tcp", "tls", take_tls_flag, ""},
    {"tcp", "query_response", only_say, kDialogue},
    {"tcp", "source_ip_address", only_say, kSource},
    {"dns", "query_name", take_text, "name"},
    {"dns", "query_type", take_type, ""},
    {"dns", "query_class", take_class, ""},
    {"dns", "transport_protocol", take_transport, ""},
    {"dns", "recursion_desired", take_recursion, ""},
    {"dns", "valid_rcodes", take_rcodes, ""},
    {"dns", "validate_answer_rrs", only_say, kRecords},
    {"dns", "validate_authority_rrs", only_say, kExpressions},
    {"dns", "validate_additional_rrs", only_say, kExpressions},
    {"dns", "dns_over_tls", refuse, "the probe does not speak DNS over TLS"},
    {"dns", "source_ip_address", only_say, kSource},
    {"icmp", "source_ip_address", only_say, kSource},
    {"icmp", "payload_size", only_say, kEcho},
    {"icmp", "dont_fragment", only_say, kEcho},
    {"icmp", "ttl", only_say, kEcho},
    {"grpc", "service", take_text, "service"},
    {"grpc", "tls", take_tls_flag, ""},
    {"grpc", "metadata", refuse, "the probe sends no metadata"},
});

constexpr auto kProbers = std::to_array<std::string_view>({"http", "tcp", "dns", "icmp", "grpc"});

/// What blackbox_exporter does where the module says nothing.
json::object defaults_of(std::string_view prober) {
  if (prober == "http") return {{"status", json::array{"200-299"}}, {"redirects", 10}};
  if (prober == "dns") return {{"min_answers", 0}};
  if (prober == "icmp") return {{"count", 1}};
  return {};
}

void take_options(Reading& reading, const YamlNode& section) {
  for (const YamlEntry& option : section.entries) {
    const auto* const row = std::ranges::find_if(kOptions, [&](const Option& one) {
      return one.name == option.key && (one.prober.empty() || one.prober == reading.module.prober);
    });
    if (row == kOptions.end()) {
      reading.say(option, "no option that is known: left out");
    } else {
      row->take(reading, option, row->text);
    }
  }
}

}  // namespace

std::optional<BlackboxModule> read_blackbox_module(ImportDraft& draft, ForeignPlace at,
                                                   const std::string& name, const YamlNode& node) {
  const std::string title = "module " + name;
  Reading reading{draft, {}};
  BlackboxModule& module = reading.module;
  module.name = name;
  module.at = at;
  module.prober = text_at(node, "prober").value_or("");
  if (std::ranges::find(kProbers, module.prober) == kProbers.end()) {
    draft.say(at, title,
              fmt::format("left out: the prober '{}' has no counterpart",
                          escape_control(module.prober, 32)));
    return std::nullopt;
  }
  module.params = defaults_of(module.prober);
  if (const auto timeout = text_at(node, "timeout")) {
    module.timeout = foreign_duration(*timeout);
    if (!module.timeout) draft.say(at, title, "timeout: not a duration: left at the default");
  }
  if (const YamlNode* const section = child(node, module.prober)) take_options(reading, *section);
  if (!module.family.empty() && module.prober != "icmp") {
    draft.say(
        "preferred_ip_protocol: the probes take the addresses in the order of the resolver; write "
        "an "
        "address as the target for one family");
  }
  if (module.params.contains("head") && module.params.contains("body")) {
    draft.say(at, title, "left out: the answer to HEAD has no body");
    return std::nullopt;
  }
  if (module.prober == "dns" && !module.params.contains("type"))
    draft.say(at, title, "the type ANY is asked for as A, and any answer is good, as there");
  if (!reading.usable) return std::nullopt;
  return std::move(reading.module);
}

}  // namespace wardmote::config
