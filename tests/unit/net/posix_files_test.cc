#include "net/posix_files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>
#include <vector>

#include "unit/net/net_fixture.h"

namespace wardmote::net {
namespace {

using runtime::FileInfo;

class Files : public NetTest {
 protected:
  std::string put(std::string_view name, std::string_view bytes) {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }
  runtime::Files& files() { return runtime_.files(); }
};

TEST_F(Files, AreReadWholeUpToTheCap) {
  const std::string file = put("status", std::string("a\0b", 3));
  EXPECT_EQ(files().read(file, 3).value(), std::string("a\0b", 3));
  EXPECT_EQ(files().read(file, 2).error().code, Errc::kLimit);
  EXPECT_EQ(files().read(put("empty", ""), 0).value(), "");
  const std::string large(100'000, 'x');
  EXPECT_EQ(files().read(put("large", large), 100'000).value(), large);
  EXPECT_TRUE(files().read("/proc/self/stat", 4096).has_value()) << "size 0, says the kernel";
}

TEST_F(Files, APartIsReadFromAnyOffsetUpToTheEnd) {
  const std::string file = put("log", "0123456789");
  EXPECT_EQ(files().read_part(file, 0, 4).value(), "0123");
  EXPECT_EQ(files().read_part(file, 7, 100).value(), "789");
  EXPECT_EQ(files().read_part(file, 10, 4).value(), "");
  EXPECT_EQ(files().read_part(path("none"), 0, 4).error().code, Errc::kMissing);
  EXPECT_EQ(files().read_part("/dev/zero", 0, 4).error().code, Errc::kInvalid);
}

TEST_F(Files, TheSpaceOfAFileSystem) {
  const auto space = files().space(put("here", "x"));
  ASSERT_TRUE(space) << space.error().describe();
  EXPECT_GT(space->total_bytes, 0u);
  EXPECT_LE(space->free_bytes, space->total_bytes);
  EXPECT_EQ(files().space(path("none")).error().code, Errc::kMissing);
}

TEST_F(Files, AGrowingFileIsNeverMoreThanTheCap) {
  std::atomic<bool> done = false;
  const std::string file = put("log", "");
  std::jthread writer([&] {
    std::ofstream log(file, std::ios::app);
    for (int i = 0; i < 20'000 && !done; ++i) log << "line\n" << std::flush;
  });
  for (int i = 0; i < 2000; ++i) {
    const auto bytes = files().read(file, 50'000);
    if (bytes) ASSERT_LE(bytes->size(), 50'000U);
    if (!bytes) ASSERT_EQ(bytes.error().code, Errc::kLimit);
  }
  done = true;
}

TEST_F(Files, OneThatIsKeptOpenIsReadFromItsBeginning) {
  const std::string file = put("status", "first");
  const auto kept = files().open(file).value();
  EXPECT_EQ(kept->read(64).value(), "first");
  put("status", "second, longer");
  EXPECT_EQ(kept->read(64).value(), "second, longer");
  EXPECT_EQ(kept->read(5).error().code, Errc::kLimit);
  std::filesystem::remove(file);
  put("status", "another file");
  EXPECT_EQ(kept->read(64).value(), "second, longer");
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  EXPECT_EQ(files().open(path("fifo")).error().code, Errc::kInvalid);
  EXPECT_EQ(files().open(path("nothing")).error().code, Errc::kMissing);
}

TEST_F(Files, TheFileOfAProcessEndsWithIt) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  const auto kept = files().open(fmt::format("/proc/{}/stat", child)).value();
  EXPECT_TRUE(kept->read(4096)->starts_with(std::to_string(child)));
  ::kill(child, SIGKILL);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_EQ(kept->read(4096).error().code, Errc::kMissing);
}

TEST_F(Files, SoManyAreKeptAndNoMore) {
  const std::string file = put("status", "x");
  std::vector<std::unique_ptr<runtime::OpenFile>> kept;
  for (std::size_t i = 0; i < PosixFiles::kMostOpen; ++i)
    kept.push_back(files().open(file).value());
  EXPECT_EQ(files().open(file).error().code, Errc::kExhausted);
  EXPECT_EQ(files().read(file, 64).value(), "x");
  kept.pop_back();
  EXPECT_TRUE(files().open(file).has_value());
}

TEST_F(Files, WhatIsNoFileIsRefusedAndNobodyWaits) {
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  ASSERT_EQ(::symlink(put("target", "x").c_str(), path("link").c_str()), 0);
  EXPECT_EQ(files().read(path("fifo"), 64).error().code, Errc::kInvalid);
  EXPECT_EQ(files().read(path("link"), 64).error().code, Errc::kInvalid);
  EXPECT_EQ(files().read(folder_.string(), 64).error().code, Errc::kInvalid);
  EXPECT_TRUE(files().read(path("link"), 64).error().context.contains("a symbolic link, not"));
  EXPECT_EQ(files().read(path("nothing"), 64).error().code, Errc::kMissing);
  EXPECT_EQ(files().read(path("target/below"), 64).error().code, Errc::kMissing);
}

TEST_F(Files, AFifoHasAReaderOrNot) {
  ASSERT_EQ(::mkfifo(path("ok").c_str(), 0600), 0);
  EXPECT_FALSE(files().has_reader(path("ok")).value());
  {
    const UniqueFd reader(::open(path("ok").c_str(), O_RDONLY | O_NONBLOCK));
    EXPECT_TRUE(files().has_reader(path("ok")).value());
  }
  EXPECT_FALSE(files().has_reader(path("ok")).value());
  EXPECT_EQ(files().has_reader(path("nothing")).error().code, Errc::kMissing);
  EXPECT_EQ(files().has_reader(put("file", "")).error().code, Errc::kInvalid);
  EXPECT_EQ(files().has_reader("/dev/null").error().code, Errc::kInvalid);
}

TEST_F(Files, AProgramMayBeRunOrNot) {
  const std::string program = put("program", "#!/bin/sh\n");
  EXPECT_EQ(files().may_run(program).error().code, Errc::kDenied);
  ASSERT_EQ(::chmod(program.c_str(), 0700), 0);
  EXPECT_TRUE(files().may_run(program));
  ASSERT_EQ(::symlink(program.c_str(), path("link").c_str()), 0);
  EXPECT_TRUE(files().may_run(path("link")));
  EXPECT_EQ(files().may_run(path("nothing")).error().code, Errc::kMissing);
  EXPECT_EQ(files().may_run(folder_.string()).error().code, Errc::kInvalid);
  EXPECT_TRUE(files().may_run("true")) << "by PATH, when it is started";
}

TEST_F(Files, Info) {
  EXPECT_EQ(files().info(folder_.string())->kind, FileInfo::Kind::kFolder);
  const FileInfo info = files().info(put("file", "12345")).value();
  EXPECT_EQ(info.kind, FileInfo::Kind::kRegular);
  EXPECT_EQ(info.size, 5U);
  EXPECT_LT(runtime_.wall_now() - info.modified, std::chrono::minutes(1));
  EXPECT_EQ(files().info(path("nothing")).error().code, Errc::kMissing);
}

TEST_F(Files, AChangedFileHasAnotherIdentity) {
  const std::string file = put("file", "12345");
  const FileInfo::Identity before = files().info(file)->identity;
  EXPECT_EQ(files().info(file)->identity, before);
  std::filesystem::rename(put("file.new", "12345"), file);
  const FileInfo::Identity replaced = files().info(file)->identity;
  EXPECT_NE(replaced, before);
  // The clock of the file system ticks every few milliseconds.
  while (files().info(file)->identity == replaced) put("file", "54321");
}

TEST_F(Files, AFolderIsListedInOrder) {
  put("b", "");
  put("a", "");
  EXPECT_EQ(files().list(folder_.string(), 2).value(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(files().list(folder_.string(), 1).error().code, Errc::kLimit);
  EXPECT_EQ(files().list(path("nothing"), 1).error().code, Errc::kMissing);
}

/// As runsv replaces its status, at full speed.
TEST_F(Files, OneThatIsReplacedMeanwhileIsAlwaysWhole) {
  const std::string file = put("status", std::string(20, 'a'));
  std::atomic<bool> done = false;
  std::jthread writer([&] {
    for (char c = 'a'; !done; c = c == 'z' ? 'a' : static_cast<char>(c + 1)) {
      put("status.new", std::string(20, c));
      std::rename(path("status.new").c_str(), file.c_str());
    }
  });
  for (int i = 0; i < 2000; ++i) {
    const auto bytes = files().read(file, 64);
    ASSERT_TRUE(bytes.has_value());
    ASSERT_EQ(*bytes, std::string(20, bytes->front()));
  }
  done = true;
}

}  // namespace
}  // namespace wardmote::net
