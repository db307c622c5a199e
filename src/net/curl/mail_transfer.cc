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

namespace {

/// The text of a server's answer, for people.
constexpr std::size_t kQuoted = 200;

}  // namespace

CurlMailTransfer::CurlMailTransfer(runtime::MailCall call, Duration timeout, Done done)
    : call_(std::move(call)), done_(std::move(done)), left_(call_.message) {
  CURL* const curl = handle();
  if (curl == nullptr) return;
  // libcurl sends the path of the address as our name in EHLO.
  const std::string url = fmt::format("{}://{}/{}", call_.tls == Tls::kImplicit ? "smtps" : "smtp",
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
  // Otherwise libcurl would reuse an open connection of a receiver that wanted no TLS.
  curl_easy_setopt(curl, CURLOPT_FRESH_CONNECT, 1L);
  curl_easy_setopt(curl, CURLOPT_FORBID_REUSE, 1L);
  if (!call_.trust.empty()) curl_easy_setopt(curl, CURLOPT_CAINFO, call_.trust.c_str());
  if (!call_.user.empty()) {
    curl_easy_setopt(curl, CURLOPT_USERNAME, call_.user.c_str());
    curl_easy_setopt(curl, CURLOPT_PASSWORD, call_.password.c_str());
  }
  curl_easy_setopt(curl, CURLOPT_MAIL_FROM, fmt::format("<{}>", call_.from).c_str());
  curl_easy_setopt(curl, CURLOPT_MAIL_RCPT, recipients_.get());
  // One wrong address must not cost the other recipients their mail. (This is the spelling of
  // libcurl 7.)
  curl_easy_setopt(curl, CURLOPT_MAIL_RCPT_ALLLOWFAILS, 1L);
  // libcurl reports only here which recipient was refused, and in which words.
  curl_easy_setopt(curl, CURLOPT_VERBOSE, 1L);
  curl_easy_setopt(curl, CURLOPT_DEBUGFUNCTION, watch);
  curl_easy_setopt(curl, CURLOPT_DEBUGDATA, this);
  curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
  curl_easy_setopt(curl, CURLOPT_READFUNCTION, give_message);
  curl_easy_setopt(curl, CURLOPT_READDATA, this);
  // Zero would mean no timeout at all.
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

int CurlMailTransfer::watch(CURL* /*curl*/, curl_infotype type, char* bytes, std::size_t size,
                            void* self) {
  auto* const transfer = static_cast<CurlMailTransfer*>(self);
  const std::string_view said(bytes, size);
  if (type == CURLINFO_HEADER_OUT) transfer->begin_command(said);
  if (type == CURLINFO_DATA_OUT) transfer->reply_ = {};
  if (type == CURLINFO_HEADER_IN) transfer->take_reply(said);
  return 0;
}

void CurlMailTransfer::begin_command(std::string_view command) {
  if (command.starts_with("QUIT")) {
    // Otherwise libcurl waits for the answer for two minutes, and all other transfers wait too.
    curl_easy_setopt(handle(), CURLOPT_SERVER_RESPONSE_TIMEOUT, 1L);
    quits_ = true;
  }
  if (quits_) return;
  reply_ = {};
  command_ = Command::kOther;
  if (command.starts_with("MAIL FROM") || command.starts_with("DATA")) command_ = Command::kMessage;
  if (!command.starts_with("RCPT TO")) return;
  command_ = Command::kRecipient;
  ++asked_;
}

/// RFC 5321 4.2.1: `550-first`, `550 last`.
void CurlMailTransfer::take_reply(std::string_view line) {
  constexpr std::size_t kCode = 3;
  if (quits_) return;
  if (reply_.whole) reply_ = {};
  const auto code = parse_number<int>(line.substr(0, kCode));
  if (!code) return;
  if (reply_.code != *code) reply_ = {*code, fmt::format("{}", *code)};
  const std::string_view text = trim(line.substr(std::min(line.size(), kCode + 1)));
  const std::size_t room = kQuoted - std::min(kQuoted, reply_.text.size());
  reply_.text += (" " + std::string(text)).substr(0, room);
  reply_.whole = line.size() <= kCode || line[kCode] != '-';
  if (reply_.whole) end_reply();
}

void CurlMailTransfer::end_reply() {
  if (command_ != Command::kRecipient || reply_.code / 100 == 2) return;
  if (asked_ == 0 || asked_ > call_.to.size()) return;
  receipt_.refused.push_back(
      {call_.to[asked_ - 1], reply_.code / 100 == 5, escape_control(reply_.text, kQuoted)});
}

void CurlMailTransfer::finish(CURLcode code) {
  if (code == CURLE_OK || receipt_.refused.size() == call_.to.size()) {
    done_(std::move(receipt_));
  } else {
    done_(std::unexpected(error_of(code)));
  }
}

Error CurlMailTransfer::error_of(CURLcode code) const {
  const std::string where = fmt::format("mail by {}", call_.server);
  if (*broken_off) return {Errc::kClosed, where + ": broken off"};
  long system_error = 0;
  curl_easy_getinfo(handle(), CURLINFO_OS_ERRNO, &system_error);
  Errc errc = errc_of(code, system_error);
  if (code == CURLE_LOGIN_DENIED || code == CURLE_USE_SSL_FAILED) {
    errc = Errc::kDenied;
  } else if (reply_.code / 100 == 5 && command_ != Command::kRecipient) {
    errc = Errc::kRejected;
  }
  std::string_view said = said_.front() == 0 ? curl_easy_strerror(code) : said_.data();
  // Not of a login, because the answer might repeat what was sent.
  if (reply_.code >= 400 && command_ != Command::kOther) said = reply_.text;
  return {errc, fmt::format("{}: {}", where, escape_control(said, kQuoted))};
}

}  // namespace wardmote::net
