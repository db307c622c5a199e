#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "config/config.h"
#include "runtime/runtime.h"
#include "store/etcd/etcd_store.h"

namespace wardmote::daemon {

/// The store in the etcd cluster of the configuration, with `prefix` before each key, and the beat
/// of the agents under `beat_key` behind that. kInvalid: the password cannot be read.
Result<std::unique_ptr<store::etcd::EtcdStore>> open_etcd(runtime::Runtime& runtime,
                                                          const config::Store& config,
                                                          std::string prefix, std::string beat_key);
/// What agents of the store's name share.
std::string shared_prefix(const config::Store& config);

}  // namespace wardmote::daemon
