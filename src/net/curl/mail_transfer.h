#pragma once

#include <curl/curl.h>

#include <array>
#include <cstddef>
#include <functional>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "net/curl/job.h"
#include "runtime/mail_client.h"

namespace wardmote::net {

/// One message under way.
class CurlMailTransfer final : public CurlJob {
 public:
  using Value = void;
  using Done = std::move_only_function<void(Result<void>)>;

  CurlMailTransfer(runtime::MailCall call, Duration timeout, Done done);
  ~CurlMailTransfer() override { drop(); }
  CurlMailTransfer(const CurlMailTransfer&) = delete;
  CurlMailTransfer& operator=(const CurlMailTransfer&) = delete;
  void finish(CURLcode code) override;

 private:
  static std::size_t give_message(char* into, std::size_t one, std::size_t size, void* self);
  [[nodiscard]] Error error_of(CURLcode code) const;

  runtime::MailCall call_;
  Done done_;
  List recipients_;
  std::string_view left_;  ///< of the message, not yet given
  std::array<char, CURL_ERROR_SIZE> said_{};
};

}  // namespace wardmote::net
