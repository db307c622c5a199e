#include "codec/exact_json.h"

#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/parse_options.hpp>
#include <boost/json/value_stack.hpp>
#include <boost/system/error_code.hpp>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <system_error>

namespace wardmote::codec {

namespace json = boost::json;

namespace {

using Text = json::string_view;
using Error = boost::system::error_code;

/// What boost::json::parser builds, but for numbers with a fraction or an exponent. The text is
/// given in one piece, so that no number comes in parts.
struct Builder {
  // NOLINTBEGIN(readability-identifier-naming): what basic_parser asks of a handler
  static constexpr std::size_t max_object_size = json::object::max_size();
  static constexpr std::size_t max_array_size = json::array::max_size();
  static constexpr std::size_t max_key_size = json::string::max_size();
  static constexpr std::size_t max_string_size = json::string::max_size();
  // NOLINTEND(readability-identifier-naming)

  json::value_stack stack;

  static bool on_document_begin(Error&) { return true; }
  static bool on_document_end(Error&) { return true; }
  static bool on_object_begin(Error&) { return true; }
  static bool on_array_begin(Error&) { return true; }
  static bool on_number_part(Text, Error&) { return true; }
  static bool on_comment_part(Text, Error&) { return true; }
  static bool on_comment(Text, Error&) { return true; }

  bool on_object_end(std::size_t count, Error&) { return stack.push_object(count), true; }
  bool on_array_end(std::size_t count, Error&) { return stack.push_array(count), true; }
  bool on_key_part(Text text, std::size_t, Error&) { return stack.push_chars(text), true; }
  bool on_key(Text text, std::size_t, Error&) { return stack.push_key(text), true; }
  bool on_string_part(Text text, std::size_t, Error&) { return stack.push_chars(text), true; }
  bool on_string(Text text, std::size_t, Error&) { return stack.push_string(text), true; }
  bool on_int64(std::int64_t number, Text, Error&) { return stack.push_int64(number), true; }
  bool on_uint64(std::uint64_t number, Text, Error&) { return stack.push_uint64(number), true; }
  bool on_bool(bool value, Error&) { return stack.push_bool(value), true; }
  bool on_null(Error&) { return stack.push_null(), true; }

  bool on_double(double rounded, Text text, Error&) {
    double exact = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), exact);
    stack.push_double(error == std::errc{} ? exact : rounded);
    return true;
  }
};

}  // namespace

ExactJson read_exact_json(std::string_view text, std::size_t depth) {
  json::parse_options options;
  options.max_depth = depth;
  json::basic_parser<Builder> parser(options);
  parser.handler().stack.reset();
  ExactJson read;
  read.used = parser.write_some(false, text.data(), text.size(), read.error);
  if (!read.error) read.value = parser.handler().stack.release();
  return read;
}

}  // namespace wardmote::codec
