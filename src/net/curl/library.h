#pragma once

#include <curl/curl.h>

#include "base/result.h"

namespace wardmote::net {

/// The functions of libcurl that are used here. It is loaded when somebody is to be told something:
/// what it brings with it (a second TLS, Kerberos, LDAP) takes 4.6 MB, and most agents that watch
/// tell nobody by themselves.
struct CurlLibrary {
  decltype(&::curl_global_init) global_init;
  decltype(&::curl_easy_init) easy_init;
  decltype(&::curl_easy_cleanup) easy_cleanup;
  decltype(&::curl_easy_setopt) easy_setopt;
  decltype(&::curl_easy_getinfo) easy_getinfo;
  decltype(&::curl_easy_strerror) easy_strerror;
  decltype(&::curl_slist_append) slist_append;
  decltype(&::curl_slist_free_all) slist_free_all;
  decltype(&::curl_multi_init) multi_init;
  decltype(&::curl_multi_cleanup) multi_cleanup;
  decltype(&::curl_multi_add_handle) multi_add_handle;
  decltype(&::curl_multi_remove_handle) multi_remove_handle;
  decltype(&::curl_multi_perform) multi_perform;
  decltype(&::curl_multi_info_read) multi_info_read;
  decltype(&::curl_multi_poll) multi_poll;
  decltype(&::curl_multi_wakeup) multi_wakeup;
};

/// Loads the library of this name, for good. kMissing: it is not installed, or is another one.
/// Takes tens of milliseconds. Thread: any.
Result<CurlLibrary> open_curl(const char* name);

/// The same, once, with the libcurl of this machine.
Result<void> load_curl();

/// What load_curl() loaded. Precondition: it did. Thread: any.
const CurlLibrary& curl();

}  // namespace wardmote::net
