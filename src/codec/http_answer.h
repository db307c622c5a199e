#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace wardmote::codec {

struct HttpAnswerLimits {
  /// The most bytes of the header; and again of the trailers and chunk extensions together.
  std::size_t header_bytes = 64 << 10;
  std::size_t headers = 100;  ///< and as many trailers
  int interim = 5;            ///< interim answers (1xx) before the final one
  std::size_t body_bytes = 64 << 10;
};

/// The final answer to a request (RFC 9112).
struct HttpAnswer {
  int status = 0;
  std::vector<std::pair<std::string, std::string>> headers;  ///< names in lower case
  std::string body;                                          ///< its first `body_bytes`
  bool cut = false;                                          ///< the body had more

  /// The first header of that name (in lower case); empty when there is none.
  [[nodiscard]] std::string_view header(std::string_view name) const noexcept;
};

/// Reads one answer, in pieces of any size. Strict where leniency could change the verdict (folded
/// headers, two lengths, a length and chunks), lenient elsewhere: lines that end in LF, no reason
/// phrase, HTTP/1.0. After an error it must be dropped. Not Beast, which reads the requests of the
/// API: its parser of answers accepts folded headers and unknown codings, takes a 100 for the
/// answer, and refuses lines that end in LF.
class HttpAnswerReader {
 public:
  /// `without_body`: the request was HEAD.
  explicit HttpAnswerReader(bool without_body = false, HttpAnswerLimits limits = {})
      : without_body_(without_body), limits_(limits) {}

  /// Adds received bytes. kProtocol when they are not an answer, kLimit over a limit. Bytes after
  /// the answer are not used.
  Result<void> take(std::string_view bytes);
  /// Call when the peer has closed. kClosed when something is missing.
  Result<void> closed();

  /// Status and headers are complete.
  [[nodiscard]] bool has_head() const noexcept { return part_ > Part::kHead; }
  /// The answer is complete, or has more body than wanted.
  [[nodiscard]] bool complete() const noexcept { return part_ == Part::kDone; }
  /// Complete, and the connection may carry another request.
  [[nodiscard]] bool reusable() const noexcept { return complete() && reusable_; }
  [[nodiscard]] const HttpAnswer& answer() const noexcept { return answer_; }
  /// Of the header, while it is incomplete.
  [[nodiscard]] std::size_t received() const noexcept { return pending_.size(); }

 private:
  enum class Part : std::uint8_t {
    kHead,
    kLength,
    kChunkSize,
    kChunk,
    kChunkEnd,
    kTrailer,
    kUntilClose,
    kDone
  };

  Result<void> take_head(std::string_view& bytes);
  Result<void> read_head(std::string_view head);
  Result<void> frame_body();
  Result<void> frame_by_length(std::string_view length);
  Result<void> take_body(std::string_view& bytes);
  Result<void> take_chunk_line(std::string_view& bytes);
  Result<void> read_chunk_size(std::string_view line);
  Result<void> read_trailer(std::string_view line);
  Result<void> count_extra(std::size_t bytes);
  void add_to_body(std::string_view bytes);

  bool without_body_;
  HttpAnswerLimits limits_;
  HttpAnswer answer_;
  Part part_ = Part::kHead;
  std::string pending_;      // of an incomplete header or line
  std::size_t scanned_ = 0;  // how much of pending_ was searched for the end of the header
  int interim_ = 0;
  std::uint64_t left_ = 0;  // of the body or the chunk
  std::size_t trailers_ = 0;
  std::size_t extra_bytes_ = 0;  // of trailers and chunk extensions
  bool keep_alive_ = false;
  bool reusable_ = false;
};

/// A request without a body. `headers` are whole lines without their ends; one that begins with
/// `Host:` replaces `host`.
std::string format_http_request(std::string_view method, std::string_view target,
                                std::string_view host, bool keep_open,
                                const std::vector<std::string>& headers);

}  // namespace wardmote::codec
