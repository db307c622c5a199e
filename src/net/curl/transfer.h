#pragma once

#include <curl/curl.h>

#include <array>
#include <cstddef>
#include <functional>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "net/curl/job.h"
#include "runtime/http.h"
#include "runtime/http_client.h"

namespace wardmote::net {

/// One request under way.
class CurlTransfer final : public CurlJob {
 public:
  using Value = runtime::HttpResponse;
  using Done = std::move_only_function<void(Result<Value>)>;

  CurlTransfer(runtime::HttpCall call, Duration timeout, Done done);
  ~CurlTransfer() override { drop(); }
  CurlTransfer(const CurlTransfer&) = delete;
  CurlTransfer& operator=(const CurlTransfer&) = delete;
  void finish(CURLcode code) override;

 private:
  static std::size_t take_body(char* bytes, std::size_t one, std::size_t size, void* self);
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
  bool head_ended_ = false;  ///< by its empty line
};

}  // namespace wardmote::net
