#include "net/datagram_listener.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <array>
#include <cstring>
#include <string>

#include "unit/net/net_fixture.h"

namespace wardmote::net {
namespace {

class Datagrams : public NetTest {
 protected:
  Result<std::unique_ptr<DatagramListener>> open(std::string_view name) {
    return DatagramListener::open(runtime_.executor(), path(name));
  }
  bool send(std::string_view name, std::string_view bytes) {
    const UniqueFd fd(::socket(AF_UNIX, SOCK_DGRAM, 0));
    sockaddr_un to{.sun_family = AF_UNIX, .sun_path = {}};
    std::strncpy(to.sun_path, path(name).c_str(), sizeof to.sun_path - 1);
    return ::sendto(fd.get(), bytes.data(), bytes.size(), 0, reinterpret_cast<sockaddr*>(&to),
                    sizeof to) == static_cast<ssize_t>(bytes.size());
  }
  Result<std::string> receive(DatagramListener& listener) {
    constexpr auto kReceive = [](DatagramListener* from) -> runtime::Task<Result<std::string>> {
      std::array<char, 16> bytes;
      const Result<std::size_t> size = co_await from->receive(bytes);
      if (!size) co_return std::unexpected(size.error());
      co_return std::string(bytes.data(), *size);
    };
    return run_task(runtime_, kReceive(&listener));
  }
};

TEST_F(Datagrams, ComeOneByOneAndInOrder) {
  const auto listener = open("sock");
  ASSERT_TRUE(listener.has_value());
  ASSERT_TRUE(send("sock", "READY=1"));
  ASSERT_TRUE(send("sock", ""));
  ASSERT_TRUE(send("sock", "STOPPING=1"));
  EXPECT_EQ(receive(**listener).value(), "READY=1");
  EXPECT_EQ(receive(**listener).value(), "");
  EXPECT_EQ(receive(**listener).value(), "STOPPING=1");
}

TEST_F(Datagrams, OneThatIsTooLongIsLostAndNotTheNext) {
  const auto listener = open("sock");
  ASSERT_TRUE(send("sock", std::string(17, 'x')));
  ASSERT_TRUE(send("sock", "next"));
  EXPECT_EQ(receive(**listener).error().code, Errc::kLimit);
  EXPECT_EQ(receive(**listener).value(), "next");
}

TEST_F(Datagrams, TheFileComesAndGoes) {
  {
    const auto listener = open("sock");
    struct stat seen{};
    ASSERT_EQ(::stat(path("sock").c_str(), &seen), 0);
    EXPECT_EQ(seen.st_mode & 0777U, 0660U);
    EXPECT_EQ(open("sock").error().code, Errc::kRefused) << "somebody listens there";
  }
  EXPECT_FALSE(std::filesystem::exists(path("sock")));
}

TEST_F(Datagrams, ALeftOverFileIsReplacedAndAnythingElseIsNot) {
  {
    // bind() without a listener that would unlink it: as after kill -9.
    const UniqueFd fd(::socket(AF_UNIX, SOCK_DGRAM, 0));
    sockaddr_un at{.sun_family = AF_UNIX, .sun_path = {}};
    std::strncpy(at.sun_path, path("old").c_str(), sizeof at.sun_path - 1);
    ASSERT_EQ(::bind(fd.get(), reinterpret_cast<sockaddr*>(&at), sizeof at), 0);
  }
  EXPECT_TRUE(open("old").has_value());
  EXPECT_EQ(open("no/such/folder").error().code, Errc::kMissing);
  std::filesystem::create_directory(path("folder"));
  EXPECT_EQ(open("folder").error().code, Errc::kInvalid);
  const auto stream = runtime_.listen(unix_at("stream"));
  ASSERT_TRUE(stream.has_value());
  EXPECT_EQ(open("stream").error().code, Errc::kRefused);
}

}  // namespace
}  // namespace wardmote::net
