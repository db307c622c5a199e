#include <unistd.h>

#include <array>
#include <chrono>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "net/log_line.h"
#include "net/log_writer.h"

namespace wardmote::net {
namespace {

using namespace std::chrono_literals;

constexpr WallTime kAt{1'800'000'000s};

std::string line_of(LogFormat format, WallTime at, LogLevel level, std::string_view event,
                    std::initializer_list<LogField> fields) {
  return log_line(format, at, level, event, std::span(fields.begin(), fields.size()));
}

TEST(LogLine, IsOneLineOfKeysAndValues) {
  EXPECT_EQ(line_of(LogFormat::kKeyValue, kAt, LogLevel::kWarning, "gate_closed",
                    {{"gate", "ready"}, {"failing", "a b"}, {"empty", ""}}),
            "at=2027-01-15T08:00:00.000Z level=warning event=gate_closed gate=ready failing=\"a "
            "b\" empty=\"\"\n");
}

TEST(LogLine, IsJsonWhereAsked) {
  EXPECT_EQ(
      line_of(LogFormat::kJson, kAt, LogLevel::kInfo, "ready", {{"api", "tcp:127.0.0.1:9470"}}),
      "{\"at\":\"2027-01-15T08:00:00.000Z\",\"level\":\"info\",\"event\":\"ready\","
      "\"api\":\"tcp:127.0.0.1:9470\"}\n");
}

TEST(LogLine, CannotBeForgedFromOutside) {
  for (const LogFormat format : {LogFormat::kKeyValue, LogFormat::kJson}) {
    const std::string line =
        line_of(format, kAt, LogLevel::kInfo, "x",
                {{"reason", "end\" level=error\nat=now \x1b[31m" + std::string(5000, 'x')}});
    EXPECT_EQ(line.find('\n'), line.size() - 1);
    EXPECT_EQ(line.find('\x1b'), std::string::npos);
    EXPECT_LT(line.size(), 1500U);
  }
}

/// A pipe whose reader may be slow.
class Pipe {
 public:
  Pipe() { EXPECT_EQ(::pipe(ends_.data()), 0); }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }
  [[nodiscard]] int writer() const { return ends_[1]; }
  [[nodiscard]] std::string read() const {
    std::array<char, 4096> buffer{};
    const ssize_t size = ::read(ends_[0], buffer.data(), buffer.size());
    return {buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0))};
  }

 private:
  std::array<int, 2> ends_{};
};

LogOptions options(int descriptor, LogLevel least = LogLevel::kInfo) {
  return {least, LogFormat::kKeyValue, descriptor, [] { return kAt; }};
}

TEST(LogWriter, WritesWhatIsQueuedBeforeItEnds) {
  const Pipe pipe;
  {
    LogWriter writer(options(pipe.writer(), LogLevel::kWarning));
    writer.write(LogLevel::kInfo, "too_low", {});
    writer.write(LogLevel::kError, "loud", {});
  }
  EXPECT_EQ(pipe.read(), "at=2027-01-15T08:00:00.000Z level=error event=loud\n");
}

TEST(LogWriter, NeitherBlocksNorHangsWhenNobodyReads) {
  const Pipe pipe;
  const auto begin = std::chrono::steady_clock::now();
  {
    LogWriter writer(options(pipe.writer()));
    const LogField text{"text", std::string(100, 'x')};
    for (int i = 0; i < 20'000; ++i) writer.write(LogLevel::kInfo, "flood", std::span(&text, 1));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 60s) << "a machine may be loaded";
}

}  // namespace
}  // namespace wardmote::net
