#include "agent/config/load.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "net/asio_runtime.h"

namespace wardmote::agent::config {
namespace {

namespace fs = std::filesystem;

constexpr const char* kGood = "checks: [{name: a, tcp: {address: 127.0.0.1:1}}]\n";

/// A folder of this test.
class LoadTest : public testing::Test {
 protected:
  LoadTest() { fs::create_directories(folder_); }
  ~LoadTest() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string path(const std::string& name) const { return folder_ / name; }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
  }
  Loaded load(const std::string& name) {
    return load_config(files_, path(name), observe::probe_kinds(), runtime_);
  }
  [[nodiscard]] bool same(const Loaded& loaded) {
    return look_again(files_, loaded.footprint) == loaded.footprint;
  }

  const fs::path folder_ =
      fs::temp_directory_path() / ("wardmote-load-" + std::to_string(::getpid()));
  LocalFiles files_;
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
                        ": cannot be read: No such file or directory; check the path and its "
                        "access rights"});
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

}  // namespace
}  // namespace wardmote::agent::config
