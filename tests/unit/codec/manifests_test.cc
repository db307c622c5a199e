#include "codec/yaml/manifests.h"

#include <bit>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <cmath>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/format.h"
#include "codec/base64.h"
#include "codec/kube_api.h"
#include "codec/kube_object.h"
#include "codec/yaml/kubeconfig.h"
#include "codec/yaml/yaml_json.h"

namespace wardmote::codec {
namespace {

namespace json = boost::json;

json::value yaml(std::string_view text) {
  const auto documents = read_yaml(text);
  EXPECT_TRUE(documents.has_value()) << (documents ? "" : documents.error().why);
  return documents && documents->size() == 1 ? documents->front().value : json::value();
}

std::string yaml_fault(std::string_view text) {
  const auto documents = read_yaml(text);
  if (documents) return "it was read";
  return std::to_string(documents.error().line) + ":" + std::to_string(documents.error().column) +
         ": " + documents.error().why;
}

TEST(YamlJson, PlainScalarsMeanWhatTheyMeanToKubectl) {
  EXPECT_EQ(
      yaml(
          "[1, -2, 0x1f, 0o17, 0644, 1.5, -1e3, true, False, null, ~, text, 1.2.3, '1', \"true\"]"),
      json::parse(
          R"([1, -2, 31, 15, 420, 1.5, -1000, true, false, null, null, "text", "1.2.3", "1", "true"])"));
  EXPECT_EQ(yaml("18446744073709551615"), json::value(18446744073709551615U));
  EXPECT_EQ(yaml("-9223372036854775808"), json::value(INT64_MIN));
  EXPECT_EQ(yaml("a: |\n  one\n  two\n"), json::parse(R"({"a": "one\ntwo\n"})"));
  EXPECT_EQ(yaml("{a: , b: {}, c: []}"), json::parse(R"({"a": null, "b": {}, "c": []})"));
  EXPECT_EQ(yaml("2001-12-14"), json::value("2001-12-14"));
}

TEST(YamlJson, WhatReadersUnderstandDifferentlyIsRefused) {
  EXPECT_EQ(yaml_fault("a: yes"),
            "1:4: 'yes' is a truth value to some readers and text to others; write true or false, "
            "or quote it");
  EXPECT_EQ(yaml_fault("a:\n  b: 08"),
            "2:6: this is a number to some readers and text to others; quote it");
  for (const char* const number :
       {"1_000", "-1_0", "0b11", "0o8", "-0oaf", "0x_ff", "1:30", "12:30:45", "1:30.5", "1_0.5"})
    EXPECT_EQ(yaml_fault("a: " + std::string(number)),
              "1:4: this is a number to some readers and text to others; quote it")
        << number;
  for (const char* const word :
       {"8080:80", "1:60", "a_1", "0b", "0b12", "_1", "1.2.3", "1:a", "10.0.0.1:80", "x1_0", "::1"})
    EXPECT_EQ(yaml("a: " + std::string(word)), json::value(json::object{{"a", std::string(word)}}))
        << word;
  for (const char* const number : {"5e-325", "-5E-325", "1e-9999"})
    EXPECT_EQ(yaml_fault("a: " + std::string(number)),
              "1:4: this number is too near to 0; write 0, or quote it");
  for (const char* const number : {"0x1ffffffffffffffff", "1e309", "-1e9999"})
    EXPECT_EQ(yaml_fault("a: " + std::string(number)), "1:4: this number is too large");
  EXPECT_EQ(yaml_fault("a: .nan"), "1:4: '.nan' is no number that JSON can say; quote it");
  EXPECT_EQ(yaml_fault("a: 1\nb: 2\na: 3"), "3:1: the key 'a' is given twice");
  for (const char* const anchored : {"a: &x 1", "a: &x {b: 1}", "a: &x [1]", "a: &x"})
    EXPECT_EQ(yaml_fault(anchored), "1:4: anchors are not supported here; write the value out");
  EXPECT_EQ(yaml_fault("<<: {a: 1}"),
            "1:1: merge keys are not supported here; write the values out");
  EXPECT_EQ(yaml_fault("a: !!binary x").substr(0, 4), "1:4:");
  EXPECT_EQ(yaml_fault("a: 1e999").substr(0, 4), "1:4:");
  EXPECT_EQ(yaml_fault("a: 99999999999999999999").substr(0, 4), "1:4:");
  EXPECT_NE(yaml_fault("a: [1"), "it was read");
  EXPECT_EQ(yaml_fault(std::string_view("a: \x04 b: 1", 9)), "1:4: byte 0x04 is no text in UTF-8");
  EXPECT_EQ(yaml_fault("a: \xe9t\xe9"), "1:4: byte 0xe9 is no text in UTF-8");
  EXPECT_EQ(yaml_fault("a: b\nc: \xc3"), "2:4: byte 0xc3 is no text in UTF-8");
  EXPECT_EQ(yaml_fault("a: \xed\xa0\x80"), "1:4: byte 0xed is no text in UTF-8");
  EXPECT_EQ(yaml_fault("\xffk: 1"), "1:1: byte 0xff is no text in UTF-8");
  EXPECT_EQ(yaml("a: \xc3\xa9t\xc3\xa9"), json::parse("{\"a\": \"\xc3\xa9t\xc3\xa9\"}"));
  EXPECT_NE(yaml_fault("{? [a] : b}"), "it was read");
}

/// What was sent to a server and comes back must not look changed.
TEST(YamlJson, ANumberReadsTheSameAfterItWasWritten) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20000; ++i) {
    const double value = std::bit_cast<double>(random());
    if (!std::isfinite(value)) continue;
    // Refused: kubectl has other integers for these.
    if (std::abs(value) >= 0x1p53 && std::abs(value) < 0x1p63) continue;
    const auto first = yaml(fmt::format("k: {:.17g}", value));
    const std::string text = json::serialize(first);
    const auto again = read_json(text);
    ASSERT_TRUE(again) << text;
    ASSERT_EQ(again->value, first) << text;
    ASSERT_EQ(first.as_object().at("k").to_number<double>(), value) << text;
  }
}

/// As a file that is being written.
TEST(YamlJson, ATextThatTheEndCutsOffIsNoText) {
  for (const char* const cut :
       {"data:\n  k: 'cut\n", "data:\n  k: \"cut\n", "k: 'cut\n\n  more\n", "k: 'cut", "- 'a\n"})
    EXPECT_NE(yaml_fault(cut), "it was read") << cut;
  EXPECT_EQ(yaml("k: 'whole'\n"), json::parse(R"({"k": "whole"})"));
  EXPECT_EQ(yaml("k: |\n  one\n"), json::parse(R"({"k": "one\n"})"));
  EXPECT_EQ(yaml("k: |+\n  one\n\n"), json::parse(R"({"k": "one\n\n"})"));
  EXPECT_EQ(yaml("k: |-\n  one\n\n"), json::parse(R"({"k": "one"})"));
  EXPECT_EQ(yaml("k: >\n  one\n  two\n"), json::parse(R"({"k": "one two\n"})"));
  EXPECT_EQ(yaml("k: plain\n"), json::parse(R"({"k": "plain"})"));
  EXPECT_EQ(yaml("k:\n"), json::parse(R"({"k": null})"));
}

TEST(YamlJson, LimitsHold) {
  EXPECT_EQ(yaml_fault(std::string(65, '[') + std::string(65, ']')), "1:65: deeper than 64 levels");
  EXPECT_FALSE(read_yaml("[1, 2, 3]", {.values = 3}));
  EXPECT_TRUE(read_yaml("[1, 2, 3]", {.values = 4}));
  EXPECT_FALSE(read_yaml("12345", {.bytes = 4}));
}

TEST(YamlJson, JsonSaysWhereItIsWrong) {
  EXPECT_EQ(read_json("{\"a\": [1, 2]}\n")->value, json::parse(R"({"a": [1, 2]})"));
  EXPECT_EQ(read_json("{\n \"a\": x}").error().line, 2);
  EXPECT_FALSE(read_json("{} {}"));
  EXPECT_EQ(read_json("{\"a\": [{\"b\": 1,\n \"c\": {\"b\": 2}, \"\\u0062\": 3}]}").error(),
            (TextFault{2, 17, "this key is given twice"}));
  EXPECT_TRUE(read_json(R"({"a": [{"b": 1}, {"b": 1}], "b": ["b", ":", "b"], "c": {"a": "a"}})"));
  EXPECT_FALSE(read_json("{\"a\": "));
  EXPECT_FALSE(read_json(""));
}

Manifests read(std::string_view text, std::string_view file = "a.yaml") {
  Manifests manifests;
  read_manifests(file, text, manifests);
  return manifests;
}

std::string fault(std::string_view text, std::string_view file = "a.yaml") {
  const Manifests manifests = read(text, file);
  return manifests.faults.empty() ? "none" : describe(manifests.faults.front());
}

constexpr std::string_view kGood = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";

TEST(Manifests, ManyDocumentsAndLists) {
  const Manifests manifests = read(
      "# nothing\n---\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\n"
      "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: "
      "b}}\n"
      "- {apiVersion: apps/v1, kind: Deployment, metadata: {name: c, namespace: x}}\n");
  ASSERT_TRUE(manifests.faults.empty()) << describe(manifests.faults.front());
  ASSERT_EQ(manifests.objects.size(), 3U);
  EXPECT_EQ(manifests.objects[0].line, 4);
  EXPECT_EQ(manifests.objects[0].file, "a.yaml");
  EXPECT_EQ(read_head(manifests.objects[1].object).name, "b");
  EXPECT_EQ(read_head(manifests.objects[2].object).space, "x");
}

TEST(Manifests, EachFaultHasItsPlace) {
  EXPECT_EQ(fault(kGood), "none");
  EXPECT_EQ(fault("- 1"), "a.yaml:1:1: a document is no object of Kubernetes");
  EXPECT_EQ(fault("\nkind: ConfigMap\n"), "a.yaml:2:1: apiVersion is missing, or no text");
  EXPECT_EQ(fault("apiVersion: ../v1\nkind: A\nmetadata: {name: a}"),
            "a.yaml:1:1: '../v1' is no apiVersion");
  EXPECT_EQ(fault("apiVersion: v1\nkind: A/B\nmetadata: {name: a}"),
            "a.yaml:1:1: 'A/B' is no kind");
  EXPECT_EQ(fault("apiVersion: v1\nkind: A"), "a.yaml:1:1: metadata is missing, or no map");
  EXPECT_EQ(fault("apiVersion: v1\nkind: A\nmetadata: {generateName: a}"),
            "a.yaml:1:1: generateName makes a new object each time; give a name");
  EXPECT_EQ(fault("apiVersion: v1\nkind: A\nmetadata: {name: a/b}"),
            "a.yaml:1:1: 'a/b' is no name");
  EXPECT_EQ(fault("apiVersion: v1\nkind: A\nmetadata: {name: 1}"),
            "a.yaml:1:1: metadata.name is missing, or no text");
  EXPECT_EQ(fault("apiVersion: v1\nkind: A\nmetadata: {name: a, uid: x}"),
            "a.yaml:1:1: metadata.uid is the server's; remove it");
  EXPECT_EQ(fault("apiVersion: v1\nkind: A\nmetadata: {name: a, labels: {x: 1}}"),
            "a.yaml:1:1: metadata.labels: 'x' is no text; quote it");
  EXPECT_EQ(fault("{\"apiVersion\": 1}", "b.json"),
            "b.json:1:1: apiVersion is missing, or no text");
}

/// Names of Kubernetes' own roles.
TEST(Manifests, NamesMayHaveColons) {
  EXPECT_EQ(fault("apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: "
                  "'metropolis:netservices'}"),
            "none");
}

TEST(Manifests, WhatTheServerWritesIsLeftOut) {
  const Manifests manifests = read(
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, creationTimestamp: null}\nstatus: {x: "
      "1}\n");
  ASSERT_EQ(manifests.objects.size(), 1U);
  EXPECT_EQ(json::value(manifests.objects[0].object),
            json::parse(R"({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}})"));
}

TEST(Manifests, StringDataOfASecretIsEncoded) {
  const Manifests manifests = read(
      "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\ndata: {x: eA==}\nstringData: {z: why}\n");
  ASSERT_EQ(manifests.objects.size(), 1U);
  EXPECT_EQ(manifests.objects[0].object.at("data"), json::parse(R"({"x": "eA==", "z": "d2h5"})"));
  EXPECT_FALSE(manifests.objects[0].object.contains("stringData"));
}

/// `data` is made beside it, and the map of the object may move then.
TEST(Manifests, StringDataAloneBecomesData) {
  const Manifests manifests =
      read("apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {x: why, z: not}\n");
  ASSERT_EQ(manifests.objects.size(), 1U);
  EXPECT_EQ(manifests.objects[0].object.at("data"), json::parse(R"({"x": "d2h5", "z": "bm90"})"));
}

/// RFC 4648 section 10.
TEST(Base64, TheVectorsOfItsRfc) {
  for (const auto& [bytes, text] : {std::pair{"", ""},
                                    {"f", "Zg=="},
                                    {"fo", "Zm8="},
                                    {"foo", "Zm9v"},
                                    {"foobar", "Zm9vYmFy"}}) {
    EXPECT_EQ(base64_encode(bytes), text);
    EXPECT_EQ(base64_decode(text), bytes);
  }
  EXPECT_FALSE(base64_decode("Zg="));
  EXPECT_FALSE(base64_decode("*"));
}

bool covered(std::string_view live, std::string_view wanted) {
  return covers(json::parse(live), json::parse(wanted));
}

TEST(KubeObject, CoversWhatIsWantedAndLeavesTheRest) {
  EXPECT_TRUE(
      covered(R"({"a": 1, "b": {"c": [1, {"d": 2, "e": 3}]}})", R"({"b": {"c": [1, {"d": 2}]}})"));
  EXPECT_FALSE(covered(R"({"a": 1})", R"({"a": 2})"));
  EXPECT_FALSE(covered(R"({"a": [1, 2]})", R"({"a": [1]})"));
  EXPECT_FALSE(covered(R"({"a": "x"})", R"({"a": {"b": 1}})"));
  EXPECT_TRUE(covered(R"({})", R"({"a": null})"));
  EXPECT_FALSE(covered(R"({"a": 1})", R"({"a": null})"));
}

TEST(KubeObject, DigestDoesNotDependOnTheOrderOfKeys) {
  EXPECT_EQ(digest_of(json::parse(R"({"a": 1, "b": {"c": 1, "d": 2}})").get_object()),
            digest_of(json::parse(R"({"b": {"d": 2, "c": 1}, "a": 1})").get_object()));
  EXPECT_NE(digest_of(json::parse(R"({"a": 1})").get_object()),
            digest_of(json::parse(R"({"a": 2})").get_object()));
}

TEST(KubeObject, NoValueOfASecretIsShown) {
  const auto secret = [](std::string_view x, std::string_view y) {
    return json::object{{"apiVersion", "v1"},
                        {"kind", "Secret"},
                        {"metadata",
                         {{"name", "a"},
                          {"resourceVersion", "7"},
                          {"annotations", {{"objectset.rio.cattle.io/applied", x}}}}},
                        {"data", {{"x", x}, {"y", y}}}};
  };
  const json::object before = secret("c2VjcmV0", "c2FtZQ==");
  const json::object after = secret("b3RoZXI=", "c2FtZQ==");
  const ShownStates shown = show_states(&before, &after);
  for (const std::string& text : {shown.before, shown.after}) {
    for (const char* const hidden : {"c2VjcmV0", "b3RoZXI=", "c2FtZQ=="})
      EXPECT_FALSE(text.contains(hidden)) << text;
    EXPECT_FALSE(text.contains("resourceVersion"));
  }
  EXPECT_TRUE(shown.before.contains("*** (before)")) << shown.before;
  EXPECT_TRUE(shown.after.contains("*** (after)")) << shown.after;
  EXPECT_TRUE(shown.after.contains("\"y\": \"***\"\n")) << shown.after;
  EXPECT_FALSE(show_states(nullptr, &after).after.contains("b3RoZXI="));
}

/// The answers of kube-apiserver 1.20.2 (reference section 4.4).
TEST(KubeApi, AConflictNamesFieldsAndManagers) {
  const KubeStatus status = parse_kube_status(
      R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Apply failed with 1 conflict: conflict with \"rec\": .data.a","reason":"Conflict","details":{"causes":[{"reason":"FieldManagerConflict","message":"conflict with \"rec\"","field":".data.a"}]},"code":409})");
  EXPECT_EQ(status.reason, "Conflict");
  ASSERT_EQ(status.causes.size(), 1U);
  EXPECT_EQ(status.causes[0].reason, "FieldManagerConflict");
  EXPECT_EQ(status.causes[0].field, ".data.a");
  EXPECT_EQ(parse_kube_status("a proxy says no\n").message, "a proxy says no");
}

TEST(KubeApi, NoSuchObjectAndNoSuchPath) {
  // As kube-apiserver 1.20 says it.
  EXPECT_TRUE(is_no_object(
      R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"things.lab.example.org \"t\" not found","reason":"NotFound","details":{"name":"t","group":"lab.example.org","kind":"things"},"code":404})"));
  EXPECT_FALSE(is_no_object("404 page not found\n"));
  EXPECT_FALSE(is_no_object(
      R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"the server could not find the requested resource","reason":"NotFound","details":{},"code":404})"));
}

TEST(KubeApi, ListsAndResources) {
  const auto kinds = parse_kube_resources(
      R"({"kind":"APIResourceList","groupVersion":"v1","resources":[{"name":"configmaps","singularName":"","namespaced":true,"kind":"ConfigMap","verbs":["create","delete","list"]},{"name":"pods/log","namespaced":true,"kind":"Pod","verbs":["get"]}]})");
  ASSERT_EQ(kinds->size(), 1U);
  EXPECT_TRUE(kinds->front().namespaced && kinds->front().listable && kinds->front().deletable);
  EXPECT_FALSE(kinds->front().appliable);
  EXPECT_FALSE(parse_kube_resources("{}"));
  EXPECT_EQ(
      *parse_kube_group(
          R"({"kind":"APIGroup","name":"apps","versions":[{"groupVersion":"apps/v1beta1","version":"v1beta1"},{"groupVersion":"apps/v1","version":"v1"},7],"preferredVersion":{"groupVersion":"apps/v1","version":"v1"}})"),
      (std::vector<std::string>{"apps/v1", "apps/v1beta1", "apps/v1"}));
  EXPECT_FALSE(parse_kube_group("{}"));
  const auto page = parse_kube_list(R"({"metadata":{"continue":"abc"},"items":[{"a":1}]})");
  EXPECT_EQ(page->next, "abc");
  EXPECT_EQ(page->items.size(), 1U);
  EXPECT_TRUE(parse_kube_list(R"({"items":null})")->items.empty());
  EXPECT_FALSE(parse_kube_list(R"({"metadata":{}})"));
  EXPECT_FALSE(parse_kube_list(R"({"items":[1]})"));
  EXPECT_FALSE(parse_kube_list(R"({"items":[{"a":1})"));
}

std::string kubeconfig(std::string_view user, std::string_view cluster = "") {
  return std::string(
             "apiVersion: v1\nkind: Config\ncurrent-context: one\n"
             "clusters:\n- {name: c, cluster: {server: 'https://10.0.0.1:6443/'") +
         std::string(cluster) +
         "}}\ncontexts:\n- {name: one, context: {cluster: c, user: u, namespace: x}}\n"
         "- {name: two, context: {cluster: gone, user: u}}\nusers:\n- {name: u, user: {" +
         std::string(user) + "}}\n";
}

std::string kubeconfig_fault(std::string_view user, std::string_view cluster = "",
                             std::string_view context = "") {
  const auto config = parse_kubeconfig(kubeconfig(user, cluster), context);
  return config ? "it was read" : config.error().context;
}

TEST(Kubeconfig, TokensAndCertificates) {
  const auto token =
      parse_kubeconfig(kubeconfig("token: abc", ", certificate-authority-data: eA=="), "");
  ASSERT_TRUE(token) << token.error().context;
  EXPECT_EQ(token->server, "https://10.0.0.1:6443");
  EXPECT_EQ(token->token, "abc");
  EXPECT_EQ(token->ca, "x");
  EXPECT_EQ(token->space, "x");
  const auto files =
      parse_kubeconfig(kubeconfig("client-certificate: a.pem, client-key: b.pem"), "one");
  ASSERT_TRUE(files) << files.error().context;
  EXPECT_EQ(files->certificate_file, "a.pem");
  EXPECT_EQ(files->key_file, "b.pem");
}

TEST(Kubeconfig, SaysWhatIsNotSupported) {
  EXPECT_EQ(kubeconfig_fault("exec: {command: aws}"),
            "user 'u': exec: programs that print credentials are not run; give a token file or a "
            "certificate");
  EXPECT_TRUE(
      kubeconfig_fault("auth-provider: {name: gcp}").starts_with("user 'u': auth-provider"));
  EXPECT_TRUE(kubeconfig_fault("username: a, password: b").starts_with("user 'u': username"));
  EXPECT_TRUE(kubeconfig_fault("token: a, as: admin").starts_with("user 'u': as"));
  EXPECT_EQ(kubeconfig_fault("token: a", ", insecure-skip-tls-verify: true"),
            "cluster 'c': insecure-skip-tls-verify: a server that proves nothing could be anybody");
  EXPECT_EQ(kubeconfig_fault("token: a", ", insecure-skip-tls-verify: false"), "it was read");
  EXPECT_EQ(kubeconfig_fault("client-certificate: a.pem"),
            "user 'u': it has a client certificate without its key, or a key without");
  EXPECT_EQ(kubeconfig_fault(""), "user 'u': it has neither a token nor a client certificate");
  EXPECT_EQ(kubeconfig_fault("token: a", "", "two"), "clusters has no 'gone'");
  EXPECT_EQ(kubeconfig_fault("token: a", "", "three"), "contexts has no 'three'");
}

/// A password may look like a number, or like a tag.
TEST(Manifests, AFaultQuotesNoValue) {
  for (const char* const value : {"08123", "999999999999999999999999", "1e999999", "!s3cret"}) {
    const std::string fault = yaml_fault("stringData: {p: " + std::string(value) + "}");
    EXPECT_TRUE(fault.starts_with("1:17: ") || fault.contains(" from 1:17: ")) << fault;
    EXPECT_FALSE(fault.contains("8123") || fault.contains("999") || fault.contains("s3cret"))
        << fault;
  }
}

/// The server would refuse it, and quote it.
TEST(Manifests, TheDataOfASecretIsCheckedBeforeItIsSent) {
  const auto fault_of_data = [](const std::string& data) {
    Manifests found;
    read_manifests(
        "s.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\ndata: " + data + "\n", found);
    return found.faults.empty() ? "it was read" : describe(found.faults.front());
  };
  EXPECT_EQ(fault_of_data("{x: eA==, z: }"), "it was read");
  EXPECT_EQ(fault_of_data("{x: 's3cret words!'}"),
            "s.yaml:1:1: data: 'x' is no base64; plain text belongs in stringData");
  EXPECT_EQ(fault_of_data("{x: 12345}"),
            "s.yaml:1:1: data: 'x' is no base64; plain text belongs in stringData");
  EXPECT_EQ(fault_of_data("{x: {z: s3cret}}"),
            "s.yaml:1:1: data: 'x' is no base64; plain text belongs in stringData");
  EXPECT_EQ(fault_of_data("s3cret"), "s.yaml:1:1: data is no map");
}

/// With the colon forgotten, YAML takes the password for a name.
TEST(Manifests, AFaultQuotesNoNameThatIsMeantAsAValue) {
  for (const char* const data : {"{s3cret}", "{p: a, s3cret: }", "{? s3cret}"}) {
    const std::string head = "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: ";
    EXPECT_EQ(fault(head + data),
              "a.yaml:1:1: stringData: a name has no value; write `name: \"value\"`");
  }
}

/// No secret is in a message.
TEST(Kubeconfig, DoesNotTellWhatIsInIt) {
  EXPECT_FALSE(kubeconfig_fault("token: SECRET, exec: {command: a}").contains("SECRET"));
  EXPECT_FALSE(kubeconfig_fault("client-key-data: '*SECRET', client-certificate-data: eA==")
                   .contains("SECRET"));
}

}  // namespace
}  // namespace wardmote::codec
