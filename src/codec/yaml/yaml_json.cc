#include "codec/yaml/yaml_json.h"

#include <yaml.h>

#include <algorithm>
#include <array>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <expected>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/text.h"
#include "base/utf8.h"
#include "codec/exact_json.h"
#include "codec/json_keys.h"
#include "codec/yaml/plain_scalar.h"

namespace wardmote::codec {

namespace json = boost::json;

namespace {

constexpr std::size_t kShown = 64;
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

TextFault fault_at(const yaml_mark_t& mark, std::string why) {
  return {static_cast<int>(mark.line) + 1, static_cast<int>(mark.column) + 1, std::move(why)};
}

TextFault fault_at(std::string_view bytes, std::size_t offset, std::string why) {
  const std::string_view before = bytes.substr(0, std::min(offset, bytes.size()));
  const auto lines = std::ranges::count(before, '\n');
  const std::size_t line = before.rfind('\n');
  const std::size_t column =
      line == std::string_view::npos ? before.size() : before.size() - line - 1;
  return {static_cast<int>(lines) + 1, static_cast<int>(column) + 1, std::move(why)};
}

/// The events of a text, from libyaml: the reader that go-yaml 2, which kubectl has, was translated
/// from. Both have YAML 1.1, so U+0085, U+2028 and U+2029 end a line.
class EventReader {
 public:
  explicit EventReader(std::string_view bytes) : bytes_(bytes) {
    if (yaml_parser_initialize(&parser_) == 0) throw std::bad_alloc();
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(bytes.data()),
                                 bytes.size());
  }
  ~EventReader() {
    yaml_event_delete(&event_);
    yaml_parser_delete(&parser_);
  }
  EventReader(const EventReader&) = delete;
  EventReader& operator=(const EventReader&) = delete;

  /// Valid until the next call.
  std::expected<const yaml_event_t*, TextFault> next() {
    yaml_event_delete(&event_);
    if (yaml_parser_parse(&parser_, &event_) != 0) return &event_;
    return std::unexpected(fault());
  }

 private:
  [[nodiscard]] TextFault fault() const {
    if (parser_.error == YAML_MEMORY_ERROR) throw std::bad_alloc();
    if (parser_.error == YAML_READER_ERROR)
      return fault_at(bytes_, parser_.problem_offset, parser_.problem);
    std::string why;
    if (parser_.context != nullptr) {
      const yaml_mark_t& from = parser_.context_mark;
      why = fmt::format("{} from {}:{}: ", parser_.context, from.line + 1, from.column + 1);
    }
    return fault_at(parser_.problem_mark, why + parser_.problem);
  }

  const std::string_view bytes_;
  yaml_parser_t parser_{};
  yaml_event_t event_{};
};

/// What stands at a mark, which counts characters.
class MarkedText {
 public:
  explicit MarkedText(std::string_view bytes) : rest_(bytes) {
    consume_prefix(rest_, kByteOrderMark);
  }

  /// Marks may only grow from one call to the next.
  bool has(char wanted, const yaml_mark_t& mark) {
    for (; index_ < mark.index && !rest_.empty(); ++index_)
      rest_.remove_prefix(std::max<std::size_t>(decode_utf8(rest_).length, 1));
    return index_ == mark.index && rest_.starts_with(wanted);
  }

 private:
  std::string_view rest_;
  std::size_t index_ = 0;
};

/// Builds JSON of events. Each function says what is wrong, if anything is.
class JsonBuilder {
 public:
  JsonBuilder(std::string_view bytes, const YamlJsonLimits& limits)
      : text_(bytes), limits_(limits) {}

  std::vector<JsonDocument> take() && { return std::move(documents_); }

  std::optional<TextFault> add(const yaml_event_t& event) {
    const yaml_mark_t& mark = event.start_mark;
    switch (event.type) {
      case YAML_ALIAS_EVENT:
        return fault_at(mark, "aliases are not supported here; write the value out");
      case YAML_SCALAR_EVENT: return add_scalar(event);
      case YAML_SEQUENCE_START_EVENT: {
        const auto& list = event.data.sequence_start;
        if (auto fault = fault_of_properties(mark, list.anchor, list.tag)) return fault;
        return open(json::array(), mark, list.style == YAML_FLOW_SEQUENCE_STYLE);
      }
      case YAML_MAPPING_START_EVENT: {
        const auto& map = event.data.mapping_start;
        if (auto fault = fault_of_properties(mark, map.anchor, map.tag)) return fault;
        return open(json::object(), mark, map.style == YAML_FLOW_MAPPING_STYLE);
      }
      case YAML_SEQUENCE_END_EVENT:
      case YAML_MAPPING_END_EVENT: return close();
      default: return std::nullopt;
    }
  }

 private:
  struct Frame {
    json::value value;
    yaml_mark_t mark;
    bool flow;                         ///< written in brackets
    std::optional<std::string> key{};  ///< read, its value not yet
  };

  static TextFault fault_of_tag(const yaml_mark_t& mark) {
    return fault_at(mark,
                    "tags are not supported here; quote what begins with '!', or remove the tag");
  }

  static std::optional<TextFault> fault_of_properties(const yaml_mark_t& mark,
                                                      const yaml_char_t* anchor,
                                                      const yaml_char_t* tag) {
    if (anchor != nullptr)
      return fault_at(mark, "anchors are not supported here; write the value out");
    if (tag != nullptr) return fault_of_tag(mark);
    return std::nullopt;
  }

  std::optional<TextFault> add_scalar(const yaml_event_t& event) {
    const yaml_mark_t& mark = event.start_mark;
    const auto& scalar = event.data.scalar;
    const bool plain = scalar.style == YAML_PLAIN_SCALAR_STYLE;
    const std::string_view text(reinterpret_cast<const char*>(scalar.value), scalar.length);
    if (auto fault = fault_of_properties(mark, scalar.anchor, scalar.tag)) return fault;
    // libyaml takes a tag `!` for the absence of quotes, and does not name it.
    if (plain ? text_.has('!', mark) : scalar.plain_implicit != 0) return fault_of_tag(mark);
    // libyaml reads `[a?b]` since 0.2.5; go-yaml ends the plain scalar there.
    if (plain && !stack_.empty() && stack_.back().flow && text.contains('?'))
      return fault_at(mark, "'?' has a meaning of its own in brackets; quote this text");
    if (wants_key()) return take_key(mark, text, plain);
    if (!plain) return put(mark, json::string(text));
    auto value = plain_value(text);
    if (!value) return fault_at(mark, std::move(value).error());
    return put(mark, *std::move(value));
  }

  [[nodiscard]] bool wants_key() const {
    return !stack_.empty() && stack_.back().value.is_object() && !stack_.back().key;
  }

  std::optional<TextFault> take_key(const yaml_mark_t& mark, std::string_view key, bool plain) {
    if (key == "<<")
      return fault_at(mark, "merge keys are not supported here; write the values out");
    if (plain) {
      if (auto why = fault_of_plain_key(key)) return fault_at(mark, *std::move(why));
    }
    if (stack_.back().value.get_object().contains(key))
      return fault_at(mark,
                      fmt::format("the key '{}' is given twice", escape_control(key, kShown)));
    stack_.back().key = key;
    return std::nullopt;
  }

  std::optional<TextFault> open(json::value empty, const yaml_mark_t& mark, bool flow) {
    if (wants_key()) return fault_at(mark, "a key must be text");
    if (stack_.size() == limits_.depth)
      return fault_at(mark, fmt::format("deeper than {} levels", limits_.depth));
    stack_.push_back({std::move(empty), mark, flow});
    return std::nullopt;
  }

  std::optional<TextFault> close() {
    Frame done = std::move(stack_.back());
    stack_.pop_back();
    return put(done.mark, std::move(done.value));
  }

  std::optional<TextFault> put(const yaml_mark_t& mark, json::value value) {
    if (++values_ > limits_.values)
      return fault_at(mark, fmt::format("more than {} values", limits_.values));
    if (stack_.empty()) {
      if (!value.is_null())
        documents_.push_back({static_cast<int>(mark.line) + 1, std::move(value)});
      return std::nullopt;
    }
    Frame& parent = stack_.back();
    if (json::array* const items = parent.value.if_array()) {
      items->push_back(std::move(value));
      return std::nullopt;
    }
    parent.value.get_object().emplace(*parent.key, std::move(value));
    parent.key.reset();
    return std::nullopt;
  }

  MarkedText text_;
  const YamlJsonLimits& limits_;
  std::vector<JsonDocument> documents_;
  std::vector<Frame> stack_;
  std::size_t values_ = 0;
};

std::optional<TextFault> check_bytes(std::string_view bytes, const YamlJsonLimits& limits) {
  if (bytes.size() > limits.bytes)
    return TextFault{1, 1, fmt::format("{} bytes, more than {}", bytes.size(), limits.bytes)};
  // libyaml takes a text that begins with FF FE for UTF-16, which would hide what follows.
  const std::size_t at = find_non_text(bytes);
  if (at == std::string_view::npos) return std::nullopt;
  return fault_at(
      bytes, at,
      fmt::format("byte 0x{:02x} is no text in UTF-8", static_cast<unsigned char>(bytes[at])));
}

bool begins_line(std::string_view bytes, std::size_t at) {
  constexpr auto kLineEnds =
      std::to_array<std::string_view>({"\n", "\r", "\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9"});
  const std::string_view before = bytes.substr(0, at);
  if (before.empty() || before == kByteOrderMark) return true;
  return std::ranges::any_of(kLineEnds,
                             [before](std::string_view end) { return before.ends_with(end); });
}

/// What no line may begin with.
std::optional<TextFault> check_lines(std::string_view bytes) {
  struct Rule {
    std::string_view text;
    std::size_t from;
    const char* why;
  };
  constexpr auto kRules = std::to_array<Rule>({
      // libyaml leaves it out there, and go-yaml takes it for text.
      {kByteOrderMark, 1, "a byte order mark (U+FEFF) begins a line; remove it"},
      // libyaml compares each with all before: minutes for a megabyte.
      {"%TAG", 0, "tags are not supported here; remove the line"},
  });
  for (const Rule& rule : kRules) {
    for (std::size_t at = bytes.find(rule.text, rule.from); at != std::string_view::npos;
         at = bytes.find(rule.text, at + 1)) {
      if (begins_line(bytes, at)) return fault_at(bytes, at, rule.why);
    }
  }
  return std::nullopt;
}

}  // namespace

std::expected<std::vector<JsonDocument>, TextFault> read_yaml(std::string_view bytes,
                                                              const YamlJsonLimits& limits) {
  if (auto fault = check_bytes(bytes, limits)) return std::unexpected(*std::move(fault));
  if (auto fault = check_lines(bytes)) return std::unexpected(*std::move(fault));
  // So does kubectl before it reads: a block scalar in the last line has its line end.
  std::string ended;
  if (!bytes.ends_with('\n')) {
    ended.assign(bytes).push_back('\n');
    bytes = ended;
  }
  EventReader events(bytes);
  JsonBuilder builder(bytes, limits);
  while (true) {
    const auto event = events.next();
    if (!event) return std::unexpected(event.error());
    if ((*event)->type == YAML_STREAM_END_EVENT) return std::move(builder).take();
    if (auto fault = builder.add(**event)) return std::unexpected(*std::move(fault));
  }
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
