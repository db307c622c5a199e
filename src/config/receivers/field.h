#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "config/problem.h"
#include "config/reader.h"
#include "config/schema.h"
#include "config/yaml.h"

namespace wardmote::config {

/// One key of a map that is read into a T. Schema, reference page, effective view and reader all go
/// over the same rows.
template <class T>
struct Field {
  KeySpec key;
  void (*read)(const YamlNode& node, const KeySpec& key, T& into, Problems& problems);
  std::string_view example = {};  ///< of a required key
};

namespace detail {
template <class T, class V>
T owner(V T::*);
template <auto Member>
using Owner = decltype(owner(Member));
}  // namespace detail

/// A Field's `read`: Read, into Member.
template <auto Member, auto Read>
void into(const YamlNode& node, const KeySpec& key, detail::Owner<Member>& object,
          Problems& problems) {
  auto value = Read(node, key.name, problems);
  if (value) object.*Member = *std::move(value);
}

/// As into(), for the file of a secret.
template <auto Member, auto Read>
void into_file_of(const YamlNode& node, const KeySpec& key, detail::Owner<Member>& object,
                  Problems& problems) {
  auto name = Read(node, key.name, problems);
  if (name) (object.*Member).file = *std::move(name);
}

/// The number of a word of the key's; a problem and nothing when it is none of them.
std::optional<std::size_t> read_word(const YamlNode& node, const KeySpec& key, Problems& problems);

/// A Field's `read`: one of the key's words, into an enumeration whose values have their order.
template <auto Member>
void into_word(const YamlNode& node, const KeySpec& key, detail::Owner<Member>& object,
               Problems& problems) {
  const auto number = read_word(node, key, problems);
  using Value = std::remove_reference_t<decltype(object.*Member)>;
  if (number) object.*Member = static_cast<Value>(*number);
}

/// `1.0` of `"1.0"`.
std::string_view unquoted(std::string_view text);

/// Reads every field. An absent one has the value that its key says.
template <class T, std::size_t Size>
T read_fields(MapReader& map, const std::array<Field<T>, Size>& fields) {
  T object;
  for (const Field<T>& field : fields) {
    const KeySpec& key = field.key;
    const YamlNode* const given =
        key.required ? map.require(key.name, field.example) : map.find(key.name);
    if (given != nullptr) {
      field.read(*given, key, object, map.problems());
    } else if (!key.otherwise.empty()) {
      YamlNode otherwise;
      otherwise.kind = YamlNode::Kind::kScalar;
      otherwise.text = unquoted(key.otherwise);
      field.read(otherwise, key, object, map.problems());
    }
  }
  return object;
}

template <class T, std::size_t Size>
constexpr std::array<KeySpec, Size> keys_of(const std::array<Field<T>, Size>& fields) {
  return [&]<std::size_t... At>(std::index_sequence<At...>) {
    return std::array<KeySpec, Size>{fields[At].key...};
  }(std::make_index_sequence<Size>());
}

/// Text in one line, that may stand in a header or an address.
std::optional<std::string> read_line(const YamlNode& node, std::string_view what,
                                     Problems& problems);
/// What keeps a text from being the address of a server: nothing when it is http:// or https://, a
/// host, and a port that there can be. Neither path nor query are looked at.
std::optional<std::string_view> fault_of_url(std::string_view url);
/// An address of the web. It may carry a secret, so no problem repeats it.
std::optional<std::string> read_url(const YamlNode& node, std::string_view what,
                                    Problems& problems);
/// The same without slashes at its end, for what is written behind it.
std::optional<std::string> read_base_url(const YamlNode& node, std::string_view what,
                                         Problems& problems);
/// An absolute path.
std::optional<std::string> read_file_name(const YamlNode& node, std::string_view what,
                                          Problems& problems);

/// A template of a notice.
std::optional<std::string> read_template(const YamlNode& node, std::string_view what,
                                         Problems& problems);

/// Exactly one of `url` and `url_file` stands in the map; else a problem.
void check_address(MapReader& map);

}  // namespace wardmote::config
