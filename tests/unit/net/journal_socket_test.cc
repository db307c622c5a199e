#include "net/journal_socket.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <string>

#include <gtest/gtest.h>

#include "net/unique_fd.h"
#include "unit/net/net_fixture.h"

namespace wardmote::net {
namespace {

/// Receives datagrams, as journald does.
class FakeJournald {
 public:
  explicit FakeJournald(const std::string& path) : fd_(::socket(AF_UNIX, SOCK_DGRAM, 0)) {
    sockaddr_un at{};
    at.sun_family = AF_UNIX;
    path.copy(at.sun_path, sizeof(at.sun_path) - 1);
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): the socket API
    EXPECT_EQ(::bind(fd_.get(), reinterpret_cast<const sockaddr*>(&at), sizeof(at)), 0);
  }

  /// The bytes of one datagram, and the descriptor that came with it.
  std::pair<std::string, UniqueFd> receive() {
    std::string bytes(1 << 20, '\0');
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
    iovec part{bytes.data(), bytes.size()};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const ssize_t size = ::recvmsg(fd_.get(), &message, MSG_DONTWAIT);
    bytes.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
    int number = -1;
    if (const cmsghdr* const header = CMSG_FIRSTHDR(&message)) {
      std::memcpy(&number, CMSG_DATA(header), sizeof(number));
    }
    return {std::move(bytes), UniqueFd(number)};
  }

 private:
  UniqueFd fd_;
};

class JournalSocketTest : public NetTest {
 protected:
  std::string journal() { return path("journal"); }
};

TEST_F(JournalSocketTest, AnEntryIsADatagram) {
  FakeJournald journald(journal());
  ASSERT_TRUE(JournalSocket(journal()).send("MESSAGE=hello\n"));
  EXPECT_EQ(journald.receive().first, "MESSAGE=hello\n");
}

TEST_F(JournalSocketTest, OneThatIsTooLongIsASealedFile) {
  FakeJournald journald(journal());
  const std::string entry(8 << 20, 'x');
  const auto sent = JournalSocket(journal()).send(entry);
  ASSERT_TRUE(sent) << sent.error().describe();
  const auto [bytes, file] = journald.receive();
  EXPECT_EQ(bytes, "");
  ASSERT_TRUE(file);
  EXPECT_EQ(::lseek(file.get(), 0, SEEK_END), static_cast<off_t>(entry.size()));
  // journald takes no file that could change while it reads (F_ADD_SEALS, fcntl(2)).
  const int seals = ::fcntl(file.get(), F_GET_SEALS);
  EXPECT_EQ(seals & (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE),
            F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
}

TEST_F(JournalSocketTest, WithoutAJournalItSaysSo) {
  const auto sent = JournalSocket(journal()).send("MESSAGE=hello\n");
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().code, Errc::kMissing);
}

TEST_F(JournalSocketTest, OneThatDoesNotKeepUpKeepsNobodyWaiting) {
  const FakeJournald journald(journal());
  JournalSocket socket(journal());
  Result<void> sent;
  for (int i = 0; i < 100'000 && sent; ++i) sent = socket.send("MESSAGE=hello\n");
  EXPECT_FALSE(sent);
}

}  // namespace
}  // namespace wardmote::net
