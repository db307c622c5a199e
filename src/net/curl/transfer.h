#pragma once

#include <curl/curl.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "runtime/http.h"
#include "runtime/http_client.h"

namespace wardmote::net {

/// One request under way. Thread: the worker's, but for `broken_off`.
class CurlTransfer {
 public:
  using Done = std::move_only_function<void(Result<runtime::HttpResponse>)>;

  CurlTransfer(runtime::HttpCall call, Duration timeout, Done done);
  CurlTransfer(const CurlTransfer&) = delete;
  CurlTransfer& operator=(const CurlTransfer&) = delete;
  ~CurlTransfer() = default;

  [[nodiscard]] CURL* handle() const noexcept { return handle_.get(); }
  /// Hands the result over. Once.
  void finish(CURLcode code);

  std::shared_ptr<std::atomic<bool>> broken_off = std::make_shared<std::atomic<bool>>(false);

 private:
  struct Cleanup {
    void operator()(CURL* handle) const noexcept { curl_easy_cleanup(handle); }
    void operator()(curl_slist* list) const noexcept { curl_slist_free_all(list); }
  };

  static std::size_t take_body(char* bytes, std::size_t one, std::size_t size, void* self);
  static std::size_t take_header(char* bytes, std::size_t one, std::size_t size, void* self);
  void add_header(const std::string& line);
  [[nodiscard]] Error error_of(CURLcode code) const;

  runtime::HttpCall call_;
  Done done_;
  std::unique_ptr<CURL, Cleanup> handle_;
  std::unique_ptr<curl_slist, Cleanup> headers_;
  std::array<char, CURL_ERROR_SIZE> said_{};
  runtime::HttpResponse response_;
  std::size_t header_bytes_ = 0;
  bool too_long_ = false;
};

}  // namespace wardmote::net
