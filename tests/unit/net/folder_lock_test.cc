#include "net/folder_lock.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "unit/net/net_fixture.h"

namespace wardmote::net {
namespace {

/// Another process that has the lock, or got none, and does nothing more.
class Holder {
 public:
  explicit Holder(const std::string& path) {
    int ends[2];
    if (::pipe(ends) != 0) return;
    pid_ = ::fork();
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      const auto lock = FolderLock::take(path);
      const char has = lock ? 'y' : 'n';
      if (::write(ends[1], &has, 1) != 1) ::_exit(1);
      for (;;) ::pause();
    }
    ::close(ends[1]);
    char has = 'n';
    has_ = ::read(ends[0], &has, 1) == 1 && has == 'y';
    ::close(ends[0]);
  }
  ~Holder() { end(); }
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;

  [[nodiscard]] bool has_it() const { return has_; }
  [[nodiscard]] pid_t pid() const { return pid_; }
  void stop() const {
    ::kill(pid_, SIGSTOP);
    int status = 0;
    EXPECT_EQ(::waitpid(pid_, &status, WUNTRACED), pid_);
    EXPECT_TRUE(WIFSTOPPED(status));
  }
  /// kill -9
  void end() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  pid_t pid_ = -1;
  bool has_ = false;
};

class Folder : public NetTest {
 protected:
  const std::string file_ = path("wardmote.lock");
};

TEST_F(Folder, IsOfOneProcessAndItIsNamed) {
  const Holder other(file_);
  ASSERT_TRUE(other.has_it());
  const auto refused = FolderLock::take(file_);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, Errc::kRejected);
  EXPECT_EQ(refused.error().context,
            "lock " + file_ + ": process " + std::to_string(other.pid()) + " has it");
  EXPECT_FALSE(FolderLock::take(file_).has_value()) << "who was refused has taken nothing away";
  const Holder third(file_);
  EXPECT_FALSE(third.has_it());
}

TEST_F(Folder, StaysHisWhoIsStoppedAndIsFreeAfterKill9) {
  Holder other(file_);
  ASSERT_TRUE(other.has_it());
  other.stop();
  EXPECT_EQ(FolderLock::take(file_).error().code, Errc::kRejected);
  other.end();
  EXPECT_TRUE(std::filesystem::exists(file_));
  EXPECT_TRUE(FolderLock::take(file_).has_value()) << "the file alone is no lock";
}

TEST_F(Folder, StaysHisAlthoughHeClosesTheFileElsewhere) {
  const auto mine = FolderLock::take(file_);
  ASSERT_TRUE(mine.has_value());
  EXPECT_EQ(FolderLock::take(file_).error().code, Errc::kRejected);
  EXPECT_TRUE(runtime_.files().read(file_, 64).has_value());
  const Holder other(file_);
  EXPECT_FALSE(other.has_it()) << "a lock of the process would be gone by now";
}

TEST_F(Folder, IsGivenBackWhenTheLockGoes) {
  {
    ASSERT_TRUE(FolderLock::take(file_).has_value());
  }
  const Holder other(file_);
  EXPECT_TRUE(other.has_it());
}

TEST_F(Folder, KnowsWhetherItsFileIsStillTheOneThere) {
  const auto mine = FolderLock::take(file_);
  ASSERT_TRUE(mine.has_value());
  EXPECT_TRUE(mine->in_place().has_value());
  std::filesystem::rename(file_, path("aside"));
  EXPECT_EQ(mine->in_place().error().code, Errc::kMissing);
  const Holder other(file_);
  EXPECT_TRUE(other.has_it()) << "so it keeps nobody out";
  EXPECT_EQ(mine->in_place().error().code, Errc::kMissing);
  EXPECT_EQ(mine->in_place().error().context,
            file_ + " is not the file that this agent has locked");
  std::filesystem::rename(path("aside"), file_);
  EXPECT_TRUE(mine->in_place().has_value());
}

TEST_F(Folder, MustBeThere) {
  EXPECT_EQ(FolderLock::take(path("none/wardmote.lock")).error().code, Errc::kMissing);
  std::filesystem::create_symlink(path("elsewhere"), file_);
  EXPECT_EQ(FolderLock::take(file_).error().code, Errc::kInvalid) << "a link leads nowhere";
  EXPECT_FALSE(std::filesystem::exists(path("elsewhere")));
}

}  // namespace
}  // namespace wardmote::net
