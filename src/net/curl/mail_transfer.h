#pragma once

#include <curl/curl.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "net/curl/job.h"
#include "runtime/mail_client.h"

namespace wardmote::net {

/// One message under way.
class CurlMailTransfer final : public CurlJob {
 public:
  using Value = runtime::MailReceipt;
  using Done = std::move_only_function<void(Result<Value>)>;

  CurlMailTransfer(runtime::MailCall call, Duration timeout, Done done);
  ~CurlMailTransfer() override { drop(); }
  CurlMailTransfer(const CurlMailTransfer&) = delete;
  CurlMailTransfer& operator=(const CurlMailTransfer&) = delete;
  void finish(CURLcode code) override;

 private:
  static std::size_t give_message(char* into, std::size_t one, std::size_t size, void* self);
  static int watch(CURL* curl, curl_infotype type, char* bytes, std::size_t size, void* self);
  void begin_command(std::string_view command);
  void take_reply(std::string_view line);
  void end_reply();
  [[nodiscard]] Error error_of(CURLcode code) const;

  runtime::MailCall call_;
  Done done_;
  List recipients_;
  std::string_view left_;  ///< how many bytes of the message libcurl has not fetched yet
  std::array<char, CURL_ERROR_SIZE> said_{};

  /// The last command that was sent, as far as its kind matters.
  enum class Command : std::uint8_t { kNone, kRecipient, kMessage, kOther };
  /// The server's answer to that command, of one or several lines.
  struct Reply {
    int code = 0;
    std::string text;
    bool whole = false;
  };
  Command command_ = Command::kNone;
  Reply reply_;
  std::size_t asked_ = 0;  ///< recipients
  bool quits_ = false;     ///< the dialogue is complete; later answers do not matter
  runtime::MailReceipt receipt_;
};

}  // namespace wardmote::net
