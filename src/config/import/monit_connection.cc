#include "config/import/monit_connection.h"

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/format.h"
#include "base/text.h"
#include "codec/monit_control.h"
#include "config/import/draft.h"
#include "config/import/monit_limits.h"
#include "config/import/monit_service.h"
#include "config/import/text.h"

namespace wardmote::config {
namespace {

namespace json = boost::json;
using std::chrono::milliseconds;

/// What Monit speaks, and the kind of check that is nearest. What is not in it is `tcp`; `mysqls`,
/// too, which begins TLS within its own protocol.
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
    {"ntp3", "udp", false},
});

/// A word of a test of connections, and what is said where it stands.
struct Word {
  std::string_view word;
  std::size_t values;     ///< words behind it, besides comparisons
  std::string_view says;  ///< empty: it is translated, or nothing is lost
};
constexpr std::string_view kUnplayed =
    "not played: the check sees only that the server accepts connections";
constexpr std::string_view kFamily =
    "the address family is chosen by the resolver: write an address";
constexpr std::string_view kTlsVersion = "not tested: TLS 1.2 and later are spoken";
constexpr auto kWords = std::to_array<Word>({
    {"failed", 0, ""},
    {"host", 1, ""},
    {"port", 1, ""},
    {"type", 1, ""},
    {"tcp", 0, ""},
    {"udp", 0, ""},
    {"protocol", 1, ""},
    {"proto", 1, ""},
    {"timeout", 1, ""},
    {"second", 0, ""},
    {"seconds", 0, ""},
    {"ping", 0, ""},
    {"ping4", 0, ""},
    {"ping6", 0, ""},
    {"icmp", 0, ""},
    {"count", 1, ""},
    {"size", 1, "no counterpart: the probe sends plain echo requests"},
    {"address", 1, "no counterpart: the system chooses the source address"},
    {"ipv4", 0, kFamily},
    {"ipv6", 0, kFamily},
    {"responsetime", 2, "not tested: the time of each probe is in the metrics"},
    {"retry", 1, ""},
    {"request", 1, ""},
    {"method", 1, ""},
    {"status", 1, ""},
    {"content", 1, ""},
    {"checksum", 1, "not tested: no checksum is computed"},
    {"http", 0, ""},
    {"headers", 0, ""},
    {"hostheader", 1, ""},
    {"send", 1, kUnplayed},
    {"expect", 1, kUnplayed},
    {"certificate", 0, ""},
    {"valid", 1, ""},
    {"day", 0, ""},
    {"days", 0, ""},
    {"ssl", 0, ""},
    {"tls", 0, ""},
    {"sslauto", 0, ""},
    {"tcpssl", 0, ""},
    {"options", 0, ""},
    {"verify", 1, ""},
    {"verify:", 1, ""},
    {"selfsigned:", 1, ""},
    {"pemfile:", 1, ""},
    {"clientpemfile:", 1, ""},
    {"cacertificatefile:", 1, ""},
    {"cacertificatepath:", 1, ""},
    {"version:", 1, kTlsVersion},
    {"ciphers:", 1, kTlsVersion},
    {"checksum:", 1, "not tested: no checksum is computed"},
    {"{", 0, ""},
    {"}", 0, ""},
    {",", 0, ""},
});

class Connection {
 public:
  Connection(ImportDraft& draft, const MonitService& service, const MonitTest& test,
             const MonitDefaults& defaults)
      : draft_(draft), service_(service), test_(test), defaults_(defaults), tls_(defaults.tls) {
    host_ = test.find("host") ? test.after("host")
                              : (service.type == "host" ? service.address : "localhost");
    read_monit_tls(test.raw, tls_);
  }

  std::optional<ImportedCheck> read() {
    auto check = read_kind();
    if (!check) return std::nullopt;
    // Monit asks again at once; here that many looks in a row must fail.
    const auto retry = parse_number<int>(test_.after("retry"));
    check->fall = std::max(test_.cycles.value_or(1), retry.value_or(1));
    check->rise = test_.recovery.value_or(1);
    return check;
  }

 private:
  std::optional<ImportedCheck> read_kind() {
    if (!test_.words.empty() && test_.words.front() == "succeeded")
      return none("succeeded", "left out: no check fails because a server answers");
    for (const std::string_view word : {"username", "user", "password", "secret"}) {
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

  std::nullopt_t none(std::string_view what, std::string_view says) {
    say(what, says);
    return std::nullopt;
  }
  void say(std::string_view what, std::string_view says) {
    draft_.say({service_.at.file, test_.line}, fmt::format("{}: {}", service_.name, what), says);
  }

  /// Every word that changes what is asked or expected, and has no counterpart. `all`: also words
  /// that are not known; those of a protocol that is not spoken are not.
  void say_words(bool all) {
    bool unknown = false;
    for (std::size_t i = 0; i < test_.words.size(); ++i) {
      const std::string& word = test_.words[i];
      const auto* const row = std::ranges::find(kWords, word, &Word::word);
      if (row == kWords.end()) {
        unknown = unknown || monit_sign(word).empty();
        continue;
      }
      if (!row->says.empty()) say(row->word.substr(0, row->word.find(':')), row->says);
      if (word == "headers") {
        while (i + 1 < test_.raw.size() && !test_.raw[i].text.contains(']')) ++i;
      }
      for (std::size_t left = row->values; left > 0 && i + 1 < test_.words.size(); --left) {
        while (i + 2 < test_.words.size() && !monit_sign(test_.words[i + 1]).empty()) ++i;
        ++i;
      }
    }
    if (unknown && all) say("a word", "no word of a test that is known: not tested");
  }

  [[nodiscard]] milliseconds timeout() const {
    const auto seconds = parse_number<std::int64_t>(test_.after("timeout"));
    if (!seconds || *seconds < 1 || *seconds > 3600) return defaults_.network;
    return milliseconds(*seconds * 1000);
  }

  std::optional<ImportedCheck> read_ping(std::string_view how) {
    say_words(true);
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
    const auto kind = kind_of(row == kProtocols.end() ? "tcp" : row->kind);
    if (!kind) return std::nullopt;
    const bool whole = row != kProtocols.end() && row->whole;
    if (!whole) {
      say(fmt::format("protocol {}", escape_control(protocol, 32)),
          kind == "tls" ? "not spoken: the check sees only the handshake of TLS"
                        : "not spoken: the check sees only that the server accepts connections; a "
                          "check of the kind exec can run a plugin for it");
    }
    say_words(whole);
    ImportedCheck check{.name = fmt::format("{}-{}", service_.name, port),
                        .kind = std::string(*kind),
                        .params = {}};
    check.timeout = timeout();
    if (!fill(check, host_and_port(host_, port))) return std::nullopt;
    return check;
  }

  [[nodiscard]] bool is_udp() const {
    return lower(test_.after("type")) == "udp" || test_.find("udp");
  }

  /// With the transport that the test names. Nothing, after a note: no probe uses that one.
  std::optional<std::string_view> kind_of(std::string_view kind) {
    if (kind == "udp" || (is_udp() && kind != "dns"))
      return none("udp", "left out: a datagram shows nothing unless its protocol is known");
    const bool tls = test_.find("ssl") || test_.find("tls") || test_.find("sslauto") ||
                     lower(test_.after("type")) == "tcpssl" || test_.find("tcpssl");
    if (!tls) return kind;
    if (kind == "dns") return none("dns", "left out: the probe speaks no DNS over TLS");
    return kind == "http" ? "https" : kind == "tcp" ? "tls" : kind;
  }

  bool fill(ImportedCheck& check, const std::string& place) {
    const bool web = check.kind == "http" || check.kind == "https";
    if (check.kind == "dns") {
      check.params = {{"name", "."}, {"type", "NS"}, {"server", place}};  // as Monit asks
      if (!is_udp()) check.params["tcp"] = true;
      check.params["min_answers"] = 0;
    } else if (!web) {
      check.params["address"] = place;
    } else if (!fill_http(check, place)) {
      return false;
    }
    return (check.kind != "tls" && check.kind != "https") || fill_tls(check);
  }

  bool fill_http(ImportedCheck& check, const std::string& place) {
    std::string path = test_.after("request");
    if (path.empty()) path = "/";
    if (path.front() != '/') path.insert(0, "/");
    check.params["url"] = fmt::format("{}://{}{}", check.kind, place, path);
    check.params["redirects"] = 0;
    if (lower(test_.after("method")) == "head") check.params["head"] = true;
    if (test_.find("status") && !fill_status(check)) return false;
    if (test_.find("content")) fill_content(check);
    fill_headers(check);
    return true;
  }

  /// The sign behind a keyword: `=` where none is written.
  [[nodiscard]] std::pair<std::string_view, std::size_t> sign_after(std::string_view word) const {
    const std::size_t next = test_.find(word).value_or(test_.words.size()) + 1;
    if (next >= test_.words.size()) return {"=", next};
    const std::string_view sign = monit_sign(test_.words[next]);
    return sign.empty() ? std::pair(std::string_view("="), next) : std::pair(sign, next + 1);
  }

  bool fill_status(ImportedCheck& check) {
    const auto [sign, place] = sign_after("status");
    const auto number =
        place < test_.words.size() ? parse_number<std::int64_t>(test_.words[place]) : std::nullopt;
    json::array good;
    for (const std::string& one : monit_statuses(sign, number.value_or(-1))) good.emplace_back(one);
    if (good.empty()) {
      say("status", "left out: no status would be good");
      return false;
    }
    check.params["status"] = std::move(good);
    return true;
  }

  void fill_content(ImportedCheck& check) {
    const auto [sign, place] = sign_after("content");
    const auto literal =
        place < test_.raw.size() && sign == "=" ? literal_of(test_.raw[place].text) : std::nullopt;
    if (!literal)
      return say("content",
                 "not tested: `body` is a text that the body must contain, and no expression");
    check.params["body"] = *literal;
    draft_.say("content: the text must be in the first 64 KiB of the body; there in the first MB");
  }

  /// `hostheader "example.org"`, and `http headers [Host: example.org, X-One: "a, b"]`.
  void fill_headers(ImportedCheck& check) const {
    json::array headers;
    const std::string host = test_.after("hostheader");
    if (!host.empty()) headers.emplace_back("Host: " + host);
    const auto begin = test_.find("headers");
    std::string one;
    const auto end_header = [&] {
      const std::string_view text = trim(one);
      const std::size_t colon = std::min(text.find(':'), text.size());
      if (!text.empty())
        headers.emplace_back(fmt::format("{}: {}", trim(text.substr(0, colon)),
                                         trim(text.substr(std::min(colon + 1, text.size())))));
      one.clear();
    };
    for (std::size_t i = begin.value_or(test_.raw.size()) + 1; i < test_.raw.size(); ++i) {
      const codec::MonitWord& word = test_.raw[i];
      std::string_view text = word.text;
      if (!word.quoted() && text == ",") {
        end_header();
        continue;
      }
      bool last = false;
      if (!word.quoted()) {
        if (text.starts_with('[')) text.remove_prefix(1);
        last = text.ends_with(']');
        if (last) text.remove_suffix(1);
      }
      one += (word.glued ? "" : " ") + std::string(text);
      if (last) break;
    }
    end_header();
    if (!headers.empty()) check.params["header"] = std::move(headers);
  }

  bool fill_tls(ImportedCheck& check) {
    if (tls_.client) {
      say("ssl options",
          "left out: it shows a certificate of its own, which is not copied: write a check with "
          "tls_certificate and tls_key");
      return false;
    }
    if (tls_.verify && tls_.folder) {
      say("ssl options", "left out: `tls_ca` is a file of authorities, and no folder");
      return false;
    }
    if (!tls_.verify || tls_.selfsigned) {
      check.params["verify"] = "none";
      draft_.say("TLS: a certificate that has expired is a failure even with `verify: none`");
      if (tls_.verify)
        say("ssl options", "selfsigned: not tested: who signed a certificate, so that any is good");
    } else if (!tls_.ca.empty()) {
      check.params["tls_ca"] = tls_.ca;
    }
    const auto valid = test_.find("valid");
    for (std::size_t i = valid.value_or(test_.words.size());
         valid && i < test_.words.size() && i < *valid + 3; ++i) {
      if (const auto days = parse_number<std::int64_t>(test_.words[i]); days && *days < 3650) {
        check.params["fail_days"] = *days;
        check.params["warn_days"] = *days;
      }
    }
    return true;
  }

  ImportDraft& draft_;
  const MonitService& service_;
  const MonitTest& test_;
  const MonitDefaults& defaults_;
  MonitTls tls_;
  std::string host_;
};

}  // namespace

void read_monit_tls(std::span<const codec::MonitWord> words, MonitTls& tls) {
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const std::string word = words[i].quoted() ? std::string() : lower(words[i].text);
    const std::string& value = words[i + 1].text;
    if (word.starts_with("verify")) tls.verify = lower(value) == "enable";
    if (word == "selfsigned:") tls.selfsigned = lower(value) == "allow";
    if (word == "pemfile:" || word == "clientpemfile:") tls.client = true;
    if (word == "cacertificatefile:") tls.ca = value;
    if (word == "cacertificatepath:") tls.folder = true;
  }
}

std::optional<ImportedCheck> check_of_connection(ImportDraft& draft, const MonitService& service,
                                                 const MonitTest& test,
                                                 const MonitDefaults& defaults) {
  return Connection(draft, service, test, defaults).read();
}

}  // namespace wardmote::config
