#include "config/load.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "net/asio_runtime.h"

namespace wardmote::config {
namespace {

namespace fs = std::filesystem;

constexpr const char* kGood = "checks: [{name: a, tcp: {address: 127.0.0.1:1}}]\n";

/// A folder of this test.
class LoadTest : public ::testing::Test {
 protected:
  LoadTest() { fs::create_directories(folder_); }
  ~LoadTest() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string path(const std::string& name) const { return folder_ / name; }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
  }
  Loaded load(const std::string& name) {
    return load_config(files_, {path(name), overrides_}, observe::probe_kinds(), runtime_);
  }
  [[nodiscard]] bool same(const Loaded& loaded) {
    return look_again(files_, loaded.footprint) == loaded.footprint;
  }

  const fs::path folder_ =
      fs::temp_directory_path() / ("wardmote-load-" + std::to_string(::getpid()));
  LocalFiles files_;
  Environment overrides_;
  net::AsioRuntime runtime_;
};

TEST_F(LoadTest, TellsTheConfigurationAndItsHash) {
  write("a.yaml", kGood);
  write("b.yaml", std::string(kGood) + "# other\n");
  const Loaded loaded = load("a.yaml");
  ASSERT_TRUE(loaded.config);
  EXPECT_TRUE(loaded.problems.empty());
  EXPECT_EQ(loaded.hash.size(), 16U);
  EXPECT_EQ(loaded.hash, load("a.yaml").hash);
  EXPECT_NE(loaded.hash, load("b.yaml").hash);
}

TEST_F(LoadTest, RefusesWhatCannotBeReadWithTheReason) {
  EXPECT_EQ(load("none.yaml").problems,
            std::vector{path("none.yaml") +
                        ":1:1: file: cannot be read: No such file or directory; check the path and "
                        "its access rights"});
  EXPECT_EQ(load("").problems.size(), 1U) << "a folder";
  write("large.yaml", std::string((4 << 20) + 1, '#'));
  EXPECT_TRUE(load("large.yaml").problems.at(0).contains("more than 4194304 bytes"));
}

TEST_F(LoadTest, SeesAFileThatIsWrittenReplacedOrRemoved) {
  write("a.yaml", kGood);
  const Loaded first = load("a.yaml");
  EXPECT_TRUE(same(first));
  write("a.yaml", std::string(kGood) + "\n");
  EXPECT_FALSE(same(first));
  const Loaded second = load("a.yaml");
  write("new.yaml", std::string(kGood) + "\n");
  fs::rename(path("new.yaml"), path("a.yaml"));
  EXPECT_FALSE(same(second)) << "as editors do: same size, perhaps the same second";
  const Loaded third = load("a.yaml");
  fs::remove(path("a.yaml"));
  EXPECT_FALSE(same(third));
}

/// As the kubelet updates the files of a ConfigMap.
TEST_F(LoadTest, SeesALinkThatIsTurned) {
  for (const char* version : {"..1", "..2"}) {
    fs::create_directory(path(version));
    write(std::string(version) + "/wardmote.yaml", kGood);
  }
  fs::create_directory_symlink("..1", path("..data"));
  fs::create_symlink("..data/wardmote.yaml", path("wardmote.yaml"));
  const Loaded loaded = load("wardmote.yaml");
  ASSERT_TRUE(loaded.config);
  fs::create_directory_symlink("..2", path("..data_tmp"));
  fs::rename(path("..data_tmp"), path("..data"));
  EXPECT_FALSE(same(loaded));
}

TEST_F(LoadTest, IncludesFilesInTheOrderOfTheirNames) {
  fs::create_directory(path("conf.d"));
  write("main.yaml", "include: [conf.d/*.yaml, extra]\ngates: {ready: {all: [b]}}\n");
  write("conf.d/2.yaml", "checks: [{name: c, tcp: {address: 127.0.0.1:1}}]\n");
  write("conf.d/1.yaml", "checks: [{name: b, tcp: {address: 127.0.0.1:1}}]\n");
  write("conf.d/.hidden.yaml", "nonsense");
  write("conf.d/3.yaml.bak", "nonsense");
  write("extra", "gates: {mine: {all: [c]}}\nnode: {name: me}\n");
  const Loaded loaded = load("main.yaml");
  ASSERT_TRUE(loaded.config) << loaded.problems.at(0);
  ASSERT_EQ(loaded.config->checks.size(), 2U);
  EXPECT_EQ(loaded.config->checks[0].name, "b");
  EXPECT_EQ(loaded.config->gates.size(), 2U);
  EXPECT_EQ(loaded.config->node.name, "me");

  write("conf.d/4.yaml", "");
  EXPECT_FALSE(same(loaded)) << "a file that comes is a change";
}

TEST_F(LoadTest, AProblemNamesTheFileInWhichItStands) {
  write("main.yaml", "include: [a.yaml, b.yaml]\nnode: {name: me}\nchekcs: []\n");
  write("a.yaml", "checks:\n  - {name: x, tcp: {address: 127.0.0.1:1}}\n");
  write("b.yaml", "node: {name: you}\nchecks:\n  - {name: x, tcp: {address: 127.0.0.1:1}}\n");
  const std::vector<std::string> problems = load("main.yaml").problems;
  ASSERT_EQ(problems.size(), 3U);
  EXPECT_TRUE(problems[0].starts_with(path("main.yaml") + ":3:1: unknown key 'chekcs'"));
  EXPECT_EQ(problems[1], path("b.yaml") + ":1:1: key 'node': given before, in " +
                             path("main.yaml") + ":2; keep one of them");
  EXPECT_EQ(problems[2], path("b.yaml") + ":3:12: name 'x': already used in " + path("a.yaml") +
                             ":2; choose another name");
  write("b.yaml", "checks: [\n");
  EXPECT_TRUE(load("main.yaml").problems.at(0).starts_with(path("b.yaml") + ":2:1: YAML"));
}

TEST_F(LoadTest, RefusesCirclesAndFilesThatAreNotThere) {
  write("main.yaml", std::string(kGood) + "include: [a.yaml]\n");
  EXPECT_TRUE(load("main.yaml").problems.at(0).contains("there is no such file"));
  write("a.yaml", "include: [b.yaml]\n");
  write("b.yaml", "include: [main.yaml]\n");
  EXPECT_TRUE(load("main.yaml").problems.at(0).starts_with(path("b.yaml") + ":1:11: include"));
  EXPECT_TRUE(load("main.yaml").problems.at(0).contains("it is read already"));
  fs::create_symlink("main.yaml", path("link.yaml"));
  write("b.yaml", "include: [link.yaml]\n");
  EXPECT_TRUE(load("main.yaml").problems.at(0).contains("it is read already"));
  write("b.yaml", "include: ['none.d/*.yaml']\n");
  EXPECT_TRUE(load("main.yaml").problems.at(0).contains("No such file or directory"));
  write("b.yaml", "include: '*.yaml'\n");
  EXPECT_FALSE(load("main.yaml").config) << "not a list";
  write("b.yaml", "- a\n");
  EXPECT_TRUE(load("main.yaml").problems.at(0).contains("it is a list, not a map"));
  write("b.yaml", "include: ['no*.such']\n");
  EXPECT_TRUE(load("main.yaml").config) << "a pattern may match nothing";
}

TEST_F(LoadTest, LetsTheEnvironmentOverrideValues) {
  const char* const variables[] = {"HOME=/root", "WARDMOTE_NODE_NAME=me",
                                   "WARDMOTE_API_LISTEN=127.0.0.1:1234", "WARDMOTE_HOST=elsewhere",
                                   nullptr};
  overrides_ = overrides_of(variables);
  ASSERT_EQ(overrides_.size(), 2U);
  write("a.yaml",
        std::string(kGood) + "node: {name: you, labels: {zone: a}}\napi: {socket: /run/a.sock}\n");
  const Loaded loaded = load("a.yaml");
  ASSERT_TRUE(loaded.config) << loaded.problems.at(0);
  EXPECT_EQ(loaded.config->node.name, "me");
  EXPECT_EQ(loaded.config->node.labels.size(), 1U);
  EXPECT_EQ(loaded.config->api.listen, runtime::Endpoint::tcp("127.0.0.1", 1234));
  overrides_ = {{"WARDMOTE_API_LITSEN", "127.0.0.1:1"}, {"WARDMOTE_NODE_LABELS", "x"}};
  const Loaded refused = load("a.yaml");
  ASSERT_EQ(refused.problems.size(), 2U);
  EXPECT_TRUE(
      refused.problems[0].starts_with("$WARDMOTE_API_LITSEN:1:1: unknown key 'litsen': api has no "
                                      "such key; did you mean 'listen'?"));
  EXPECT_TRUE(refused.problems[1].starts_with("$WARDMOTE_NODE_LABELS:1:1: labels: it is text"));
}

/// Kubernetes sets them in every pod of a namespace that has a service `wardmote-api`.
TEST_F(LoadTest, VariablesOfServiceLinksAreNoKeys) {
  const char* const variables[] = {"WARDMOTE_API_SERVICE_HOST=10.0.0.1",
                                   "WARDMOTE_API_SERVICE_PORT=9470",
                                   "WARDMOTE_API_SERVICE_PORT_HTTP=9470",
                                   "WARDMOTE_API_PORT=tcp://10.0.0.1:9470",
                                   "WARDMOTE_API_PORT_9470_TCP=tcp://10.0.0.1:9470",
                                   "WARDMOTE_API_PORT_9470_TCP_PROTO=tcp",
                                   "WARDMOTE_API_PORT_9470_TCP_PORT=9470",
                                   "WARDMOTE_API_PORT_9470_TCP_ADDR=10.0.0.1",
                                   "WARDMOTE_NODE_PORT=udp://10.0.0.1:53",
                                   nullptr};
  EXPECT_TRUE(overrides_of(variables).empty());
  EXPECT_EQ(service_links(variables).size(), 9U);
  const char* const mistakes[] = {"WARDMOTE_API_PORT=9470", "WARDMOTE_API_PORT_9470=x",
                                  "WARDMOTE_API_PORT_X_TCP=y", "WARDMOTE_NODE_SERVICE=z", nullptr};
  EXPECT_EQ(overrides_of(mistakes).size(), 4U) << "what is no link is still read strictly";
  EXPECT_TRUE(service_links(mistakes).empty());
}

}  // namespace
}  // namespace wardmote::config
