#pragma once

#include <curl/curl.h>

#include <atomic>
#include <memory>

#include "base/result.h"
#include "base/time.h"
#include "net/curl/library.h"

namespace wardmote::net {

/// Something under way on libcurl's thread. Thread: the worker's, but for `broken_off`.
class CurlJob {
 public:
  CurlJob() = default;
  CurlJob(const CurlJob&) = delete;
  CurlJob& operator=(const CurlJob&) = delete;
  virtual ~CurlJob() = default;

  /// Says what is to be done in handle(), which it returns; null: there is no memory. Before
  /// finish().
  CURL* prepare(TimePoint now) {
    handle_.reset(curl().easy_init());
    if (handle_) describe(handle_.get(), now);
    return handle_.get();
  }
  [[nodiscard]] CURL* handle() const noexcept { return handle_.get(); }
  /// Instead of prepare() and finish(), when there is no libcurl.
  virtual void refuse(Error error) = 0;
  /// Hands the result over. Once.
  virtual void finish(CURLcode code) = 0;

  std::shared_ptr<std::atomic<bool>> broken_off = std::make_shared<std::atomic<bool>>(false);

 protected:
  virtual void describe(CURL* handle, TimePoint now) = 0;
  struct Cleanup {
    void operator()(CURL* handle) const noexcept { curl().easy_cleanup(handle); }
    void operator()(curl_slist* list) const noexcept { curl().slist_free_all(list); }
  };
  using List = std::unique_ptr<curl_slist, Cleanup>;

  /// The handle knows the members of who derives from this: he ends it first.
  void drop() noexcept { handle_.reset(); }

  static void append(List& list, const char* text) {
    curl_slist* const longer = curl().slist_append(list.get(), text);
    if (longer != nullptr && !list) list.reset(longer);  // the first; else it is the same list
  }

 private:
  std::unique_ptr<CURL, Cleanup> handle_;
};

/// What callers act on; `system_error` is CURLINFO_OS_ERRNO.
Errc errc_of(CURLcode code, long system_error);

}  // namespace wardmote::net
