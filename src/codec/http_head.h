#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace wardmote::codec {

struct HttpHeadLimits {
  std::size_t bytes = 64 << 10;  ///< of all lines up to the empty one, interim answers included
  std::size_t fields = 100;
  std::size_t interim = 5;  ///< answers of 1xx before the real one
};

/// The status line and the header fields of an HTTP/1.x response (RFC 9112 4, 5), as far as a
/// health check asks. The body is nobody's business.
struct HttpHead {
  int status = 0;
  std::string location;  ///< empty when there is none
};

/// Reads the head of a response out of a byte stream. Lines may end in LF alone, the reason may be
/// missing, HTTP/1.0 is fine; anything else that is no head is kProtocol.
class HttpHeadReader {
 public:
  explicit HttpHeadReader(HttpHeadLimits limits = {}) noexcept : limits_(limits) {}

  /// Takes the next bytes; true once the head is whole. kProtocol, kLimit: drop the stream.
  Result<bool> feed(std::string_view bytes);
  /// Once it is whole.
  [[nodiscard]] const HttpHead& head() const noexcept { return head_; }
  /// Whether nothing has come yet.
  [[nodiscard]] bool empty() const noexcept { return bytes_ == 0; }

 private:
  Result<bool> read_line(std::string_view line);
  Result<void> read_status(std::string_view line);
  Result<void> read_field(std::string_view line);

  HttpHeadLimits limits_;
  std::string line_;  ///< under way
  std::size_t bytes_ = 0;
  std::size_t fields_ = 0;
  std::size_t interim_ = 0;
  std::string content_length_;
  HttpHead head_;
};

}  // namespace wardmote::codec
