#include "net/curl/mail_transfer.h"

#include <curl/curl.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <utility>

#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "net/curl/job.h"
#include "runtime/mail_client.h"

namespace wardmote::net {

using Tls = runtime::MailCall::Tls;

CurlMailTransfer::CurlMailTransfer(runtime::MailCall call, Duration timeout, Done done)
    : call_(std::move(call)), done_(std::move(done)), left_(call_.message) {
  CURL* const curl = handle();
  if (curl == nullptr) return;
  // The path of the address is what we say in EHLO.
  const std::string url = fmt::format("{}://{}/{}", call_.tls == Tls::kWhole ? "smtps" : "smtp",
                                      call_.server, call_.helo);
  for (const std::string& address : call_.to)
    append(recipients_, fmt::format("<{}>", address).c_str());
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, said_.data());
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "smtp,smtps");
  curl_easy_setopt(curl, CURLOPT_PROXY, "");
  curl_easy_setopt(curl, CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
  curl_easy_setopt(curl, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl, CURLOPT_USE_SSL,
                   static_cast<long>(call_.tls == Tls::kNever ? CURLUSESSL_NONE : CURLUSESSL_ALL));
  // libcurl would send over a connection of somebody who wanted no TLS, if one is open still.
  curl_easy_setopt(curl, CURLOPT_FRESH_CONNECT, 1L);
  curl_easy_setopt(curl, CURLOPT_FORBID_REUSE, 1L);
  if (!call_.trust.empty()) curl_easy_setopt(curl, CURLOPT_CAINFO, call_.trust.c_str());
  if (!call_.user.empty()) {
    curl_easy_setopt(curl, CURLOPT_USERNAME, call_.user.c_str());
    curl_easy_setopt(curl, CURLOPT_PASSWORD, call_.password.c_str());
  }
  curl_easy_setopt(curl, CURLOPT_MAIL_FROM, fmt::format("<{}>", call_.from).c_str());
  curl_easy_setopt(curl, CURLOPT_MAIL_RCPT, recipients_.get());
  curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
  curl_easy_setopt(curl, CURLOPT_READFUNCTION, give_message);
  curl_easy_setopt(curl, CURLOPT_READDATA, this);
  // Zero would mean no end at all.
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS,
                   static_cast<long>(std::max<std::int64_t>(1, to_ms(timeout))));
}

std::size_t CurlMailTransfer::give_message(char* into, std::size_t one, std::size_t size,
                                           void* self) {
  auto* const transfer = static_cast<CurlMailTransfer*>(self);
  const std::size_t given = transfer->left_.copy(into, one * size);
  transfer->left_.remove_prefix(given);
  return given;
}

void CurlMailTransfer::finish(CURLcode code) {
  if (code == CURLE_OK) {
    done_(Result<void>());
  } else {
    done_(std::unexpected(error_of(code)));
  }
}

Error CurlMailTransfer::error_of(CURLcode code) const {
  const std::string where = fmt::format("mail by {}", call_.server);
  if (*broken_off) return {Errc::kClosed, where + ": broken off"};
  long system_error = 0;
  long reply = 0;
  curl_easy_getinfo(handle(), CURLINFO_OS_ERRNO, &system_error);
  curl_easy_getinfo(handle(), CURLINFO_RESPONSE_CODE, &reply);
  Errc errc = errc_of(code, system_error);
  if (code == CURLE_LOGIN_DENIED || code == CURLE_USE_SSL_FAILED) {
    errc = Errc::kDenied;
  } else if (reply >= 500 && reply < 600) {
    errc = Errc::kRejected;
  }
  const std::string_view said = said_.front() == 0 ? curl_easy_strerror(code) : said_.data();
  return {errc, fmt::format("{}: {}", where, escape_control(said, 200))};
}

}  // namespace wardmote::net
