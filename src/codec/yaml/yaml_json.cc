#include "codec/yaml/yaml_json.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>
#include <system_error>

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <istream>
#include <optional>
#include <streambuf>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/text.h"
#include "base/utf8.h"
#include "codec/exact_json.h"
#include "codec/json_keys.h"

namespace wardmote::codec {

namespace json = boost::json;

namespace {

constexpr std::size_t kShown = 64;
constexpr auto kNulls = std::to_array<std::string_view>({"", "~", "null", "Null", "NULL"});
constexpr auto kTrue = std::to_array<std::string_view>({"true", "True", "TRUE"});
constexpr auto kFalse = std::to_array<std::string_view>({"false", "False", "FALSE"});
/// Truth values of YAML 1.1 and words of YAML 1.2.
constexpr auto kAmbiguous =
    std::to_array<std::string_view>({"y", "Y", "yes", "Yes", "YES", "n", "N", "no", "No", "NO",
                                     "on", "On", "ON", "off", "Off", "OFF"});

/// Thrown through yaml-cpp to end the reading; caught in this file.
struct Stop {
  TextFault fault;
};

/// `why` quotes no value but words of YAML: numbers and what looks like a tag may be passwords.
[[noreturn]] void stop(const YAML::Mark& mark, std::string why) {
  const bool known = !mark.is_null();
  throw Stop{{known ? mark.line + 1 : 1, known ? mark.column + 1 : 1, std::move(why)}};
}

template <class Range>
bool is_one_of(std::string_view text, const Range& words) {
  return std::ranges::find(words, text) != words.end();
}

bool is_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

std::optional<json::value> integer_of(std::string_view text, int base, bool negative) {
  const auto magnitude = parse_number<std::uint64_t>(text, base);
  if (!magnitude) return std::nullopt;
  constexpr std::uint64_t kMost = std::uint64_t{1} << 63;
  if (!negative && *magnitude < kMost) return json::value(static_cast<std::int64_t>(*magnitude));
  if (!negative) return json::value(*magnitude);
  if (*magnitude > kMost) return std::nullopt;
  return json::value(static_cast<std::int64_t>(0 - *magnitude));
}

std::size_t take_digits(std::string_view& text) {
  const std::size_t count = std::min(text.find_first_not_of("0123456789"), text.size());
  text.remove_prefix(count);
  return count;
}

/// `1.5`, `-.5e3`, `6E+2`: the core schema of YAML 1.2.
bool looks_like_float(std::string_view text) {
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) text.remove_prefix(1);
  std::size_t digits = take_digits(text);
  if (!text.empty() && text.front() == '.') {
    text.remove_prefix(1);
    digits += take_digits(text);
  }
  if (digits == 0) return false;
  if (text.empty()) return true;
  if (text.front() != 'e' && text.front() != 'E') return false;
  text.remove_prefix(1);
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) text.remove_prefix(1);
  return is_digits(text);
}

json::value number_of(std::string_view text, const YAML::Mark& mark) {
  std::string_view body = text;
  const bool negative = body.front() == '-';
  if (negative || body.front() == '+') body.remove_prefix(1);
  std::optional<json::value> integer;
  if (body.starts_with("0x") || body.starts_with("0X")) {
    integer = integer_of(body.substr(2), 16, negative);
  } else if (body.starts_with("0o")) {
    integer = integer_of(body.substr(2), 8, negative);
  } else if (body.size() > 1 && body.front() == '0') {
    // File modes: `0644`. YAML 1.2 reads them as decimal, Kubernetes as octal.
    integer = integer_of(body, 8, negative);
    if (!integer) stop(mark, "this is a number to some readers and text to others; quote it");
  } else {
    integer = integer_of(body, 10, negative);
  }
  if (!integer) stop(mark, "this number is too large");
  return *std::move(integer);
}

bool looks_like_integer(std::string_view text) {
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) text.remove_prefix(1);
  if (text.starts_with("0x") || text.starts_with("0X") || text.starts_with("0o")) {
    text.remove_prefix(2);
    return !text.empty() && std::ranges::all_of(text, [](char c) {
      return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    });
  }
  return is_digits(text);
}

/// `1_000`, `0b11`, `1:30`: numbers of YAML 1.1 (yaml.org/type/int, float) and text of YAML 1.2.
bool is_number_of_1_1(std::string_view text) {
  if (text.front() == '-' || text.front() == '+') text.remove_prefix(1);
  if (text.empty() || text.front() < '0' || text.front() > '9') return false;
  const auto all_of = [&text](std::string_view chars) {
    return text.find_first_not_of(chars) == std::string_view::npos;
  };
  if (consume_prefix(text, "0b")) return !text.empty() && all_of("01_");
  if (consume_prefix(text, "0x")) return text.contains('_') && all_of("0123456789abcdefABCDEF_");
  if (text.contains('_')) return all_of("0123456789_.:");
  std::string_view rest = text;
  if (!rest.contains(':') || take_digits(rest) == 0) return false;
  while (consume_prefix(rest, ":")) {
    const std::string_view part = rest;
    const std::size_t digits = take_digits(rest);
    if (digits == 0 || digits > 2 || (digits == 2 && part.front() > '5')) return false;
  }
  return rest.empty() || (consume_prefix(rest, ".") && (take_digits(rest), rest.empty()));
}

json::value plain_value(const std::string& text, const YAML::Mark& mark) {
  if (is_one_of(text, kNulls)) return nullptr;
  if (is_one_of(text, kTrue)) return true;
  if (is_one_of(text, kFalse)) return false;
  if (is_one_of(text, kAmbiguous))
    stop(mark, fmt::format("'{}' is a truth value to some readers and text to others; write true "
                           "or false, or quote it",
                           text));
  if (looks_like_integer(text)) return number_of(text, mark);
  if (is_number_of_1_1(text))
    stop(mark, "this is a number to some readers and text to others; quote it");
  std::string_view body = text;
  if (body.front() == '-' || body.front() == '+') body.remove_prefix(1);
  if (body == ".inf" || body == ".Inf" || body == ".INF" || text == ".nan" || text == ".NaN" ||
      text == ".NAN")
    stop(mark, fmt::format("'{}' is no number that JSON can say; quote it", text));
  if (!looks_like_float(text)) return json::value(json::string(text));
  double value = 0;
  const std::string_view digits = text.front() == '+' ? std::string_view(text).substr(1) : text;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || !std::isfinite(value)) stop(mark, "this number is too large");
  return value;
}

/// Builds JSON of yaml-cpp's events: its own node type forgets places and drops keys given twice.
class JsonBuilder final : public YAML::EventHandler {
 public:
  explicit JsonBuilder(const YamlJsonLimits& limits) : limits_(limits) {}

  std::vector<JsonDocument> take() && { return std::move(documents_); }

  void OnDocumentStart(const YAML::Mark& /*mark*/) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    refuse_anchor(mark, anchor);
    put(mark, nullptr);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
    stop(mark, "aliases are not supported here; write the value out");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    refuse_anchor(mark, anchor);
    // yaml-cpp: "?" for a plain scalar, "!" for a quoted or block scalar, else the tag that was
    // written.
    if (tag != "?" && tag != "!") refuse_tag(mark);
    if (wants_key()) {
      take_key(mark, value);
      return;
    }
    put(mark, tag == "!" ? json::value(json::string(value)) : plain_value(value, mark));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    open(json::array(), mark, tag, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    open(json::object(), mark, tag, anchor);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Frame {
    json::value value;
    YAML::Mark mark;
    std::optional<std::string> key{};  ///< read, its value not yet
  };

  static void refuse_anchor(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (anchor != YAML::NullAnchor)
      stop(mark, "anchors are not supported here; write the value out");
  }
  static void refuse_tag(const YAML::Mark& mark) {
    stop(mark, "tags are not supported here; quote what begins with '!', or remove the tag");
  }

  [[nodiscard]] bool wants_key() const {
    return !stack_.empty() && stack_.back().value.is_object() && !stack_.back().key;
  }

  void take_key(const YAML::Mark& mark, const std::string& key) {
    if (key == "<<") stop(mark, "merge keys are not supported here; write the values out");
    if (stack_.back().value.get_object().contains(key))
      stop(mark, fmt::format("the key '{}' is given twice", escape_control(key, kShown)));
    stack_.back().key = key;
  }

  void open(json::value empty, const YAML::Mark& mark, const std::string& tag,
            YAML::anchor_t anchor) {
    refuse_anchor(mark, anchor);
    if (!tag.empty() && tag != "?" && tag != "!") refuse_tag(mark);
    if (wants_key()) stop(mark, "a key must be text");
    if (stack_.size() == limits_.depth)
      stop(mark, fmt::format("deeper than {} levels", limits_.depth));
    stack_.push_back({std::move(empty), mark});
  }

  void close() {
    Frame done = std::move(stack_.back());
    stack_.pop_back();
    put(done.mark, std::move(done.value));
  }

  void put(const YAML::Mark& mark, json::value value) {
    if (++values_ > limits_.values) stop(mark, fmt::format("more than {} values", limits_.values));
    if (stack_.empty()) {
      if (!value.is_null()) documents_.push_back({mark.line + 1, std::move(value)});
      return;
    }
    Frame& parent = stack_.back();
    if (json::array* const items = parent.value.if_array()) {
      items->push_back(std::move(value));
      return;
    }
    if (!parent.key) stop(mark, "a key must be text");
    parent.value.get_object().emplace(*parent.key, std::move(value));
    parent.key.reset();
  }

  const YamlJsonLimits& limits_;
  std::vector<JsonDocument> documents_;
  std::vector<Frame> stack_;
  std::size_t values_ = 0;
};

/// Reads a view without copying it, and an empty comment behind its last line: yaml-cpp takes a
/// quoted text that the end of a line cuts off for a whole one, but not where a comment would be in
/// it.
class ViewBuffer final : public std::streambuf {
 public:
  explicit ViewBuffer(std::string_view bytes) : ended_(!bytes.ends_with('\n')) {
    char* const begin = const_cast<char*>(bytes.data());  // a get area is never written to
    setg(begin, begin, begin + bytes.size());
  }

 protected:
  int_type underflow() override {
    if (std::exchange(ended_, true)) return traits_type::eof();
    setg(&comment_, &comment_, &comment_ + 1);
    return traits_type::to_int_type(comment_);
  }

 private:
  char comment_ = '#';
  bool ended_;
};

TextFault fault_at(std::string_view bytes, std::size_t offset, std::string why) {
  const std::string_view before = bytes.substr(0, std::min(offset, bytes.size()));
  const auto lines = std::ranges::count(before, '\n');
  const std::size_t line = before.rfind('\n');
  const std::size_t column =
      line == std::string_view::npos ? before.size() : before.size() - line - 1;
  return {static_cast<int>(lines) + 1, static_cast<int>(column) + 1, std::move(why)};
}

std::optional<TextFault> check_bytes(std::string_view bytes, const YamlJsonLimits& limits) {
  if (bytes.size() > limits.bytes)
    return TextFault{1, 1, fmt::format("{} bytes, more than {}", bytes.size(), limits.bytes)};
  // yaml-cpp takes U+0004 for the end of the file, guesses UTF-16 from zero bytes, which would hide
  // what follows, and passes on what is not UTF-8, which no reader of JSON takes.
  const std::size_t at = find_non_text(bytes);
  if (at == std::string_view::npos) return std::nullopt;
  return fault_at(
      bytes, at,
      fmt::format("byte 0x{:02x} is no text in UTF-8", static_cast<unsigned char>(bytes[at])));
}

}  // namespace

std::expected<std::vector<JsonDocument>, TextFault> read_yaml(std::string_view bytes,
                                                              const YamlJsonLimits& limits) {
  if (auto fault = check_bytes(bytes, limits)) return std::unexpected(*std::move(fault));
  JsonBuilder builder(limits);
  try {
    ViewBuffer buffer(bytes);
    std::istream stream(&buffer);
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (Stop& stopped) {
    return std::unexpected(std::move(stopped.fault));
  } catch (const YAML::Exception& error) {
    const bool known = !error.mark.is_null();
    return std::unexpected(TextFault{known ? error.mark.line + 1 : 1,
                                     known ? error.mark.column + 1 : 1, escape_control(error.msg)});
  }
  return std::move(builder).take();
}

std::expected<JsonDocument, TextFault> read_json(std::string_view bytes,
                                                 const YamlJsonLimits& limits) {
  if (auto fault = check_bytes(bytes, limits)) return std::unexpected(*std::move(fault));
  ExactJson read = read_exact_json(bytes, limits.depth);
  if (read.error) return std::unexpected(fault_at(bytes, read.used, read.error.message()));
  const std::string_view rest = bytes.substr(read.used);
  if (!trim(rest).empty())
    return std::unexpected(fault_at(bytes, bytes.size() - rest.size(), "more than one JSON value"));
  if (const auto twice = place_of_key_given_twice(bytes))
    return std::unexpected(fault_at(bytes, *twice, "this key is given twice"));
  return JsonDocument{1, std::move(read.value)};
}

}  // namespace wardmote::codec
