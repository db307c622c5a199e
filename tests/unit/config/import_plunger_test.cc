#include <gtest/gtest.h>

#include <string>

#include "base/result.h"
#include "config/config.h"
#include "config/import/format.h"
#include "unit/config/import_fixture.h"

namespace wardmote::config {
namespace {

/// As the chart of cozystack 1.6 renders it.
constexpr const char* kPlunger = R"(apiVersion: apps/v1
kind: Deployment
metadata: {name: kube-ovn-plunger}
spec:
  replicas: 1
  template:
    spec:
      containers:
        - name: kube-ovn-plunger
          image: registry.example/kubeovn-plunger:v1
          args:
            - --zap-log-level=debug
            - --metrics-bind-address=:8080
            - --metrics-secure=false
            - --kube-ovn-namespace=cozy-kubeovn
            - --ovn-central-name=ovn-central
)";

std::string central(const std::string& ssl) {
  return "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: ovn-central}\nspec:\n  "
         "template:\n"
         "    spec:\n      containers:\n        - name: ovn-central\n          env:\n"
         "            - {name: ENABLE_SSL, value: \"" +
         ssl +
         "\"}\n            - {name: NODE_IPS, value: \"10.0.0.1,10.0.0.2, fd00::3\"}\n"
         "            - {name: POD_IP, valueFrom: {fieldRef: {fieldPath: status.podIP}}}\n";
}

TEST(ImportPlunger, NodeIpsBecomeMembersAndWhatIsExpected) {
  const Imported made =
      import_texts({{"plunger.yaml", kPlunger}, {"central.yaml", central("false")}});
  const Config config = accepted(made);
  ASSERT_EQ(config.clusters.size(), 2U);
  EXPECT_EQ(made.yaml, R"(api:
  listen: "0.0.0.0:8080"
  socket: /run/wardmote/api.sock
clusters:
  - name: ovn-nb
    ovn:
      database: OVN_Northbound
      members:
        - name: "10.0.0.1"
          ovsdb: tcp:10.0.0.1:6641
        - name: "10.0.0.2"
          ovsdb: tcp:10.0.0.2:6641
        - name: fd00--3
          ovsdb: "tcp:[fd00::3]:6641"
      expect:
        - tcp:10.0.0.1:6643
        - tcp:10.0.0.2:6643
        - "tcp:[fd00::3]:6643"
  - name: ovn-sb
    ovn:
      database: OVN_Southbound
      members:
        - name: "10.0.0.1"
          ovsdb: tcp:10.0.0.1:6642
        - name: "10.0.0.2"
          ovsdb: tcp:10.0.0.2:6642
        - name: fd00--3
          ovsdb: "tcp:[fd00::3]:6642"
      expect:
        - tcp:10.0.0.1:6644
        - tcp:10.0.0.2:6644
        - "tcp:[fd00::3]:6644"
)");
  EXPECT_TRUE(says(made, "--zap-log-level: start the agent with --log-level")) << all_notes(made);
  EXPECT_TRUE(says(made, "--kube-ovn-namespace: no counterpart is needed"));
  EXPECT_FALSE(says(made, "--metrics-secure")) << "it says nothing";
}

TEST(ImportPlunger, ReadsAListAndManyDocuments) {
  const std::string both = std::string(kPlunger) + "---\n" + central("true");
  const Imported made = import_text(both);
  accepted(made);
  EXPECT_TRUE(made.yaml.contains("ovsdb: ssl:10.0.0.1:6641")) << made.yaml;
  EXPECT_TRUE(made.yaml.contains("ca: /var/run/tls/cacert"));
  EXPECT_TRUE(says(made, "ENABLE_SSL: the files of `tls` are those of the pod"));
  const Imported list = import_text(
      R"({"kind": "List", "items": [{"kind": "Deployment", "spec": {"template": {"spec": {"containers":
      [{"name": "ovn-central", "env": [{"name": "NODE_IPS", "value": "10.0.0.1"}]}]}}}}]})");
  EXPECT_EQ(accepted(list).clusters.size(), 2U);
}

TEST(ImportPlunger, ACommandLineAloneWatchesTheServersOfTheNode) {
  const Imported made = import_text(
      "/kubeovn-plunger --metrics-bind-address 127.0.0.1:8080 -leader-elect "
      "--ovn-central-name=ovn-central --frobnicate=1\n");
  EXPECT_EQ(accepted(made).clusters.size(), 2U);
  EXPECT_TRUE(made.yaml.contains("control: /run/ovn/ovnnb_db.ctl")) << made.yaml;
  EXPECT_TRUE(made.yaml.contains("listen: \"127.0.0.1:8080\""));
  EXPECT_TRUE(says(made, "no file has NODE_IPS"));
  EXPECT_TRUE(says(made, "--leader-elect: agents that share a `store` elect a leader"));
  EXPECT_TRUE(says(made, "--frobnicate: no flag that is known"));
}

TEST(ImportPlunger, HostileFilesAreRefused) {
  std::string many = "NODE_IPS=";
  for (int i = 1; i < 60; ++i) many += "10.0.0." + std::to_string(i) + ",";
  EXPECT_EQ(refused({{"many", many + " kubeovn-plunger --ovn-central-name=x"}}).code, Errc::kLimit);
  EXPECT_EQ(refused({{"bad.yaml", "kind: [\n# kubeovn-plunger\n"}}).code, Errc::kInvalid);
  EXPECT_EQ(refused({{"nul", std::string("kubeovn-plunger\0 --x", 20)}}).code, Errc::kInvalid);
  EXPECT_EQ(refused({{"none", "kubeovn-plunger"}}).code, Errc::kInvalid);
  std::string deep = "kind: kubeovn-plunger\nx: ";
  for (int i = 0; i < 200; ++i) deep += "[";
  EXPECT_FALSE(refused({{"deep", deep}}).context.empty());
}

}  // namespace
}  // namespace wardmote::config
