#pragma once

#include <curl/curl.h>

#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>

#include "base/result.h"
#include "base/time.h"
#include "net/curl/job.h"
#include "runtime/http.h"
#include "runtime/http_client.h"

namespace wardmote::net {

/// One request under way.
class CurlTransfer : public CurlJob {
 public:
  using Value = runtime::HttpResponse;
  using Done = std::move_only_function<void(Result<Value>)>;

  CurlTransfer(runtime::HttpCall call, Duration timeout, Done done);
  ~CurlTransfer() override { drop(); }
  CurlTransfer(const CurlTransfer&) = delete;
  CurlTransfer& operator=(const CurlTransfer&) = delete;
  void finish(CURLcode code) override;

 protected:
  void end_with_a_line() noexcept { ends_with_a_line_ = true; }

 private:
  static std::size_t take_body(char* bytes, std::size_t one, std::size_t size, void* self);
  static int may_send(void* self, char* there, char* here, int port_there, int port_here);
  static std::size_t take_header(char* bytes, std::size_t one, std::size_t size, void* self);
  [[nodiscard]] std::string where() const;
  [[nodiscard]] Error error_of(CURLcode code) const;

  runtime::HttpCall call_;
  Done done_;
  List headers_;
  std::array<char, CURL_ERROR_SIZE> said_{};
  runtime::HttpResponse response_;
  std::size_t header_bytes_ = 0;
  bool too_long_ = false;
  bool ends_with_a_line_ = false;
  bool has_line_ = false;
  bool too_late_ = false;    ///< for its request to be sent
  bool head_ended_ = false;  ///< by its empty line
};

/// One that ends with the first line of its answer.
class CurlLineTransfer final : public CurlTransfer {
 public:
  CurlLineTransfer(runtime::HttpCall call, Duration timeout, Done done)
      : CurlTransfer(std::move(call), timeout, std::move(done)) {
    end_with_a_line();
  }
};

}  // namespace wardmote::net
