#include "net/curl/transfer.h"

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
#include "net/boot_timer.h"
#include "net/curl/job.h"
#include "runtime/http.h"
#include "runtime/http_client.h"

namespace wardmote::net {
namespace {

constexpr std::size_t kHeaderBytes = 64 << 10;

std::string lower(std::string_view text) {
  std::string lowered(text);
  for (char& c : lowered) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lowered;
}

/// `https://host:port`, without user, path and query.
std::string server_of(std::string_view url) {
  const std::size_t scheme = url.find("://");
  if (scheme == std::string_view::npos) return "an address without a scheme";
  const std::size_t path = url.find_first_of("/?#", scheme + 3);
  std::string_view server = url.substr(0, path);
  if (const std::size_t user = server.rfind('@'); user != std::string_view::npos) {
    return std::string(url.substr(0, scheme + 3)) + std::string(server.substr(user + 1));
  }
  return std::string(server);
}

/// The bytes outlive the transfer.
void set_pem(CURL* curl, CURLoption option, std::string& pem) {
  if (pem.empty()) return;
  curl_blob blob{.data = pem.data(), .len = pem.size(), .flags = CURL_BLOB_NOCOPY};
  curl_easy_setopt(curl, option, &blob);
}

}  // namespace

CurlTransfer::CurlTransfer(runtime::HttpCall call, Duration timeout, Done done)
    : call_(std::move(call)), done_(std::move(done)) {
  CURL* const curl = handle();
  if (curl == nullptr) return;
  for (const auto& [name, value] : call_.headers)
    append(headers_, fmt::format("{}: {}", name, value).c_str());
  append(headers_, "Expect:");
  curl_easy_setopt(curl, CURLOPT_PRIVATE, this);
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, said_.data());
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(curl, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  curl_easy_setopt(curl, CURLOPT_URL, call_.url.c_str());
  curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, call_.method.c_str());
  curl_easy_setopt(curl, CURLOPT_USERAGENT, "wardmoted/" WARDMOTE_VERSION);
  if (call_.method == "POST" || !call_.body.empty()) {
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(call_.body.size()));
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, call_.body.data());
  }
  if (!call_.trust.empty()) curl_easy_setopt(curl, CURLOPT_CAINFO, call_.trust.c_str());
  set_pem(curl, CURLOPT_CAINFO_BLOB, call_.trust_pem);
  set_pem(curl, CURLOPT_SSLCERT_BLOB, call_.certificate_pem);
  set_pem(curl, CURLOPT_SSLKEY_BLOB, call_.key_pem);
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers_.get());
  // Zero would mean no timeout at all.
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS,
                   static_cast<long>(std::max<std::int64_t>(1, to_ms(timeout))));
  if (call_.send_before) {
    curl_easy_setopt(curl, CURLOPT_PREREQFUNCTION, may_send);
    curl_easy_setopt(curl, CURLOPT_PREREQDATA, this);
  }
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, this);
  curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, take_header);
  curl_easy_setopt(curl, CURLOPT_HEADERDATA, this);
}

/// Asked when the connection is there, and nothing of the request was sent.
int CurlTransfer::may_send(void* self, char* /*there*/, char* /*here*/, int /*port_there*/,
                           int /*port_here*/) {
  auto* const transfer = static_cast<CurlTransfer*>(self);
  transfer->too_late_ = SystemBootClock::now() >= *transfer->call_.send_before;
  return transfer->too_late_ ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

std::size_t CurlTransfer::take_body(char* bytes, std::size_t one, std::size_t size, void* self) {
  auto* const transfer = static_cast<CurlTransfer*>(self);
  if (transfer->response_.body.size() + size > transfer->call_.answer_bytes) {
    transfer->too_long_ = true;
    return 0;
  }
  transfer->response_.body.append(bytes, one * size);
  transfer->has_line_ =
      transfer->ends_with_a_line_ && transfer->response_.body.find('\n') != std::string::npos;
  return transfer->has_line_ ? 0 : one * size;  // 0 ends it
}

std::size_t CurlTransfer::take_header(char* bytes, std::size_t one, std::size_t size, void* self) {
  auto* const transfer = static_cast<CurlTransfer*>(self);
  transfer->header_bytes_ += size;
  if (transfer->header_bytes_ > kHeaderBytes) {
    transfer->too_long_ = true;
    return 0;
  }
  std::string_view line(bytes, one * size);
  if (line.starts_with("HTTP/")) {
    transfer->response_.headers.clear();
    transfer->head_ended_ = false;
  }
  if (trim(line).empty()) transfer->head_ended_ = true;
  const std::size_t colon = line.find(':');
  if (colon != std::string_view::npos) {
    transfer->response_.headers.emplace_back(lower(trim(line.substr(0, colon))),
                                             trim(line.substr(colon + 1)));
  }
  return one * size;
}

std::string CurlTransfer::where() const {
  return fmt::format("{} {}", call_.method, server_of(call_.url));
}

void CurlTransfer::finish(CURLcode code) {
  if (code != CURLE_OK && !has_line_) {
    done_(std::unexpected(error_of(code)));
    return;
  }
  // libcurl takes a header that the server cut off for a complete one.
  if (!head_ended_) {
    done_(fail(Errc::kClosed, "{}: the answer is cut short", where()));
    return;
  }
  long status = 0;
  curl_easy_getinfo(handle(), CURLINFO_RESPONSE_CODE, &status);
  response_.status = static_cast<int>(status);
  done_(std::move(response_));
}

Error CurlTransfer::error_of(CURLcode code) const {
  if (*broken_off) return {Errc::kClosed, where() + ": broken off"};
  if (too_late_) return {Errc::kTimeout, where() + ": not sent, because it was too late"};
  if (too_long_) return {Errc::kLimit, where() + ": the answer is too long"};
  long system_error = 0;
  curl_easy_getinfo(handle(), CURLINFO_OS_ERRNO, &system_error);
  const std::string_view said = said_.front() == 0 ? curl_easy_strerror(code) : said_.data();
  Errc errc = errc_of(code, system_error);
  // libcurl has one code for an answer that is not HTTP and for an address of another protocol. The
  // request was sent, so the address is good.
  long sent = 0;
  curl_easy_getinfo(handle(), CURLINFO_REQUEST_SIZE, &sent);
  if (errc == Errc::kInvalid && sent > 0) errc = Errc::kProtocol;
  return {errc, fmt::format("{}: {}", where(), escape_control(said, 200))};
}

}  // namespace wardmote::net
