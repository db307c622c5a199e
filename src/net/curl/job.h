#pragma once

#include <curl/curl.h>

#include <atomic>
#include <memory>

#include "base/result.h"

namespace wardmote::net {

/// A transfer on libcurl's thread. Thread: the worker's, except `broken_off`.
class CurlJob {
 public:
  CurlJob() : handle_(curl_easy_init()) {}
  CurlJob(const CurlJob&) = delete;
  CurlJob& operator=(const CurlJob&) = delete;
  virtual ~CurlJob() = default;

  [[nodiscard]] CURL* handle() const noexcept { return handle_.get(); }
  /// Returns the result to the caller. Called once.
  virtual void finish(CURLcode code) = 0;

  std::shared_ptr<std::atomic<bool>> broken_off = std::make_shared<std::atomic<bool>>(false);

 protected:
  struct Cleanup {
    void operator()(CURL* handle) const noexcept { curl_easy_cleanup(handle); }
    void operator()(curl_slist* list) const noexcept { curl_slist_free_all(list); }
  };
  using List = std::unique_ptr<curl_slist, Cleanup>;

  /// libcurl's handle refers to members of the derived class, so the derived class must end the
  /// handle first.
  void drop() noexcept { handle_.reset(); }

  static void append(List& list, const char* text) {
    curl_slist* const longer = curl_slist_append(list.get(), text);
    // the head of the list when this is the first entry; otherwise the same list
    if (longer != nullptr && !list) list.reset(longer);
  }

 private:
  std::unique_ptr<CURL, Cleanup> handle_;
};

/// The code that callers act on; `system_error` is CURLINFO_OS_ERRNO.
Errc errc_of(CURLcode code, long system_error);

}  // namespace wardmote::net
