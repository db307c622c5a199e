#pragma once

#include <boost/json/value.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace wardmote::codec {

struct FrameLimits {
  std::size_t message_bytes = 1 << 20;
  std::size_t depth = 64;   ///< of nested objects and arrays
  std::size_t room = 4096;  ///< first size of the buffer; it grows when a message needs more
};

/// Cuts a byte stream of concatenated JSON objects, without length or separator between them (RFC
/// 7047 4.1 as OVS speaks it), into objects. It counts braces outside strings and does not check
/// the JSON inside. Use: read bytes into room(), call received(), then call next() until it has no
/// more. After an error the position in the stream is unknown, and the stream must be dropped.
class JsonFramer {
 public:
  explicit JsonFramer(FrameLimits limits = {}) noexcept : limits_(limits) {}

  /// The buffer for the next bytes; never empty. Invalidates the views that next() gave.
  std::span<char> room();
  void received(std::size_t bytes) noexcept { end_ += bytes; }
  /// The next whole object, or nothing until more bytes come. kProtocol for bytes that do not begin
  /// an object; kLimit.
  Result<std::optional<std::string_view>> next();
  /// Whether part of an unfinished object is in the buffer.
  [[nodiscard]] bool partial() const noexcept { return begin_ != end_; }
  /// Frees the memory unless part of an unfinished object is in the buffer. Invalidates the views
  /// that next() gave.
  void rest() noexcept;

 private:
  /// Moves scan_ past the last brace of the object that begins at begin_, if it has arrived.
  Result<bool> find_end();

  FrameLimits limits_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;  ///< of the present object
  std::size_t scan_ = 0;   ///< searched up to here
  std::size_t end_ = 0;    ///< of the received bytes
  std::size_t depth_ = 0;
  bool in_string_ = false;
};

/// One JSON-RPC 1.0 message, as views into the document that JsonRpcReader holds.
struct RpcMessage {
  enum class Kind : std::uint8_t { kRequest, kNotification, kReply };

  Kind kind = Kind::kReply;
  std::string_view method;                     ///< request, notification
  const boost::json::value* id = nullptr;      ///< request, reply: any JSON
  const boost::json::value* params = nullptr;  ///< request, notification; null if omitted
  const boost::json::value* result =
      nullptr;  ///< reply; null if omitted, as OVS does beside an error
  const boost::json::value* error = nullptr;  ///< reply; null if omitted or JSON null

  /// Whether this is the reply to the request with this id.
  [[nodiscard]] bool answers(std::uint64_t request_id) const noexcept;
};

/// The kind of message of an object. kProtocol when it is not a message.
Result<RpcMessage> classify(const boost::json::value& document);

/// Reads messages from a byte stream: JsonFramer and parser in one. The memory of one message is
/// reused for the next, until rest().
class JsonRpcReader {
 public:
  explicit JsonRpcReader(FrameLimits limits = {});
  JsonRpcReader(const JsonRpcReader&) = delete;
  JsonRpcReader& operator=(const JsonRpcReader&) = delete;
  ~JsonRpcReader();

  std::span<char> room() { return framer_.room(); }
  void received(std::size_t bytes) noexcept { framer_.received(bytes); }
  [[nodiscard]] bool partial() const noexcept { return framer_.partial(); }
  /// The next message, valid until the following call; nothing until more bytes come. After
  /// kProtocol and kLimit, drop the stream.
  Result<std::optional<RpcMessage>> next();
  /// Frees the memory for reading, and invalidates the last message. An agent has thousands of
  /// connections, and nearly all of them are silent at any moment.
  void rest() noexcept;

 private:
  struct Workshop;

  std::size_t depth_;
  JsonFramer framer_;
  std::unique_ptr<Workshop> workshop_;  ///< null at rest
};

/// Appends `{"id":7,"method":"…","params":…}` to `out`; `params` is JSON text.
void append_request(std::string& out, std::uint64_t id, std::string_view method,
                    std::string_view params);
/// Appends the answer to an `echo` request: its own params as the result (RFC 7047 4.1.11).
void append_echo_reply(std::string& out, const RpcMessage& request);
/// `text` as a JSON string, with quotes.
std::string json_string(std::string_view text);

/// The result of a reply; kRejected with the peer's text when it is an error in any form: a string,
/// an object (`error`, `details`), or an object inside the result array of a `transact`.
Result<const boost::json::value*> result_of(const RpcMessage& reply);

/// Whether the peer refused because it does not know the method (OVSDB: `"unknown method"`).
bool is_unknown_method(const Error& error) noexcept;

}  // namespace wardmote::codec
