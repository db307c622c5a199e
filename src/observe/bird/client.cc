#include "observe/bird/client.h"

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "codec/bird.h"
#include "observe/host/holder.h"
#include "observe/reason.h"
#include "runtime/deadline.h"
#include "runtime/endpoint.h"
#include "runtime/runtime.h"
#include "runtime/stream.h"
#include "runtime/task.h"

namespace wardmote::observe::bird {

using runtime::Deadline;
using runtime::Endpoint;
using runtime::Task;

namespace {

constexpr unsigned kWelcome = 1;
constexpr unsigned kRestricted = 16;
constexpr std::size_t kQuoted = 120;

std::string_view protocols_command(const ClientOptions& options) noexcept {
  return options.detailed ? "show protocols all" : "show protocols";
}

/// Whether a socket elsewhere may still be the right one.
bool nobody_there(Errc code) noexcept {
  return code == Errc::kMissing || code == Errc::kRefused;
}

}  // namespace

Client::Client(runtime::Runtime& runtime, std::vector<Endpoint> at, ClientOptions options)
    : runtime_(runtime), at_(std::move(at)), options_(options) {}

Task<Result<Snapshot>> Client::look(Deadline deadline) {
  cost_ = {};
  if (options_.fresh_every != 0 && looks_++ % options_.fresh_every == 0) connection_.reset();
  const bool kept = connection_ != nullptr;
  Result<Snapshot> snapshot = co_await ask(deadline);
  if (!snapshot && kept && snapshot.error().code == Errc::kClosed) {
    // The daemon was restarted since the last probe, or during this one: only a new connection
    // shows its state now.
    connection_.reset();
    snapshot = co_await ask(deadline);
  }
  if (snapshot || !connection_) co_return snapshot;
  if (snapshot.error().code == Errc::kTimeout) {
    std::string& context = snapshot.error().context;
    context.insert(0, holder_words(runtime_.files(), *connection_->stream, "bird"));
  }
  connection_.reset();
  co_return snapshot;
}

std::uint32_t Client::holder() const {
  return connection_ ? holder_of(*connection_->stream) : 0;
}

Task<Result<Snapshot>> Client::ask(Deadline deadline) {
  if (!connection_) {
    Result<void> connected = co_await connect(deadline);
    if (!connected) co_return std::unexpected(connected.error());
  }
  std::string commands = "show status\n";
  commands.append(protocols_command(options_)).append("\n");
  if (cost_.fresh_connection) commands.insert(0, "restrict\n");
  // Sent before the greeting arrives: a BIRD reads its first command after it has written the
  // greeting, so this saves a round trip. A server that is not BIRD gets lines that do no harm.
  const Result<void> written = co_await write(commands, deadline);
  if (!written) co_return with_context(written, "{}", to_string(connection_->at));

  if (cost_.fresh_connection) {
    const Result<void> greeted = co_await greet(deadline);
    if (!greeted) co_return with_context(greeted, "{}", to_string(connection_->at));
    const Result<codec::BirdLine> line = co_await read_line(deadline);
    if (!line) co_return with_context(line, "{}: restrict", to_string(connection_->at));
    if (!line->last || line->code != kRestricted) {
      co_return fail(Errc::kProtocol, "{}: restrict: {:04} {}", to_string(connection_->at),
                     line->code, escape_control(line->text, kQuoted));
    }
  }
  codec::BirdStatusParser status;
  const Result<void> status_read = co_await read_reply(&status, "show status", deadline);
  if (!status_read) co_return with_context(status_read, "{}", to_string(connection_->at));
  codec::BirdProtocolsParser protocols;
  const Result<void> protocols_read =
      co_await read_reply(&protocols, protocols_command(options_), deadline);
  if (!protocols_read) co_return with_context(protocols_read, "{}", to_string(connection_->at));

  Result<codec::BirdStatus> whole_status = status.take();
  if (!whole_status) co_return with_context(whole_status, "{}", to_string(connection_->at));
  Result<codec::BirdProtocols> whole_protocols = protocols.take();
  if (!whole_protocols) co_return with_context(whole_protocols, "{}", to_string(connection_->at));
  co_return Snapshot{*std::move(whole_status), *std::move(whole_protocols)};
}

/// The error names every socket that was tried. A refusal counts more than a missing file, because
/// it shows that a daemon was there.
Task<Result<void>> Client::connect(Deadline deadline) {
  cost_.fresh_connection = true;
  Error failure{Errc::kMissing, {}};
  for (std::size_t i = 0; i < at_.size(); ++i) {
    auto stream = co_await runtime_.connect(at_[i], deadline);
    if (stream) {
      connection_ = std::make_unique<Connection>(*std::move(stream), at_[i], options_.limits);
      co_return Result<void>();
    }
    const Error error = connect_failure(at_[i], stream.error());
    if (i == 0 || failure.code == Errc::kMissing) failure.code = error.code;
    if (i != 0) failure.context += "; ";
    failure.context += i + 1 == at_.size() ? error.context : error.describe();
    if (!nobody_there(error.code)) {
      failure.code = error.code;
      if (i + 1 != at_.size()) failure.context = error.context;
      break;
    }
  }
  co_return std::unexpected(failure);
}

/// The kernel of a hung daemon accepts the connection, but the daemon does not send this line.
Task<Result<void>> Client::greet(Deadline deadline) {
  const Result<codec::BirdLine> line = co_await read_line(deadline);
  if (!line) co_return with_context(line, "no greeting");
  if (!line->last || line->code != kWelcome || !line->text.starts_with("BIRD ")) {
    co_return fail(Errc::kProtocol, "this is not BIRD: {:04} {}", line->code,
                   escape_control(line->text, kQuoted));
  }
  co_return Result<void>();
}

Task<Result<void>> Client::write(std::string_view commands, Deadline deadline) {
  const Result<void> written = co_await connection_->stream->write(commands, deadline);
  if (!written) co_return with_context(written, "write");
  cost_.bytes_out += commands.size();
  co_return Result<void>();
}

Task<Result<codec::BirdLine>> Client::read_line(Deadline deadline) {
  for (;;) {
    const Result<std::optional<codec::BirdLine>> line = connection_->reader.next();
    if (!line) co_return std::unexpected(line.error());
    if (*line) co_return **line;
    // A daemon that sends one byte at a time keeps every single read short; the deadline covers all
    // of them.
    if (deadline.passed(runtime_.now())) co_return fail(Errc::kTimeout, "read");
    const std::span<char> room = connection_->reader.room();
    const Result<std::size_t> got = co_await connection_->stream->read_some(room, deadline);
    if (!got) co_return std::unexpected(got.error());
    connection_->reader.received(*got);
    cost_.bytes_in += *got;
  }
}

template <class Parser>
Task<Result<void>> Client::read_reply(Parser* parser, std::string_view command, Deadline deadline) {
  for (;;) {
    const Result<codec::BirdLine> line = co_await read_line(deadline);
    if (!line) {
      co_return with_context(line, "{}: cut short after {} lines, {} bytes", command,
                             connection_->reader.lines(), cost_.bytes_in);
    }
    const Result<void> read = parser->read(*line);
    if (!read) co_return with_context(read, "{}", command);
    if (line->last) co_return Result<void>();
  }
}

std::shared_ptr<SharedClient> share_client(runtime::Runtime& runtime, std::vector<Endpoint> at,
                                           ClientOptions options) {
  std::string name = fmt::format("{} {} {} {}", options.detailed, options.fresh_every,
                                 options.limits.line_bytes, options.limits.reply_bytes);
  for (const Endpoint& socket : at) name += " " + to_string(socket);
  return runtime.shared().share<SharedClient>(name, [&] {
    return std::make_shared<SharedClient>(runtime, options.fresh_every, [&runtime, at, options] {
      return Client(runtime, at, options);
    });
  });
}

}  // namespace wardmote::observe::bird
