#include "codec/unixctl_text.h"

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <expected>
#include <string>
#include <string_view>

#include "base/format.h"
#include "base/result.h"
#include "codec/json_rpc.h"

namespace wardmote::codec {
namespace {

namespace json = boost::json;

/// A server with many databases says a few KiB of its synchronisation.
constexpr std::size_t kLongest = 64U << 10U;

}  // namespace

Result<std::string> read_unixctl_text(const RpcMessage& reply) {
  const Result<const json::value*> result = result_of(reply);
  if (!result) return std::unexpected(result.error());
  const json::value* text = *result;
  if (const json::object* const wrapped = text->if_object()) text = wrapped->if_contains("reply");
  if (text == nullptr || !text->is_string())
    return fail(Errc::kProtocol, "a result that is not a text");
  if (text->get_string().size() > kLongest)
    return fail(Errc::kLimit, "a text over {} bytes", kLongest);
  return std::string(std::string_view(text->get_string()));
}

}  // namespace wardmote::codec
