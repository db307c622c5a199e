#include "store/json_fields.h"

#include <boost/json/object.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace wardmote::store {

Result<boost::json::object> parse_record(std::string_view text) {
  std::optional<boost::json::object> object = codec::parse_object(text);
  if (!object) return fail(Errc::kProtocol, "a record that is not an object");
  return *std::move(object);
}

}  // namespace wardmote::store
