#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace wardmote::act::notify {

/// What the text around the fields is.
enum class TemplateOf : std::uint8_t {
  kJson,       ///< a text is escaped for JSON and has no quotes
  kPlainText,  ///< a text is as it is
};

/// Fills a template with the values of notice_json(). Tags, after Mustache:
///   {{field}}           its value; what is no text as JSON; `labels.NAME` is a label
///   {{#field}}…{{/field}}   for each item of a list, with the item's own fields and `first` and
///                       `last`, and {{.}} for an item that is a text; else if it is true, not
///                       null, not empty and not 0
///   {{^field}}…{{/field}}   if it is none of that
///   {{#field=value}}…{{/field}}, {{^field=value}}…{{/field}}   if it is (not) that text
/// A tag that is not closed by `}}` is text. The result has at most a megabyte.
std::string fill_template(std::string_view text, const boost::json::object& notice,
                          TemplateOf kind = TemplateOf::kJson);
/// Whether every field is known and every section is closed; kInvalid says which is not.
Result<void> check_template(std::string_view text);

}  // namespace wardmote::act::notify
