#include "config/import/nagios_native.h"

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/text.h"
#include "config/import/text.h"

namespace wardmote::config {
namespace {

namespace json = boost::json;
using std::chrono::milliseconds;

/// What the options say; a letter each.
using Options = std::map<char, std::string>;

struct LongName {
  std::string_view name;
  char letter;
};
constexpr auto kLongNames = std::to_array<LongName>({{"hostname", 'H'},
                                                     {"port", 'p'},
                                                     {"timeout", 't'},
                                                     {"warning", 'w'},
                                                     {"critical", 'c'},
                                                     {"packets", 'p'},
                                                     {"IP-address", 'I'},
                                                     {"url", 'u'},
                                                     {"uri", 'u'},
                                                     {"expect", 'e'},
                                                     {"string", 's'},
                                                     {"query_address", 'l'},
                                                     {"record_type", 'T'},
                                                     {"use-ipv4", '4'},
                                                     {"use-ipv6", '6'}});

struct Option {
  char letter = 0;
  std::optional<std::string> value;  ///< in the same word
};

/// Nothing: it is no option, or a long one that is not known.
std::optional<Option> option_of(std::string_view word) {
  if (consume_prefix(word, "--")) {
    const bool has_value = word.contains('=');
    const std::string_view name = take_until(word, '=');
    const auto* const row = std::ranges::find(kLongNames, name, &LongName::name);
    if (row == kLongNames.end()) return std::nullopt;
    return Option{row->letter, has_value ? std::optional<std::string>(word) : std::nullopt};
  }
  if (word.size() < 2 || word[0] != '-') return std::nullopt;
  if (word.size() == 2) return Option{word[1], std::nullopt};
  return Option{word[1], std::string(word.substr(2))};
}

/// By getopt(3). Nothing when one is not among `known` (`4` and `6` have no value), is given twice,
/// or a word is no option.
std::optional<Options> read_options(const std::vector<std::string>& argv, std::string_view known) {
  Options options;
  for (std::size_t i = 1; i < argv.size(); ++i) {
    auto option = option_of(argv[i]);
    if (!option || !known.contains(option->letter)) return std::nullopt;
    const bool is_flag = option->letter == '4' || option->letter == '6';
    if (is_flag && option->value) return std::nullopt;
    if (!is_flag && !option->value) {
      if (++i == argv.size()) return std::nullopt;
      option->value = argv[i];
    }
    if (!options.emplace(option->letter, option->value.value_or("")).second) return std::nullopt;
  }
  return options;
}

std::string get(const Options& options, char letter, std::string_view otherwise = "") {
  const auto found = options.find(letter);
  return found == options.end() ? std::string(otherwise) : found->second;
}

std::optional<milliseconds> patience_of(const Options& options) {
  const auto seconds = parse_number<std::int64_t>(get(options, 't', "10"));
  if (!seconds || *seconds < 1 || *seconds > 3600) return std::nullopt;
  return milliseconds(*seconds * 1000);
}

struct PingLimit {
  milliseconds rtt{};
  std::int64_t lost = 0;  ///< per cent
};

/// `100.0,20%`.
std::optional<PingLimit> ping_limit(std::string_view text) {
  std::string_view rtt = take_until(text, ',');
  const auto whole = parse_number<std::int64_t>(take_until(rtt, '.'));
  if (!whole || *whole < 0 || *whole > 600'000 ||
      rtt.find_first_not_of('0') != std::string_view::npos)
    return std::nullopt;
  if (text.ends_with('%')) text.remove_suffix(1);
  const auto lost = parse_number<std::int64_t>(text);
  if (!lost || *lost < 1 || *lost > 100) return std::nullopt;
  return PingLimit{milliseconds(*whole), *lost};
}

std::optional<NativeProbe> ping(const std::vector<std::string>& argv) {
  const auto options = read_options(argv, "Hwcpt46");
  if (!options) return std::nullopt;
  const auto warn = ping_limit(get(*options, 'w'));
  const auto fail = ping_limit(get(*options, 'c'));
  const auto count = parse_number<std::int64_t>(get(*options, 'p', "5"));
  const auto patience = patience_of(*options);
  // A probe of ours fails when every answer is lost, and not before.
  if (!warn || !fail || fail->lost < 100 || !count || *count < 1 || *count > 20 || !patience)
    return std::nullopt;
  NativeProbe probe{"ping", {}, *patience};
  probe.params["host"] = get(*options, 'H');
  probe.params["count"] = *count;
  if (options->contains('4') != options->contains('6'))
    probe.params["family"] = options->contains('4') ? "ipv4" : "ipv6";
  probe.params["warn_lost"] = (warn->lost * *count + 99) / 100;
  probe.params["warn_rtt"] = spell(warn->rtt);
  probe.params["fail_rtt"] = spell(fail->rtt);
  return probe;
}

std::optional<NativeProbe> tcp(const std::vector<std::string>& argv) {
  const auto options = read_options(argv, "Hpt");
  if (!options || !options->contains('p')) return std::nullopt;
  const auto patience = patience_of(*options);
  if (!patience) return std::nullopt;
  NativeProbe probe{"tcp", {}, *patience};
  probe.params["address"] = host_and_port(get(*options, 'H', "127.0.0.1"), get(*options, 'p'));
  return probe;
}

/// `200,301`: nothing for other texts that a status line may contain.
std::optional<json::array> statuses_of(std::string_view text) {
  json::array statuses;
  for (const std::string_view one : split(text, ',')) {
    const auto status = parse_number<int>(one);
    if (one.size() != 3 || !status || *status < 100) return std::nullopt;
    statuses.emplace_back(one);
  }
  return statuses;
}

/// Without `-e` it warns of 4xx, which no probe of ours does.
std::optional<NativeProbe> http(const std::vector<std::string>& argv) {
  const auto options = read_options(argv, "HIpuest");
  if (!options || !options->contains('e')) return std::nullopt;
  const auto statuses = statuses_of(get(*options, 'e'));
  const auto patience = patience_of(*options);
  const std::string host = get(*options, 'H');
  const std::string address = get(*options, 'I', host);
  if (!statuses || !patience || address.empty()) return std::nullopt;
  const std::string path = get(*options, 'u', "/");
  if (!path.starts_with('/')) return std::nullopt;
  NativeProbe probe{"http", {}, *patience};
  const std::string port = get(*options, 'p', "80");
  probe.params["url"] = fmt::format("http://{}{}", host_and_port(address, port), path);
  probe.params["status"] = *statuses;
  probe.params["redirects"] = 0;
  if (options->contains('s')) probe.params["body"] = get(*options, 's');
  // The plugin names the port, too, where it is not that of HTTP.
  if (!host.empty() && host != address)
    probe.params["header"] =
        json::array{"Host: " + (port == "80" ? host : host_and_port(host, port))};
  return probe;
}

std::optional<NativeProbe> dig(const std::vector<std::string>& argv) {
  const auto options = read_options(argv, "lHpTt");
  if (!options || !options->contains('l')) return std::nullopt;
  const auto patience = patience_of(*options);
  if (!patience) return std::nullopt;
  NativeProbe probe{"dns", {}, *patience};
  probe.params["name"] = get(*options, 'l');
  probe.params["type"] = get(*options, 'T', "A");
  probe.params["server"] = host_and_port(get(*options, 'H', "127.0.0.1"), get(*options, 'p', "53"));
  return probe;
}

struct Row {
  std::string_view plugin;
  std::optional<NativeProbe> (*read)(const std::vector<std::string>& argv);
};
constexpr auto kRows = std::to_array<Row>(
    {{"check_ping", ping}, {"check_tcp", tcp}, {"check_http", http}, {"check_dig", dig}});

}  // namespace

std::optional<NativeProbe> native_probe(const std::vector<std::string>& argv) {
  if (argv.empty()) return std::nullopt;
  const std::string_view base = std::string_view(argv[0]).substr(argv[0].rfind('/') + 1);
  const auto* const row = std::ranges::find(kRows, base, &Row::plugin);
  return row == kRows.end() ? std::nullopt : row->read(argv);
}

}  // namespace wardmote::config
