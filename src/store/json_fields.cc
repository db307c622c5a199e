#include "store/json_fields.h"

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace wardmote::store {

Result<boost::json::object> parse_record(std::string_view text) {
  boost::system::error_code broken;
  boost::json::value value = boost::json::parse(text, broken);
  if (broken || !value.is_object()) return fail(Errc::kProtocol, "a record that is not an object");
  return std::move(value.get_object());
}

}  // namespace wardmote::store
