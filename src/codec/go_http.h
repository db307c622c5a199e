#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace wardmote::codec {

/// Reads the header of an answer exactly as Go's net/http does (net/http/response.go ReadResponse,
/// net/textproto ReadMIMEHeader, net/http/transfer.go): any version, folded headers, blanks before
/// a colon, a length beside chunks; no transfer coding but `chunked`. Errors are kProtocol with
/// Go's text, and kLimit. It exists so that a node can be compared with Calico's answers; nothing
/// else uses it.
class GoHttpReader {
 public:
  Result<void> take(std::string_view bytes);
  /// Call when the peer has closed: the remaining bytes are the last line. kProtocol when that is
  /// not a status line, else kClosed.
  Result<void> closed();

  /// Status and headers are complete.
  [[nodiscard]] bool has_head() const noexcept { return done_; }
  [[nodiscard]] int status() const noexcept { return status_; }
  [[nodiscard]] const std::string& location() const noexcept { return location_; }
  /// Whether any byte has arrived.
  [[nodiscard]] bool begun() const noexcept { return begun_; }

 private:
  struct Header {
    std::string name;
    std::string value;
  };

  Result<void> read_line(std::string_view line);
  Result<void> read_status(std::string_view line);
  Result<void> read_header(std::string_view line);
  Result<void> end_head();
  Result<void> check_length();
  [[nodiscard]] std::vector<std::string> values(std::string_view lower) const;

  std::string held_;  ///< of an incomplete line
  std::size_t size_ = 0;
  std::vector<Header> headers_;
  int status_ = 0;  ///< 0 before the status line
  int interim_ = 0;
  bool modern_ = false;  ///< HTTP/1.1 and later
  std::string location_;
  bool begun_ = false;
  bool done_ = false;
};

/// As %q of Go's fmt, cut at 120 bytes.
std::string go_quoted(std::string_view text);

}  // namespace wardmote::codec
