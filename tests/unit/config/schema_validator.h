#pragma once

#include <algorithm>
#include <regex>
#include <string>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

namespace wardmote::testing {

/// Judges JSON by the keywords of JSON schema (draft 7) that our schema has; an unknown keyword is
/// a failure, so that no rule is passed over.
class SchemaValidator {
 public:
  explicit SchemaValidator(const boost::json::object& root) : root_(root) {}

  [[nodiscard]] bool valid(const boost::json::value& value) const { return valid(root_, value); }

 private:
  using Value = boost::json::value;
  using Object = boost::json::object;

  [[nodiscard]] bool valid(const Object& schema, const Value& value) const {
    return std::ranges::all_of(
        schema, [&](const auto& rule) { return holds(schema, rule.key(), rule.value(), value); });
  }

  [[nodiscard]] bool holds(const Object& schema, std::string_view keyword, const Value& rule,
                           const Value& value) const {
    if (keyword == "$ref") {
      const std::string_view name = rule.as_string();
      return valid(root_.at("definitions").at(name.substr(name.rfind('/') + 1)).as_object(), value);
    }
    if (keyword == "type") return has_type(rule, value);
    if (keyword == "enum")
      return std::ranges::find(rule.as_array(), value) != rule.as_array().end();
    if (keyword == "pattern") {
      return !value.is_string() ||
             std::regex_search(value.as_string().c_str(), std::regex(rule.as_string().c_str()));
    }
    if (keyword == "minLength") return !value.is_string() || !value.as_string().empty();
    if (keyword == "minimum") return !value.is_int64() || value.as_int64() >= rule.as_int64();
    if (keyword == "maximum") return !value.is_int64() || value.as_int64() <= rule.as_int64();
    if (keyword == "items") {
      return !value.is_array() || std::ranges::all_of(value.as_array(), [&](const Value& item) {
        return valid(rule.as_object(), item);
      });
    }
    if (keyword == "required") {
      return !value.is_object() || std::ranges::all_of(rule.as_array(), [&](const Value& key) {
        return value.as_object().contains(key.as_string());
      });
    }
    if (keyword == "oneOf") {
      return std::ranges::count_if(rule.as_array(), [&](const Value& one) {
               return valid(one.as_object(), value);
             }) == 1;
    }
    if (keyword == "properties") return properties_hold(schema, rule.as_object(), value);
    if (keyword == "additionalProperties") return additional_hold(schema, rule, value);
    return keyword == "description" || keyword == "$schema" || keyword == "title" ||
           keyword == "definitions";
  }

  static bool has_type(const Value& rule, const Value& value) {
    const auto is = [&](std::string_view type) {
      return (type == "string" && value.is_string()) || (type == "integer" && value.is_int64()) ||
             (type == "number" && value.is_number()) || (type == "boolean" && value.is_bool()) ||
             (type == "array" && value.is_array()) || (type == "object" && value.is_object());
    };
    if (rule.is_string()) return is(rule.as_string());
    return std::ranges::any_of(rule.as_array(),
                               [&](const Value& type) { return is(type.as_string()); });
  }

  [[nodiscard]] bool properties_hold(const Object&, const Object& rule, const Value& value) const {
    if (!value.is_object()) return true;
    return std::ranges::all_of(value.as_object(), [&](const auto& entry) {
      const Value* const known = rule.if_contains(entry.key());
      return known == nullptr || valid(known->as_object(), entry.value());
    });
  }

  [[nodiscard]] bool additional_hold(const Object& schema, const Value& rule,
                                     const Value& value) const {
    if (!value.is_object()) return true;
    const Value* const properties = schema.if_contains("properties");
    return std::ranges::all_of(value.as_object(), [&](const auto& entry) {
      if (properties != nullptr && properties->as_object().contains(entry.key())) return true;
      return rule.is_object() && valid(rule.as_object(), entry.value());
    });
  }

  const Object& root_;
};

}  // namespace wardmote::testing
