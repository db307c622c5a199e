#include "act/notify/template.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <expected>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"

namespace wardmote::act::notify {

namespace json = boost::json;

namespace {

constexpr std::size_t kMostBytes = 1 << 20;
constexpr std::size_t kDeepest = 8;
constexpr std::string_view kOpenMark = "{{";
constexpr std::string_view kCloseMark = "}}";
constexpr std::string_view kLabelPrefix = "labels.";
constexpr std::string_view kItself = ".";

/// As payload.h shows them.
constexpr std::string_view kNoticeFields[] = {"version", "key",     "receiver", "group",
                                              "number",  "repeats", "status",   "severity",
                                              "title",   "labels",  "left_out", "incidents"};
constexpr std::string_view kIncidentFields[] = {
    "id",          "revision",        "kind",   "phase",    "code",     "severity", "root",
    "summary",     "labels",          "names",  "symptoms", "flapping", "storm",    "reopened",
    "merged_into", "acknowledged_by", "opened", "since",    "resolved"};
constexpr std::string_view kPlaceFields[] = {"first", "last"};
constexpr std::string_view kIncidents = "incidents";
constexpr std::string_view kNames = "names";

struct Node {
  enum class Kind : unsigned char { kText, kField, kSection, kUnless } kind = Kind::kText;
  std::string_view text = {};                   ///< of a text; else the name of the field
  std::optional<std::string_view> wanted = {};  ///< the value after `=`
  std::vector<Node> inner = {};
};

bool one_of(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

/// Reads a template. The fields that a name may be depend on the lists around it.
class Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) {}

  Result<std::vector<Node>> run() {
    auto nodes = read({});
    if (nodes && !rest_.empty()) {
      return fail(Errc::kInvalid, "{{{{/{}}}}} closes nothing", shown(closing_));
    }
    return nodes;
  }

 private:
  static std::string shown(std::string_view name) { return escape_control(name, 64); }

  [[nodiscard]] bool inside(std::string_view list) const { return one_of(lists_, list); }

  [[nodiscard]] bool knows(std::string_view name) const {
    if (name == kItself) return inside(kNames);
    if (name.starts_with(kLabelPrefix)) return name.size() > kLabelPrefix.size();
    if (!lists_.empty() && one_of(kPlaceFields, name)) return true;
    if (inside(kIncidents)) {
      // A list inside itself would grow with each level.
      if (name == kIncidents || (name == kNames && inside(kNames))) return false;
      return one_of(kIncidentFields, name) || one_of(kNoticeFields, name);
    }
    return one_of(kNoticeFields, name);
  }

  /// Up to the end, or up to the tag that closes `section`, which is taken too.
  Result<std::vector<Node>> read(std::string_view section) {
    std::vector<Node> nodes;
    for (;;) {
      const std::size_t open = rest_.find(kOpenMark);
      const std::size_t close =
          open == std::string_view::npos ? open : rest_.find(kCloseMark, open + kOpenMark.size());
      nodes.push_back(
          {.text = rest_.substr(0, close == std::string_view::npos ? rest_.size() : open)});
      if (close == std::string_view::npos) {
        rest_ = {};
        if (section.empty()) return nodes;
        return fail(Errc::kInvalid, "{{{{#{}}}}} is not closed", shown(section));
      }
      std::string_view tag =
          trim(rest_.substr(open + kOpenMark.size(), close - open - kOpenMark.size()));
      if (consume_prefix(tag, "/")) {
        closing_ = trim(tag);
        if (closing_ != section || section.empty()) {
          return fail(Errc::kInvalid, "{{{{/{}}}}} closes nothing that is open here",
                      shown(closing_));
        }
        rest_.remove_prefix(close + kCloseMark.size());
        return nodes;
      }
      rest_.remove_prefix(close + kCloseMark.size());
      auto node = read_tag(tag);
      if (!node) return std::unexpected(node.error());
      nodes.push_back(*std::move(node));
    }
  }

  Result<Node> read_tag(std::string_view tag) {
    Node node{.kind = Node::Kind::kField};
    if (consume_prefix(tag, "#")) node.kind = Node::Kind::kSection;
    if (consume_prefix(tag, "^")) node.kind = Node::Kind::kUnless;
    if (node.kind != Node::Kind::kField) {
      const std::size_t equals = tag.find('=');
      if (equals != std::string_view::npos) node.wanted = trim(tag.substr(equals + 1));
      tag = tag.substr(0, equals);
    }
    node.text = trim(tag);
    if (!knows(node.text)) {
      return fail(Errc::kInvalid, "'{}' is not a field of a notice", shown(node.text));
    }
    if (node.kind == Node::Kind::kField) return node;
    if (++depth_ > kDeepest) {
      return fail(Errc::kInvalid, "more than {} sections in each other", kDeepest);
    }
    const bool repeats = node.kind == Node::Kind::kSection && !node.wanted &&
                         (node.text == kIncidents || node.text == kNames);
    if (repeats) lists_.push_back(node.text);
    auto inner = read(node.text);
    if (repeats) lists_.pop_back();
    --depth_;
    if (!inner) return std::unexpected(inner.error());
    node.inner = *std::move(inner);
    return node;
  }

  std::string_view rest_;
  std::string_view closing_;
  std::vector<std::string_view> lists_;  ///< the list sections around
  std::size_t depth_ = 0;
};

/// An item of a list, and where in it.
struct Item {
  const json::value* value = nullptr;
  bool first = false;
  bool last = false;
};

class Filler {
 public:
  Filler(const json::object& notice, TemplateOf kind) : notice_(notice), kind_(kind) {}

  std::string run(const std::vector<Node>& nodes) {
    fill(nodes);
    return std::move(filled_);
  }

 private:
  void fill(const std::vector<Node>& nodes) {
    for (const Node& node : nodes) {
      if (filled_.size() >= kMostBytes) return;
      switch (node.kind) {
        case Node::Kind::kText: filled_ += node.text; break;
        case Node::Kind::kField: filled_ += written(value_of(node.text)); break;
        case Node::Kind::kSection: section(node); break;
        case Node::Kind::kUnless:
          if (!holds(node)) fill(node.inner);
          break;
      }
    }
  }

  void section(const Node& node) {
    const json::value value = value_of(node.text);
    const json::array* const list = node.wanted ? nullptr : value.if_array();
    if (list == nullptr) {
      if (holds(node)) fill(node.inner);
      return;
    }
    for (std::size_t i = 0; i < list->size(); ++i) {
      items_.push_back({&(*list)[i], i == 0, i + 1 == list->size()});
      fill(node.inner);
      items_.pop_back();
    }
  }

  [[nodiscard]] bool holds(const Node& node) const {
    const json::value value = value_of(node.text);
    if (node.wanted) return plain(value) == *node.wanted;
    if (value.is_bool()) return value.get_bool();
    if (const json::string* const text = value.if_string()) return !text->empty();
    if (const json::array* const list = value.if_array()) return !list->empty();
    if (const json::object* const map = value.if_object()) return !map->empty();
    return !value.is_null() && plain(value) != "0";
  }

  /// Of the innermost item that has it, else of the notice; null when there is none.
  [[nodiscard]] json::value value_of(std::string_view name) const {
    for (auto item = items_.rbegin(); item != items_.rend(); ++item) {
      if (name == kItself) return *item->value;
      if (name == kPlaceFields[0]) return item->first;
      if (name == kPlaceFields[1]) return item->last;
      const json::object* const map = item->value->if_object();
      if (map == nullptr) continue;
      if (name.starts_with(kLabelPrefix)) return label_of(*map, name);
      if (const json::value* const found = map->if_contains(name)) return *found;
    }
    if (name.starts_with(kLabelPrefix)) return label_of(notice_, name);
    const json::value* const found = notice_.if_contains(name);
    return found == nullptr ? json::value(nullptr) : *found;
  }

  static json::value label_of(const json::object& of, std::string_view name) {
    const json::value* const found =
        of.at("labels").as_object().if_contains(name.substr(kLabelPrefix.size()));
    return found == nullptr ? json::value("") : *found;
  }

  static std::string plain(const json::value& value) {
    const json::string* const text = value.if_string();
    return text == nullptr ? json::serialize(value) : std::string(*text);
  }

  [[nodiscard]] std::string written(const json::value& value) const {
    if (kind_ == TemplateOf::kPlainText) return value.is_null() ? std::string() : plain(value);
    std::string text = json::serialize(value);
    return value.is_string() ? text.substr(1, text.size() - 2) : text;
  }

  const json::object& notice_;
  TemplateOf kind_;
  std::vector<Item> items_;
  std::string filled_;
};

}  // namespace

std::string fill_template(std::string_view text, const json::object& notice, TemplateOf kind) {
  const auto nodes = Parser(text).run();
  // A configuration has only templates that were checked.
  if (!nodes) return {};
  return Filler(notice, kind).run(*nodes);
}

Result<void> check_template(std::string_view text) {
  const auto nodes = Parser(text).run();
  if (!nodes) return std::unexpected(nodes.error());
  return {};
}

}  // namespace wardmote::act::notify
