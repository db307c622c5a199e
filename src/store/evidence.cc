#include "store/evidence.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "base/utf8.h"
#include "judge/raft/member_id.h"
#include "judge/raft/opinion.h"
#include "store/evidence_fields.h"
#include "store/json_fields.h"

namespace wardmote::store {
namespace {

namespace json = boost::json;
using judge::raft::MemberId;
using judge::raft::Milliseconds;
using judge::raft::Opinion;

constexpr std::string_view kVersionKey = "wardmote_evidence";
constexpr std::int64_t kVersion = 1;
/// The most items of a list, more than any readable cluster/status has.
constexpr std::size_t kMostItems = 4096;
/// Times are between 0 and a century, ages at most a year, so that sums do not overflow.
constexpr std::int64_t kLatestNs = 100LL * 366 * 86400 * 1'000'000'000;
constexpr std::int64_t kOldestMs = 366LL * 86400 * 1000;

constexpr std::string_view kHexDigits = "0123456789abcdef";

class Writer {
 public:
  template <class T>
  void operator()(std::string_view key, const T& value) {
    object_[key] = put(value);
  }
  json::object take() && { return std::move(object_); }

 private:
  static json::value put(bool value) { return value; }
  static json::value put(std::uint64_t value) { return value; }
  static json::value put(Milliseconds value) { return value.count(); }
  static json::value put(Duration value) { return value.count(); }
  static json::value put(TimePoint value) { return value.time_since_epoch().count(); }
  static json::value put(WallTime value) { return value.time_since_epoch().count(); }
  static json::value put(const MemberId& id) { return json::value(to_string(id)); }

  /// JSON has text only: other bytes are written in hexadecimal.
  static json::value put(const std::string& text) {
    if (is_utf8(text)) return json::value(text);
    std::string hex;
    for (const char byte : text) {
      hex += kHexDigits[static_cast<unsigned char>(byte) >> 4];
      hex += kHexDigits[static_cast<unsigned char>(byte) & 15];
    }
    return json::object{{"hex", hex}};
  }

  template <class T>
  static json::value put(const std::optional<T>& value) {
    return value ? put(*value) : json::value(nullptr);
  }

  template <class T>
  static json::value put(const std::vector<T>& items) {
    json::array array;
    array.reserve(items.size());
    for (const T& item : items) array.push_back(put(item));
    return array;
  }

  template <class T>
  static json::value put(const T& value) {
    if constexpr (std::is_enum_v<T>) {
      return json::value(word(value));
    } else {
      Writer writer;
      describe(writer, value);
      return std::move(writer).take();
    }
  }

  json::object object_;
};

/// What is wrong and where; nothing when `what` is empty.
struct Problem {
  std::string path;
  std::string what;

  explicit operator bool() const noexcept { return !what.empty(); }
  [[nodiscard]] Problem below(std::string_view key) && {
    const bool joined = path.empty() || path.front() == '[';
    return {fmt::format("{}{}{}", key, joined ? "" : ".", path), std::move(what)};
  }
};

class Reader {
 public:
  explicit Reader(const json::object& object) : object_(&object) {}

  template <class T>
  void operator()(std::string_view key, T& value) {
    if (problem_) return;
    const json::value* const found = object_->if_contains(key);
    problem_ = found == nullptr ? Problem{"", "is missing"} : get(*found, value);
    if (problem_) problem_ = std::move(problem_).below(key);
  }
  Problem take() && { return std::move(problem_); }

  /// Checks that all keys of an object were read.
  template <class T>
  static Problem get_object(const json::value& found, T& value) {
    const json::object* const object = found.if_object();
    if (object == nullptr) return {"", "is not an object"};
    Reader reader(*object);
    describe(reader, value);
    return std::move(reader).take();
  }

 private:
  static Problem get(const json::value& found, bool& value) {
    if (!found.is_bool()) return {"", "is neither true nor false"};
    value = found.get_bool();
    return {};
  }

  static Problem get(const json::value& found, std::uint64_t& value) {
    if (const std::int64_t* const number = found.if_int64(); number != nullptr && *number >= 0) {
      value = static_cast<std::uint64_t>(*number);
      return {};
    }
    const std::uint64_t* const large = found.if_uint64();
    if (large == nullptr) return {"", "is not a whole number"};
    value = *large;
    return {};
  }

  static Problem get_within(const json::value& found, std::int64_t most, std::int64_t& value) {
    const std::int64_t* const number = found.if_int64();
    if (number == nullptr || *number < 0 || *number > most)
      return {"", fmt::format("is not a whole number from 0 to {}", most)};
    value = *number;
    return {};
  }

  static Problem get(const json::value& found, Milliseconds& value) {
    std::int64_t number = 0;
    Problem problem = get_within(found, kOldestMs, number);
    value = Milliseconds(number);
    return problem;
  }

  static Problem get(const json::value& found, Duration& value) {
    std::int64_t number = 0;
    Problem problem = get_within(found, kLatestNs, number);
    value = Duration(number);
    return problem;
  }

  template <class Clock>
  static Problem get(const json::value& found, std::chrono::time_point<Clock, Duration>& value) {
    Duration since{};
    Problem problem = get(found, since);
    value = std::chrono::time_point<Clock, Duration>(since);
    return problem;
  }

  static Problem get(const json::value& found, std::string& value) {
    if (const json::string* const text = found.if_string()) {
      value = *text;
      return {};
    }
    const json::object* const object = found.if_object();
    const json::value* const hex = object == nullptr ? nullptr : object->if_contains("hex");
    if (hex == nullptr || !hex->is_string()) return {"", "is not a text"};
    const std::string_view digits = hex->get_string();
    if (digits.size() % 2 != 0) return {"hex", "is half a byte too long"};
    value.clear();
    for (std::size_t i = 0; i < digits.size(); i += 2) {
      const auto byte = parse_number<unsigned char>(digits.substr(i, 2), 16);
      if (!byte) return {"hex", "is not hex"};
      value += static_cast<char>(*byte);
    }
    return {};
  }

  static Problem get(const json::value& found, MemberId& value) {
    std::string text;
    Problem problem = get(found, text);
    if (problem) return problem;
    const auto id = text.empty() ? MemberId{} : judge::raft::parse_member_id(text);
    if (!id) return {"", "is not an id"};
    value = *id;
    return {};
  }

  template <class T>
  static Problem get(const json::value& found, std::optional<T>& value) {
    if (found.is_null()) return {};
    return get(found, value.emplace());
  }

  template <class T>
  static Problem get(const json::value& found, std::vector<T>& items) {
    const json::array* const array = found.if_array();
    if (array == nullptr) return {"", "is not a list"};
    if (array->size() > kMostItems) return {"", fmt::format("has more than {} items", kMostItems)};
    for (std::size_t i = 0; i < array->size(); ++i) {
      Problem problem = get((*array)[i], items.emplace_back());
      if (problem) return std::move(problem).below(fmt::format("[{}]", i));
    }
    return {};
  }

  template <class T>
  static Problem get(const json::value& found, T& value) {
    if constexpr (std::is_enum_v<T>) {
      const json::string* const text = found.if_string();
      using Number = std::underlying_type_t<T>;
      for (Number i = 0; text != nullptr && i <= std::to_underlying(kLast<T>); ++i) {
        if (*text != word(T{i})) continue;
        value = T{i};
        return {};
      }
      return {"", "is none of the known words"};
    } else {
      return get_object(found, value);
    }
  }

  const json::object* object_;
  Problem problem_;
};

Result<json::value> parsed(std::string_view line) {
  if (line.size() > kEvidenceLineBytes)
    return fail(Errc::kLimit, "a line of more than {} MiB", kEvidenceLineBytes >> 20);
  boost::system::error_code broken;
  json::value value = json::parse(line, broken);
  if (broken || !value.is_object()) return fail(Errc::kProtocol, "not an object of JSON");
  return value;
}

template <class T>
Result<T> described(const json::value& value) {
  T read;
  const Problem problem = Reader::get_object(value, read);
  if (problem) return fail(Errc::kProtocol, "{} {}", problem.path, problem.what);
  return read;
}

/// Checks what the judge may rely on: each member occurs once, and times do not run backwards.
Problem nonsense(const EvidenceLook& look, const std::vector<std::string>& members) {
  for (std::size_t i = 0; i < look.opinions.size(); ++i) {
    const Opinion& opinion = look.opinions[i];
    std::string path = fmt::format("opinions[{}]", i);
    if (!std::ranges::binary_search(members, opinion.member))
      return {path + ".member", "is not the same as in the first look"};
    if (opinion.begun > opinion.ended || opinion.ended > look.judged)
      return {path + ".ended_ns", "is not between its begin and the judgement"};
  }
  return {};
}

std::vector<std::string> names_of(const std::vector<Opinion>& opinions) {
  std::vector<std::string> names;
  names.reserve(opinions.size());
  for (const Opinion& opinion : opinions) names.push_back(opinion.member);
  std::ranges::sort(names);
  return names;
}

}  // namespace

std::string encode(const EvidenceHead& head) {
  Writer writer;
  writer(kVersionKey, std::uint64_t{kVersion});
  describe(writer, head);
  return json::serialize(std::move(writer).take());
}

std::string encode(const EvidenceLook& look) {
  Writer writer;
  describe(writer, look);
  return json::serialize(std::move(writer).take());
}

Result<EvidenceHead> EvidenceReader::head(std::string_view line) {
  const Result<json::value> value = parsed(line);
  if (!value) return std::unexpected(value.error());
  const auto version = integer_in(value->get_object(), kVersionKey);
  if (!version) return fail(Errc::kProtocol, "no head of an evidence file");
  if (*version != kVersion)
    return fail(Errc::kProtocol, "an evidence file of another version than {}", kVersion);
  return described<EvidenceHead>(*value);
}

Result<EvidenceLook> EvidenceReader::look(std::string_view line) {
  const Result<json::value> value = parsed(line);
  if (!value) return std::unexpected(value.error());
  Result<EvidenceLook> look = described<EvidenceLook>(*value);
  if (!look) return look;
  std::vector<std::string> names = names_of(look->opinions);
  if (names.empty()) return fail(Errc::kProtocol, "opinions has nobody in it");
  if (std::ranges::adjacent_find(names) != names.end())
    return fail(Errc::kProtocol, "opinions has a member twice");
  if (members_.empty()) members_ = names;
  if (const Problem problem = nonsense(*look, members_))
    return fail(Errc::kProtocol, "{} {}", problem.path, problem.what);
  if (names.size() != members_.size())
    return fail(Errc::kProtocol, "opinions has fewer members than in the first look");
  if (look->judged < last_)
    return fail(Errc::kProtocol, "judged_ns is before that of the last look");
  last_ = look->judged;
  return look;
}

}  // namespace wardmote::store
