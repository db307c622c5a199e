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
  std::size_t room = 4096;  ///< bytes that are awaited at first; more as a message needs it
};

/// Cuts a byte stream of concatenated JSON objects, without length or separator between them (RFC
/// 7047 4.1 as OVS speaks it), into objects. It counts braces outside strings and does not check
/// the JSON within.
///
/// Use: read bytes into room(), tell received(), then call next() until it has no more. After an
/// error the stream has no known position any more and must be dropped.
class JsonFramer {
 public:
  explicit JsonFramer(FrameLimits limits = {}) noexcept : limits_(limits) {}

  /// Where to put the next bytes; never empty. Ends the life of the views that next() gave.
  std::span<char> room();
  void received(std::size_t bytes) noexcept { end_ += bytes; }
  /// The next whole object, or nothing until more bytes come. kProtocol for bytes that begin no
  /// object; kLimit.
  Result<std::optional<std::string_view>> next();
  /// Whether some bytes of an unfinished object are held.
  [[nodiscard]] bool partial() const noexcept { return begin_ != end_; }
  /// Gives the memory back unless an unfinished object is held. Ends the life of the views that
  /// next() gave.
  void rest() noexcept;

 private:
  /// Moves scan_ past the last brace of the object that began at begin_, if it is there.
  Result<bool> find_end();

  FrameLimits limits_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;  ///< of the object under way
  std::size_t scan_ = 0;   ///< looked at up to here
  std::size_t end_ = 0;    ///< of what was received
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

  /// Whether it answers the request with this id.
  [[nodiscard]] bool answers(std::uint64_t request_id) const noexcept;
};

/// What kind of message an object is. kProtocol when it is none.
Result<RpcMessage> classify(const boost::json::value& document);

/// Reads messages off a byte stream: JsonFramer and parser in one, with the memory of one message
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
  /// The next message, valid until the following call; nothing until more bytes come. kProtocol,
  /// kLimit: drop the stream.
  Result<std::optional<RpcMessage>> next();
  /// Gives back the memory that reading takes, and ends the life of the last message. An agent has
  /// thousands of connections, and nearly all of them are silent at any moment.
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

/// The result of a reply; kRejected with the peer's words when it is an error, whatever form that
/// has: a string, an object
/// (`error`, `details`), or an object inside the result array of a `transact`.
Result<const boost::json::value*> result_of(const RpcMessage& reply);

/// Whether the peer refused for not knowing the method (OVSDB: `"unknown method"`).
bool is_unknown_method(const Error& error) noexcept;

}  // namespace wardmote::codec
