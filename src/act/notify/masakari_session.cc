#include "act/notify/masakari_session.h"

#include <expected>
#include <utility>

#include "act/notify/masakari_client.h"
#include "base/result.h"
#include "runtime/http_client.h"
#include "runtime/runtime.h"

namespace wardmote::act::notify {

MasakariSession::MasakariSession(runtime::Runtime& runtime, runtime::HttpClient& http,
                                 ReadSecret read_secret)
    : runtime_(runtime), http_(http), read_secret_(std::move(read_secret)) {}

Result<MasakariClient*> MasakariSession::client(MasakariOptions options) {
  if (client_ && knows(options)) return &*client_;
  options_ = options;
  client_.reset();
  if (!options.keystone.secret_file.empty()) {
    auto secret = read_secret_(options.keystone.secret_file);
    if (!secret) return std::unexpected(secret.error());
    options.keystone.login.secret = *std::move(secret);
  }
  return &client_.emplace(runtime_, http_, std::move(options));
}

void MasakariSession::forget() {
  options_.reset();
  client_.reset();
}

}  // namespace wardmote::act::notify
