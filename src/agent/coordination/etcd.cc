#include "agent/coordination/etcd.h"

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

namespace wardmote::agent {

Result<std::unique_ptr<store::etcd::EtcdStore>> open_etcd(runtime::Runtime& runtime,
                                                          const config::Store& config,
                                                          std::string prefix) {
  store::etcd::ClientOptions options{.endpoints = config.endpoints, .user = config.user};
  if (!config.password_file.empty()) {
    Result<std::string> password = net::read_secret(config.password_file);
    if (!password) return with_context(password, "store");
    options.password = *std::move(password);
  }
  return std::make_unique<store::etcd::EtcdStore>(runtime, std::move(options), std::move(prefix));
}

std::string shared_prefix(const config::Store& config) {
  return fmt::format("/wardmote/{}/", config.name);
}

}  // namespace wardmote::agent
