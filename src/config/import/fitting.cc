#include "config/import/fitting.h"

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "base/time.h"
#include "codec/dns.h"
#include "codec/url.h"
#include "config/import/text.h"
#include "observe/endpoint/http_params.h"
#include "observe/kinds.h"
#include "observe/params.h"
#include "observe/tls_params.h"
#include "runtime/endpoint.h"

namespace wardmote::config {
namespace {

namespace json = boost::json;
using observe::Params;
using observe::ParamType;
using observe::ParamValue;

constexpr std::size_t kLongestText = 4000;
constexpr std::size_t kMostArguments = 255;
constexpr std::size_t kLongestHost = 255;

/// Printable, UTF-8 and not empty: what a configuration holds as it is.
bool is_clean(std::string_view text) {
  return !text.empty() && text.size() <= kLongestText && escape_control(text, kLongestText) == text;
}

std::optional<ParamValue> value_of(const json::value& value, ParamType type) {
  if (const auto* const flag = value.if_bool()) return ParamValue(*flag);
  if (const auto* const number = value.if_int64()) return ParamValue(*number);
  if (const auto* const text = value.if_string()) {
    if (type != ParamType::kDuration) return ParamValue(std::string(*text));
    const auto duration = foreign_duration(*text);
    if (!duration) return std::nullopt;
    return ParamValue(Duration(*duration));
  }
  const auto* const list = value.if_array();
  if (list == nullptr) return std::nullopt;
  std::vector<std::string> texts;
  for (const json::value& one : *list) {
    if (one.if_string() == nullptr) return std::nullopt;
    texts.emplace_back(one.get_string());
  }
  return ParamValue(std::move(texts));
}

bool all_clean(const json::value& value) {
  if (const auto* const text = value.if_string()) return is_clean(*text);
  const auto* const list = value.if_array();
  return list == nullptr || std::ranges::all_of(*list, all_clean);
}

using Fault = std::optional<std::string>;

// The agent's own words would repeat the value, which may be a password in an address.

Fault fault_of_web(const Params& params, std::string_view scheme) {
  const auto url = codec::parse_url(observe::param<std::string>(params, "url").value_or(""));
  if (!url)
    return "the address is not http:// or https://, a host, a port and a path, without a user";
  if (url->scheme != scheme) return "the address has another scheme than its kind of check";
  if (!observe::read_http_target(params))
    return "a status, header or text that a check cannot have";
  return std::nullopt;
}

Fault fault_of_http(const Params& params) {
  return fault_of_web(params, "http");
}

Fault fault_of_tls(const Params& params) {
  if (observe::tls_settings(params) && observe::tls_policy(params)) return std::nullopt;
  return "TLS files are absolute paths, and a certificate goes with its key";
}

Fault fault_of_https(const Params& params) {
  if (auto fault = fault_of_web(params, "https")) return fault;
  return fault_of_tls(params);
}

Fault fault_of_address(const Params& params, std::string_view key) {
  const auto text = observe::param<std::string>(params, key);
  if (!text) return std::nullopt;
  const auto endpoint = runtime::parse_endpoint(*text);
  if (!endpoint || endpoint->kind == runtime::Endpoint::Kind::kUnix)
    return "the address is not a host and a port";
  return std::nullopt;
}

Fault fault_of_tcp(const Params& params) {
  return fault_of_address(params, "address");
}

Fault fault_of_tls_at(const Params& params) {
  if (auto fault = fault_of_address(params, "address")) return fault;
  return fault_of_tls(params);
}

Fault fault_of_grpc(const Params& params) {
  const auto service = observe::param<std::string>(params, "service").value_or("");
  const auto address = observe::param<std::string>(params, "address").value_or("");
  if (address.size() > kLongestHost) return "the address is too long";
  if (service.size() > kLongestHost || service.find_first_of(" \t") != std::string::npos)
    return "the service is not a name";
  return fault_of_tls_at(params);
}

bool is_rcode(const std::string& name) {
  for (unsigned rcode = 0; rcode < 16; ++rcode) {
    if (codec::dns_rcode_name(rcode) == name) return true;
  }
  return false;
}

Fault fault_of_dns(const Params& params) {
  if (!is_rcode(observe::param<std::string>(params, "rcode").value_or("NOERROR")))
    return "no such response code";
  const auto name = observe::param<std::string>(params, "name").value_or("");
  const auto type = codec::dns_type_of(observe::param<std::string>(params, "type").value_or("A"));
  if (!type) return "type: none of A, AAAA, CNAME, MX, NS, PTR, SOA, SRV, TXT";
  std::string_view bare = name;
  if (bare.size() > 1 && bare.ends_with('.')) bare.remove_suffix(1);
  if (!codec::encode_dns_query({0, std::string(bare), *type}))
    return "no name that can be asked for";
  return fault_of_address(params, "server");
}

Fault fault_of_ping(const Params& params) {
  const auto host = observe::param<std::string>(params, "host").value_or("");
  if (host.empty() || host.size() > kLongestHost || host.find_first_of(" \t") != std::string::npos)
    return "not a host";
  return std::nullopt;
}

Fault fault_of_process(const Params& params) {
  const auto program = observe::param<std::string>(params, "program").value_or("");
  const bool good = program.starts_with('/') ? observe::path_param(params, "program").has_value()
                                             : !program.empty() && !program.contains('/');
  if (!good) return "neither the name of a program nor an absolute path";
  if (!observe::bytes_param(params, "max_rss")) return "not a size";
  return std::nullopt;
}

Fault fault_of_file(const Params& params) {
  if (!observe::path_param(params, "path")) return "not an absolute path";
  const auto least = observe::bytes_param(params, "min_size");
  const auto most = observe::bytes_param(params, "max_size");
  if (!least || !most) return "not a size";
  if (*least && *most && **least > **most) return "no size would do";
  if (params.contains("absent") && params.size() > 2)
    return "what is not there has neither age nor size";
  return std::nullopt;
}

Fault fault_of_exec(const Params& params) {
  if (!observe::path_param(params, "program")) return "not the absolute path of a program";
  const auto args = observe::param<std::vector<std::string>>(params, "args");
  if (args && args->size() > kMostArguments) return "more than 255 arguments";
  return std::nullopt;
}

struct Row {
  std::string_view kind;
  Fault (*fault)(const Params& params);
};
constexpr auto kRows = std::to_array<Row>({{"http", fault_of_http},
                                           {"https", fault_of_https},
                                           {"tcp", fault_of_tcp},
                                           {"tls", fault_of_tls_at},
                                           {"grpc", fault_of_grpc},
                                           {"dns", fault_of_dns},
                                           {"ping", fault_of_ping},
                                           {"process", fault_of_process},
                                           {"file", fault_of_file},
                                           {"exec", fault_of_exec}});

}  // namespace

std::optional<std::string> misfit(std::string_view kind, const json::object& params) {
  const auto* const row = std::ranges::find(kRows, kind, &Row::kind);
  const observe::ProbeKind* const known = observe::find_kind(kind);
  if (row == kRows.end() || known == nullptr) return "no such kind of check";
  Params read;
  for (const auto& [key, value] : params) {
    const auto spec =
        std::ranges::find(known->params, std::string_view(key), &observe::ParamSpec::name);
    auto param = spec == known->params.end() ? std::nullopt : value_of(value, spec->type);
    if (!param || !all_clean(value)) {
      return std::string(key) + ": it is empty, too long, or has characters that cannot be printed";
    }
    read.emplace(key, *std::move(param));
  }
  for (const observe::ParamSpec& spec : known->params) {
    if (spec.required && !read.contains(spec.name)) return std::string(spec.name) + ": missing";
  }
  return row->fault(read);
}

}  // namespace wardmote::config
