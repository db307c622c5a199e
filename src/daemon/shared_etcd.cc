#include "daemon/shared_etcd.h"

#include <memory>
#include <string>
#include <utility>

#include "base/format.h"
#include "base/result.h"
#include "config/config.h"
#include "net/secret.h"
#include "runtime/runtime.h"
#include "store/etcd/client.h"
#include "store/etcd/etcd_store.h"

namespace wardmote::daemon {

Result<std::unique_ptr<store::etcd::EtcdStore>> open_etcd(runtime::Runtime& runtime,
                                                          const config::Store& config,
                                                          std::string prefix,
                                                          std::string beat_key) {
  store::etcd::ClientOptions options{.endpoints = config.endpoints, .user = config.user};
  if (!config.password_file.empty()) {
    options.password = [file = config.password_file] { return net::read_secret(file); };
    if (const Result<std::string> now = options.password(); !now) return with_context(now, "store");
  }
  return std::make_unique<store::etcd::EtcdStore>(runtime, std::move(options), std::move(prefix),
                                                  std::move(beat_key));
}

std::string shared_prefix(const config::Store& config) {
  return fmt::format("/wardmote/{}/", config.name);
}

}  // namespace wardmote::daemon
