#include "conformance/store_rig.h"

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/format.h"
#include "base/text.h"
#include "codec/etcd/messages.h"
#include "net/sqlite/database.h"
#include "runtime/endpoint.h"
#include "store/embedded_store.h"
#include "store/etcd/client.h"
#include "store/etcd/etcd_store.h"

namespace wardmote::conformance {
namespace {

class EmbeddedRig final : public StoreRig {
 public:
  EmbeddedRig() {
    char name[] = "/tmp/store-conformance-XXXXXX";
    check(::mkdtemp(name) != nullptr, "no folder");
    folder_ = name;
    auto database = net::SqliteDatabase::open(runtime(), folder_ + "/store.db");
    check(database.has_value(), "no database");
    database_ = *std::move(database);
    store_ = std::make_unique<store::EmbeddedStore>(runtime(), *database_, "boot",
                                                    store::EmbeddedLimits{.history = 5000});
    const Result<void> opened = run(store_->open());
    check(opened.has_value(), "no store");
  }
  ~EmbeddedRig() override {
    store_.reset();
    database_.reset();
    std::filesystem::remove_all(folder_);
  }
  store::Store& store() override { return *store_; }
  void forget() override {
    run(database_->commit(
            {{"UPDATE store_meta SET compacted = revision", {}}, {"DELETE FROM store_event", {}}},
            soon()))
        .value();
  }

 private:
  std::string folder_;
  std::unique_ptr<net::SqliteDatabase> database_;
  std::unique_ptr<store::EmbeddedStore> store_;
};

std::vector<runtime::Endpoint> endpoints_of(const std::string& text) {
  std::vector<runtime::Endpoint> endpoints;
  for (const std::string_view one : split(text, ','))
    endpoints.push_back(runtime::parse_endpoint(one).value());
  return endpoints;
}

class EtcdRig final : public StoreRig {
 public:
  explicit EtcdRig(const std::string& endpoints)
      : store_(runtime(), {.endpoints = endpoints_of(endpoints)},
               fmt::format("/conformance/{:x}/", runtime().random())) {}
  ~EtcdRig() override { runtime().run(store_.stop()); }
  store::Store& store() override { return store_; }
  void forget() override {
    const auto now = run(store_.get("x", soon()));
    run(store_.client().call("/etcdserverpb.KV/Compact",
                             codec::etcd::encode_compact(now.value().revision),
                             store::etcd::Client::Repeat::kSafe, soon()))
        .value();
  }

 private:
  store::etcd::EtcdStore store_;
};

}  // namespace

std::unique_ptr<StoreRig> make_embedded_rig() {
  return std::make_unique<EmbeddedRig>();
}

std::unique_ptr<StoreRig> make_etcd_rig(const std::string& endpoints) {
  return std::make_unique<EtcdRig>(endpoints);
}

}  // namespace wardmote::conformance
