#include "config/yaml.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <cstddef>
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
#include "config/problem.h"

namespace wardmote::config {
namespace {

/// Thrown through yaml-cpp to end the reading; caught in this file.
struct Stop {
  Problem problem;
};

Place place(const YAML::Mark& mark) {
  return mark.is_null() ? Place{} : Place{mark.line + 1, mark.column + 1};
}

/// The tree is built of places in file 0.
void set_file(YamlNode& node, int file) {
  node.at.file = file;
  for (YamlNode& item : node.items) set_file(item, file);
  for (YamlEntry& entry : node.entries) {
    entry.at.file = file;
    set_file(entry.value, file);
  }
}

/// Builds the tree from yaml-cpp's events: its own node type forgets the places of keys and drops
/// keys given twice.
class TreeBuilder final : public YAML::EventHandler {
 public:
  TreeBuilder(const YamlLimits& limits, int file, Problems& problems)
      : limits_(limits), file_(file), problems_(problems) {}

  YamlNode take() && { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& /*mark*/) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    refuse_anchor(mark, anchor);
    put({.kind = YamlNode::Kind::kNull, .at = place(mark)});
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
    throw Stop{{place(mark), "alias", "aliases are not supported here", "write the value out"}};
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    refuse_anchor(mark, anchor);
    // yaml-cpp: "?" for a plain scalar, "!" for a quoted or block scalar, else the tag that was
    // written.
    const bool written = tag != "?" && tag != "!";
    if (written && !limits_.tags) refuse_tag(mark, tag);
    put({.kind = YamlNode::Kind::kScalar, .at = place(mark), .text = value, .quoted = tag != "?"});
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    open(YamlNode::Kind::kList, mark, tag, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    open(YamlNode::Kind::kMap, mark, tag, anchor);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Frame {
    YamlNode node;
    std::optional<YamlNode> key;  ///< read, its value not yet
  };

  static void refuse_anchor(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (anchor == YAML::NullAnchor) return;
    throw Stop{{place(mark), "anchor", "anchors are not supported here", "write the value out"}};
  }

  [[noreturn]] static void refuse_tag(const YAML::Mark& mark, const std::string& tag) {
    throw Stop{{place(mark), fmt::format("tag '{}'", escape_control(tag, 64)),
                "tags are not supported here", "remove it"}};
  }

  void open(YamlNode::Kind kind, const YAML::Mark& mark, const std::string& tag,
            YAML::anchor_t anchor) {
    refuse_anchor(mark, anchor);
    if (!tag.empty() && tag != "?" && tag != "!") refuse_tag(mark, tag);
    if (stack_.size() == limits_.depth) {
      throw Stop{{place(mark), "nesting", fmt::format("deeper than {} levels", limits_.depth),
                  "no setting needs that; check the indentation"}};
    }
    stack_.push_back({{.kind = kind, .at = place(mark)}, std::nullopt});
  }

  void close() {
    YamlNode done = std::move(stack_.back().node);
    stack_.pop_back();
    put(std::move(done));
  }

  void put(YamlNode node) {
    if (++nodes_ > limits_.nodes) {
      throw Stop{{node.at, "document", fmt::format("more than {} values", limits_.nodes),
                  "split the work over several agents"}};
    }
    if (stack_.empty()) {
      root_ = std::move(node);
      return;
    }
    Frame& parent = stack_.back();
    if (parent.node.kind == YamlNode::Kind::kList) {
      parent.node.items.push_back(std::move(node));
    } else if (!parent.key) {
      parent.key = std::move(node);
    } else {
      YamlNode key = *std::move(parent.key);
      parent.key.reset();
      put_entry(parent.node, std::move(key), std::move(node));
    }
  }

  void put_entry(YamlNode& map, YamlNode key, YamlNode value) {
    if (key.kind != YamlNode::Kind::kScalar) {
      complain(key.at, "key", fmt::format("it is {}, not text", kind_name(key.kind)),
               "write 'key: value'");
      return;
    }
    for (const YamlEntry& earlier : map.entries) {
      if (earlier.key != key.text) continue;
      complain(key.at, fmt::format("key '{}'", escape_control(key.text, 64)),
               fmt::format("given before, in line {}", earlier.at.line), "keep one of them");
      return;
    }
    if (map.entries.size() == limits_.keys) {
      throw Stop{{key.at, "map", fmt::format("more than {} keys", limits_.keys),
                  "no setting needs that; check the indentation"}};
    }
    map.entries.push_back({std::move(key.text), key.at, std::move(value)});
  }

  /// A problem after which reading goes on.
  void complain(Place at, std::string what, std::string why, std::string fix) {
    at.file = file_;
    problems_.add(at, std::move(what), std::move(why), std::move(fix));
  }

  const YamlLimits& limits_;
  const int file_;
  Problems& problems_;
  std::vector<Frame> stack_;
  YamlNode root_;
  std::size_t nodes_ = 0;
};

/// Reads a view without copying it.
class ViewBuffer final : public std::streambuf {
 public:
  explicit ViewBuffer(std::string_view bytes) {
    char* const begin = const_cast<char*>(bytes.data());  // a get area is never written to
    setg(begin, begin, begin + bytes.size());
  }
};

/// yaml-cpp takes U+0004 for the end of the file, guesses UTF-16 from zero bytes, which would hide
/// what follows, and passes on what is not UTF-8.
std::optional<Problem> find_fault_in_bytes(std::string_view bytes) {
  const std::size_t found = find_non_text(bytes);
  if (found == std::string_view::npos) return std::nullopt;
  const std::string_view before = bytes.substr(0, found);
  const std::size_t line_end = before.rfind('\n');
  const std::size_t line_begin = line_end == std::string_view::npos ? 0 : line_end + 1;
  const Place at{static_cast<int>(std::ranges::count(before, '\n')) + 1,
                 static_cast<int>(found - line_begin) + 1};
  return Problem{at, fmt::format("byte 0x{:02x}", static_cast<unsigned char>(bytes[found])),
                 "not text in UTF-8", "save the file as UTF-8 without control characters"};
}

void parse_into(TreeBuilder& builder, std::string_view bytes) {
  ViewBuffer buffer(bytes);
  std::istream stream(&buffer);
  YAML::Parser parser(stream);
  if (!parser.HandleNextDocument(builder)) return;
  // A second document would be ignored, and with it half of what the operator wrote.
  class Refuse final : public YAML::EventHandler {
   public:
    void OnDocumentStart(const YAML::Mark& mark) override {
      throw Stop{{place(mark), "second document", "one file holds one configuration",
                  "remove the '---' line or what follows it"}};
    }
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
    void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
    void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t,
                  const std::string&) override {}
    void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                         YAML::EmitterStyle::value) override {}
    void OnSequenceEnd() override {}
    void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                    YAML::EmitterStyle::value) override {}
    void OnMapEnd() override {}
  } refuse;
  parser.HandleNextDocument(refuse);
}

}  // namespace

bool same_content(const YamlNode& a, const YamlNode& b) {
  if (a.kind != b.kind || a.text != b.text || a.quoted != b.quoted) return false;
  return std::ranges::equal(a.items, b.items, same_content) &&
         std::ranges::equal(a.entries, b.entries, [](const YamlEntry& x, const YamlEntry& y) {
           return x.key == y.key && same_content(x.value, y.value);
         });
}

std::string_view kind_name(YamlNode::Kind kind) noexcept {
  switch (kind) {
    case YamlNode::Kind::kNull: return "nothing";
    case YamlNode::Kind::kScalar: return "text";
    case YamlNode::Kind::kList: return "a list";
    case YamlNode::Kind::kMap: return "a map";
  }
  return "nothing";
}

YamlDocument parse_yaml(std::string_view bytes, const YamlLimits& limits, Problems& problems,
                        int file) {
  const auto refuse = [&](Problem problem) {
    problem.at.file = file;
    problems.add(problem.at, std::move(problem.what), std::move(problem.why),
                 std::move(problem.fix));
    return YamlDocument{};
  };
  if (bytes.size() > limits.bytes) {
    return refuse({{},
                   "file",
                   fmt::format("{} bytes, more than {}", bytes.size(), limits.bytes),
                   "split the work over several agents"});
  }
  if (auto fault = find_fault_in_bytes(bytes)) return refuse(*std::move(fault));

  TreeBuilder builder(limits, file, problems);
  try {
    parse_into(builder, bytes);
  } catch (Stop& stop) {
    return refuse(std::move(stop.problem));
  } catch (const YAML::Exception& error) {
    return refuse({place(error.mark), "YAML", escape_control(error.msg),
                   "check indentation, quotes and brackets here and just above"});
  }
  YamlNode root = std::move(builder).take();
  if (file != 0) set_file(root, file);
  return {std::move(root), true};
}

}  // namespace wardmote::config
