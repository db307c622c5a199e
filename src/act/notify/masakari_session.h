#pragma once

#include <functional>
#include <optional>
#include <string>

#include "act/notify/masakari_client.h"
#include "base/result.h"
#include "runtime/http_client.h"
#include "runtime/runtime.h"

namespace wardmote::act::notify {

/// A client of the Masakari that the configuration names now. Its secret is read when that changes,
/// and after renew(). Thread: the core loop.
class MasakariSession {
 public:
  /// Where it is now, with its secret still in its file; nothing: nowhere.
  using Source = std::function<std::optional<MasakariOptions>()>;
  using ReadSecret = std::function<Result<std::string>(const std::string& file)>;

  MasakariSession(runtime::Runtime& runtime, runtime::HttpClient& http, ReadSecret read_secret);

  /// Whether it went by the same options before.
  [[nodiscard]] bool knows(const MasakariOptions& options) const { return options_ == options; }
  /// Errors are those of the secret.
  Result<MasakariClient*> client(MasakariOptions options);
  /// The secret may have been changed.
  void renew() { client_.reset(); }
  void forget();

 private:
  runtime::Runtime& runtime_;
  runtime::HttpClient& http_;
  ReadSecret read_secret_;
  std::optional<MasakariOptions> options_;  ///< without the secret
  std::optional<MasakariClient> client_;
};

}  // namespace wardmote::act::notify
