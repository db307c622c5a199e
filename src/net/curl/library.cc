#include "net/curl/library.h"

#include <curl/curl.h>
#include <dlfcn.h>

#include <expected>
#include <type_traits>

#include "base/check.h"
#include "base/result.h"

namespace wardmote::net {
namespace {

/// By the name that stands for its binary interface.
constexpr const char* kLibrary = "libcurl.so.4";

Error unloadable(const char* name) {
  const char* const why = ::dlerror();  // NOLINT(concurrency-mt-unsafe): one text for each thread
  return {Errc::kMissing, why == nullptr ? name : why};
}

const Result<CurlLibrary>& library() {
  static const Result<CurlLibrary> kLoaded = open_curl(kLibrary);
  return kLoaded;
}

}  // namespace

Result<CurlLibrary> open_curl(const char* name) {
  void* const handle = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return std::unexpected(unloadable(name));
  CurlLibrary found{};
  bool whole = true;
  const auto find = [&](auto& function, const char* symbol) {
    function =
        reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(handle, symbol));
    whole = whole && function != nullptr;
  };
  find(found.global_init, "curl_global_init");
  find(found.easy_init, "curl_easy_init");
  find(found.easy_cleanup, "curl_easy_cleanup");
  find(found.easy_setopt, "curl_easy_setopt");
  find(found.easy_getinfo, "curl_easy_getinfo");
  find(found.easy_strerror, "curl_easy_strerror");
  find(found.slist_append, "curl_slist_append");
  find(found.slist_free_all, "curl_slist_free_all");
  find(found.multi_init, "curl_multi_init");
  find(found.multi_cleanup, "curl_multi_cleanup");
  find(found.multi_add_handle, "curl_multi_add_handle");
  find(found.multi_remove_handle, "curl_multi_remove_handle");
  find(found.multi_perform, "curl_multi_perform");
  find(found.multi_info_read, "curl_multi_info_read");
  find(found.multi_poll, "curl_multi_poll");
  find(found.multi_wakeup, "curl_multi_wakeup");
  if (!whole) return std::unexpected(unloadable(name));
  if (found.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
    return fail(Errc::kInternal, "libcurl cannot start");
  return found;
}

Result<void> load_curl() {
  if (!library()) return std::unexpected(library().error());
  return {};
}

const CurlLibrary& curl() {
  check(library().has_value(), "libcurl is used before it is loaded");
  return *library();
}

}  // namespace wardmote::net
