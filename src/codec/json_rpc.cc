#include "codec/json_rpc.h"

#include <array>
#include <boost/json/monotonic_resource.hpp>
#include <boost/json/parser.hpp>
#include <boost/json/serialize.hpp>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace wardmote::codec {

namespace json = boost::json;

namespace {

json::parse_options parse_options(std::size_t depth) noexcept {
  json::parse_options options;
  options.max_depth = depth;
  return options;
}

std::string_view text_of(const json::value* value) noexcept {
  const json::string* const text = value == nullptr ? nullptr : value->if_string();
  return text == nullptr ? std::string_view{} : std::string_view(*text);
}

/// The text of an OVSDB error object or of a bare error string; anything else as it is.
std::string describe_error(const json::value& error) {
  if (const json::string* const text = error.if_string()) {
    std::string_view words = *text;
    while (words.ends_with('\n')) words.remove_suffix(1);
    return std::string(words);
  }
  const json::object* const fields = error.if_object();
  const std::string_view kind =
      fields == nullptr ? std::string_view{} : text_of(fields->if_contains("error"));
  if (kind.empty()) return json::serialize(error);
  const std::string_view details = text_of(fields->if_contains("details"));
  return details.empty() ? std::string(kind) : fmt::format("{}: {}", kind, details);
}

}  // namespace

bool RpcMessage::answers(std::uint64_t request_id) const noexcept {
  if (kind != Kind::kReply) return false;
  boost::system::error_code failed;
  const auto number = id->to_number<std::uint64_t>(failed);
  return !failed && !id->is_double() && number == request_id;
}

Result<RpcMessage> classify(const json::value& document) {
  const json::object* const fields = document.if_object();
  if (fields == nullptr) return fail(Errc::kProtocol, "a message that is not an object");
  RpcMessage message;
  const json::value* const method = fields->if_contains("method");
  message.id = fields->if_contains("id");
  message.params = fields->if_contains("params");
  message.result = fields->if_contains("result");
  message.error = fields->if_contains("error");
  if (message.error != nullptr && message.error->is_null()) message.error = nullptr;
  if (method != nullptr) {
    if (!method->is_string()) return fail(Errc::kProtocol, "a method that is not a string");
    message.method = method->get_string();
    const bool expects_reply = message.id != nullptr && !message.id->is_null();
    message.kind = expects_reply ? RpcMessage::Kind::kRequest : RpcMessage::Kind::kNotification;
    return message;
  }
  if (message.id == nullptr) return fail(Errc::kProtocol, "a message with neither method nor id");
  if (message.result == nullptr && message.error == nullptr) {
    return fail(Errc::kProtocol, "a reply with neither result nor error");
  }
  return message;
}

/// The memory for parsing one message, and the message itself.
struct JsonRpcReader::Workshop {
  explicit Workshop(std::size_t depth)
      : parser(json::storage_ptr(), parse_options(depth), parser_space.data(),
               parser_space.size()) {}

  std::array<unsigned char, 8192> document_space;
  std::array<unsigned char, 2048> parser_space;
  std::optional<json::monotonic_resource> memory;
  json::parser parser;
  std::optional<json::value> document;
};

JsonRpcReader::JsonRpcReader(FrameLimits limits) : depth_(limits.depth), framer_(limits) {}
JsonRpcReader::~JsonRpcReader() = default;

void JsonRpcReader::rest() noexcept {
  workshop_.reset();
  framer_.rest();
}

Result<std::optional<RpcMessage>> JsonRpcReader::next() {
  const Result<std::optional<std::string_view>> found = framer_.next();
  if (!found) return std::unexpected(found.error());
  const std::optional<std::string_view> frame = *found;
  if (!frame) return std::nullopt;
  if (!workshop_) workshop_ = std::make_unique<Workshop>(depth_);
  Workshop& shop = *workshop_;
  shop.document.reset();
  shop.parser.reset();
  // Not release(), because that keeps the size of the next block, which doubles with every block,
  // for the life of the resource.
  shop.memory.emplace(shop.document_space.data(), shop.document_space.size());
  shop.parser.reset(&*shop.memory);
  boost::system::error_code failed;
  shop.parser.write(frame->data(), frame->size(), failed);
  if (failed == json::error::too_deep) return fail(Errc::kLimit, "JSON nested too deep");
  if (failed) return fail(Errc::kProtocol, "JSON: {}", failed.message());
  shop.document.emplace(shop.parser.release());
  const Result<RpcMessage> message = classify(*shop.document);
  if (!message) return std::unexpected(message.error());
  return *message;
}

void append_request(std::string& out, std::uint64_t id, std::string_view method,
                    std::string_view params) {
  fmt::format_to(std::back_inserter(out), R"({{"id":{},"method":"{}","params":{}}})", id, method,
                 params);
}

void append_echo_reply(std::string& out, const RpcMessage& request) {
  const std::string params = request.params == nullptr ? "[]" : json::serialize(*request.params);
  fmt::format_to(std::back_inserter(out), R"({{"id":{},"result":{},"error":null}})",
                 json::serialize(*request.id), params);
}

std::string json_string(std::string_view text) {
  return json::serialize(json::string_view(text.data(), text.size()));
}

Result<const json::value*> result_of(const RpcMessage& reply) {
  if (reply.error != nullptr) return fail(Errc::kRejected, "{}", describe_error(*reply.error));
  if (reply.result == nullptr) return fail(Errc::kProtocol, "a reply without a result");
  if (const json::array* const operations = reply.result->if_array()) {
    for (const json::value& operation : *operations) {
      const json::object* const fields = operation.if_object();
      const json::value* const error = fields == nullptr ? nullptr : fields->if_contains("error");
      if (error != nullptr && !error->is_null())
        return fail(Errc::kRejected, "{}", describe_error(operation));
    }
  }
  return reply.result;
}

bool is_unknown_method(const Error& error) noexcept {
  return error.code == Errc::kRejected && error.context.ends_with("unknown method");
}

}  // namespace wardmote::codec
