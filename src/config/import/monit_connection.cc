#include "config/import/monit_connection.h"

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/format.h"
#include "base/text.h"
#include "config/import/draft.h"
#include "config/import/monit_service.h"
#include "config/import/text.h"

namespace wardmote::config {
namespace {

namespace json = boost::json;
using std::chrono::milliseconds;

/// What Monit speaks, and the kind of check that is nearest.
struct Protocol {
  std::string_view name;
  std::string_view kind;
  bool whole;  ///< the check looks at the same
};
constexpr auto kProtocols = std::to_array<Protocol>({
    {"", "tcp", true},
    {"default", "tcp", true},
    {"http", "http", true},
    {"https", "https", true},
    {"dns", "dns", true},
    {"imaps", "tls", false},
    {"pops", "tls", false},
    {"smtps", "tls", false},
    {"mysqls", "tls", false},
});

struct Unspoken {
  std::string_view word;
  std::string_view says;
};
constexpr auto kUnspoken = std::to_array<Unspoken>({
    {"responsetime", "no counterpart: the time of each probe is in the metrics"},
    {"retry", "no counterpart is needed: `fall` failures in a row count"},
    {"checksum", "not tested: no checksum is computed"},
    {"send", "not played: the check sees only that the server accepts connections"},
    {"expect", "not played: the check sees only that the server accepts connections"},
    {"ipv4", "the address family is chosen by the resolver: write an address"},
    {"ipv6", "the address family is chosen by the resolver: write an address"},
    {"size", "no counterpart: the probe sends plain echo requests"},
});

class Connection {
 public:
  Connection(ImportDraft& draft, const MonitService& service, const MonitTest& test, bool verify)
      : draft_(draft), service_(service), test_(test), verify_(verify) {
    host_ = test.find("host") ? test.after("host")
                              : (service.type == "host" ? service.address : "localhost");
  }

  std::optional<ImportedCheck> read() {
    if (!test_.words.empty() && test_.words.front() == "succeeded")
      return none("succeeded", "left out: no check fails because a server answers");
    for (const std::string_view word : {"username", "user", "password"}) {
      if (test_.find(word))
        return none("password", "left out: the probe does not log in, and no password is copied");
    }
    if (test_.find("unixsocket"))
      return none("unixsocket", "left out: no probe connects to any unix socket");
    for (const std::string_view ping : {"ping", "ping4", "ping6", "icmp"}) {
      if (test_.find(ping)) return read_ping(ping);
    }
    return read_port();
  }

 private:
  std::nullopt_t none(std::string_view what, std::string_view says) {
    say(what, says);
    return std::nullopt;
  }
  void say(std::string_view what, std::string_view says) {
    draft_.say({service_.at.file, test_.line}, fmt::format("{}: {}", service_.name, what), says);
  }
  void say_unspoken() {
    for (const Unspoken& one : kUnspoken) {
      if (test_.find(one.word)) say(one.word, one.says);
    }
  }

  [[nodiscard]] std::optional<milliseconds> timeout() const {
    const auto seconds = parse_number<std::int64_t>(test_.after("timeout"));
    if (!seconds || *seconds < 1 || *seconds > 3600) return milliseconds(5000);  // Monit's own
    return milliseconds(*seconds * 1000);
  }

  std::optional<ImportedCheck> read_ping(std::string_view how) {
    say_unspoken();
    ImportedCheck check{.name = service_.name + "-ping", .kind = "ping", .params = {}};
    check.params["host"] = service_.address;
    const auto count = parse_number<std::int64_t>(test_.after("count"));
    check.params["count"] = count && *count >= 1 && *count <= 20 ? *count : std::int64_t{3};
    check.params["warn_lost"] = 0;  // one answer is enough there
    if (how == "ping4") check.params["family"] = "ipv4";
    if (how == "ping6") check.params["family"] = "ipv6";
    check.timeout = timeout();
    return check;
  }

  std::optional<ImportedCheck> read_port() {
    const std::string port = test_.after("port");
    std::string protocol = lower(test_.after("protocol"));
    if (protocol.empty()) protocol = lower(test_.after("proto"));
    const auto* const row = std::ranges::find(kProtocols, protocol, &Protocol::name);
    std::string kind(row == kProtocols.end() ? "tcp" : row->kind);
    if (kind != "dns" && (lower(test_.after("type")) == "udp" || test_.find("udp")))
      return none("udp", "left out: a datagram shows nothing unless its protocol is known");
    const bool tls = test_.find("ssl") || test_.find("tls") || test_.find("sslauto") ||
                     lower(test_.after("type")) == "tcpssl" || test_.find("tcpssl");
    if (tls && kind == "tcp") kind = "tls";
    if (tls && kind == "http") kind = "https";
    if (row == kProtocols.end() || !row->whole) {
      say(fmt::format("protocol {}", escape_control(protocol, 32)),
          kind == "tls" ? "not spoken: the check sees only the handshake of TLS"
                        : "not spoken: the check sees only that the server accepts connections; a "
                          "check of the kind exec can run a plugin for it");
    }
    say_unspoken();
    ImportedCheck check{
        .name = fmt::format("{}-{}", service_.name, port), .kind = kind, .params = {}};
    check.timeout = timeout();
    const std::string place = host_and_port(host_, port);
    if (kind == "dns") {
      check.params = {{"name", "."}, {"type", "NS"}, {"server", place}};  // as Monit asks
      if (lower(test_.after("type")) == "tcp") check.params["tcp"] = true;
      check.params["min_answers"] = 0;
    } else if (kind == "http" || kind == "https") {
      if (!fill_http(check, place)) return std::nullopt;
    } else {
      check.params["address"] = place;
    }
    if (kind == "tls" || kind == "https") fill_tls(check);
    return check;
  }

  bool fill_http(ImportedCheck& check, const std::string& place) {
    std::string path = test_.after("request");
    if (path.empty()) path = "/";
    if (path.front() != '/') path.insert(0, "/");
    check.params["url"] = fmt::format("{}://{}{}", check.kind, place, path);
    check.params["redirects"] = 0;
    if (lower(test_.after("method")) == "head") check.params["head"] = true;
    const std::string status = test_.after("status");
    if (parse_number<int>(status)) {
      check.params["status"] = json::array{status};
    } else if (test_.find("status")) {
      say("status", "only `status = NUMBER` has a counterpart: left at 200-399");
    }
    if (test_.find("content")) fill_content(check);
    return !test_.find("headers") || fill_headers(check);
  }

  void fill_content(ImportedCheck& check) {
    const auto literal = literal_of(test_.after("content"));
    if (literal) {
      check.params["body"] = *literal;
    } else {
      say("content", "not tested: `body` is a text that the body must contain, and no expression");
    }
  }

  /// `[Host: example.org, Cache-Control: no-cache]`; the words were split at commas already.
  bool fill_headers(ImportedCheck& check) {
    std::size_t at = *test_.find("headers") + 1;
    std::string all;
    for (; at < test_.raw.size() && !all.contains(']'); ++at) all += " " + test_.raw[at];
    json::array headers;
    for (std::string_view one : split(std::string_view(all), ',')) {
      const std::string_view brackets = " []";
      const std::size_t begin = one.find_first_not_of(brackets);
      if (begin == std::string_view::npos) continue;
      one = one.substr(begin, one.find_last_not_of(brackets) + 1 - begin);
      headers.emplace_back(one);
    }
    if (!headers.empty()) check.params["header"] = std::move(headers);
    return true;
  }

  void fill_tls(ImportedCheck& check) {
    bool verify = verify_;
    for (std::size_t i = 0; i + 1 < test_.words.size(); ++i) {
      if (test_.words[i].starts_with("verify")) verify = test_.words[i + 1] == "enable";
    }
    if (!verify) check.params["verify"] = "none";  // Monit's default
    const auto valid = test_.find("valid");
    if (!valid) return;
    for (std::size_t i = *valid; i < test_.words.size() && i < *valid + 3; ++i) {
      if (const auto days = parse_number<std::int64_t>(test_.words[i]); days && *days < 3650) {
        check.params["fail_days"] = *days;
        check.params["warn_days"] = *days;
      }
    }
  }

  ImportDraft& draft_;
  const MonitService& service_;
  const MonitTest& test_;
  const bool verify_;
  std::string host_;
};

}  // namespace

std::optional<ImportedCheck> check_of_connection(ImportDraft& draft, const MonitService& service,
                                                 const MonitTest& test, bool verify) {
  return Connection(draft, service, test, verify).read();
}

}  // namespace wardmote::config
