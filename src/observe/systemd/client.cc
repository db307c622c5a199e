#include "observe/systemd/client.h"

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "codec/dbus.h"
#include "observe/reason.h"
#include "runtime/deadline.h"
#include "runtime/endpoint.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::observe::systemd {

using codec::DbusMessage;
using codec::DbusProperties;
using runtime::Deadline;
using runtime::Task;

namespace {

constexpr std::string_view kSystemd = "org.freedesktop.systemd1";
constexpr std::string_view kBus = "org.freedesktop.DBus";
/// systemd's own socket sends every change to every client; a bus does not.
constexpr std::uint64_t kMostBytes = 8 << 20;
constexpr std::size_t kQuoted = 200;

/// systemd's error for a property that another kind of unit does not have.
bool says_no_such_interface(const Error& error) {
  return error.code == Errc::kRejected && error.context.contains(".UnknownInterface");
}

Error refusal(const DbusMessage& reply) {
  const Result<std::string> words = codec::parse_dbus_text(reply);
  const bool denied =
      reply.error.ends_with(".AccessDenied") || reply.error.ends_with(".AuthFailed");
  return {denied ? Errc::kDenied : Errc::kRejected,
          escape_control(words ? reply.error + ": " + *words : reply.error, kQuoted)};
}

}  // namespace

Client::Client(runtime::Runtime& runtime, runtime::Endpoint at, std::string unit,
               unsigned fresh_every)
    : runtime_(runtime),
      at_(std::move(at)),
      unit_(std::move(unit)),
      fresh_every_(fresh_every),
      through_bus_(!at_.path.ends_with("/private")) {}

Task<Result<Snapshot>> Client::look(Deadline deadline) {
  cost_ = {};
  if (fresh_every_ != 0 && looks_++ % fresh_every_ == 0) stream_.reset();
  const bool kept = stream_ != nullptr;
  Result<Snapshot> snapshot = co_await ask(deadline);
  if (!snapshot && kept && snapshot.error().code == Errc::kClosed) {
    stream_.reset();
    snapshot = co_await ask(deadline);
  }
  // That socket would continue to send every change, and nobody would read them.
  if (!snapshot || !through_bus_) stream_.reset();
  if (!snapshot) {
    co_return with_context(snapshot, "{}", to_string(at_));
  }
  co_return snapshot;
}

Task<Result<Snapshot>> Client::ask(Deadline deadline) {
  if (!stream_) {
    const Result<void> entered = co_await enter(deadline);
    if (!entered) co_return std::unexpected(entered.error());
  }
  std::string calls;
  for (const std::string_view of : {"Unit", "Service"}) {
    calls += call(object_, "org.freedesktop.DBus.Properties", "GetAll",
                  {fmt::format("{}.{}", kSystemd, of)});
  }
  const Result<void> written = co_await stream_->write(calls, deadline);
  if (!written) co_return with_context(written, "write");
  cost_.bytes_out += calls.size();
  const std::uint32_t last = serial_;
  Snapshot snapshot;
  Result<DbusProperties> unit = co_await properties(last - 1, deadline);
  if (!unit) co_return with_context(unit, "{}", unit_);
  snapshot.unit = *std::move(unit);
  Result<DbusProperties> service = co_await properties(last, deadline);
  if (!service && !says_no_such_interface(service.error()))
    co_return with_context(service, "{}", unit_);
  if (service) snapshot.service = *std::move(service);
  co_return snapshot;
}

/// The calls wait for the end of the authentication: systemd's own socket does not read what came
/// with the authentication until something else arrives.
Task<Result<void>> Client::enter(Deadline deadline) {
  cost_.fresh_connection = true;
  reader_ = codec::DbusReader();
  serial_ = 0;
  auto stream = co_await runtime_.connect(at_, deadline);
  if (!stream) co_return std::unexpected(connect_failure(at_, stream.error()));
  stream_ = *std::move(stream);
  const std::string_view words = codec::kDbusAuthentication;
  const Result<void> written = co_await stream_->write(words, deadline);
  if (!written) co_return with_context(written, "write");
  cost_.bytes_out += words.size();

  for (bool accepted = false; !accepted;) {
    const Result<std::optional<std::string>> line = reader_.next_line();
    if (!line) co_return with_context(line, "authentication");
    if (!*line) {
      const Result<void> read = co_await read_more(deadline);
      if (!read) co_return with_context(read, "authentication");
      continue;
    }
    accepted = (*line)->starts_with("OK ");
    if (accepted || **line == "DATA") continue;
    const Errc code = (*line)->starts_with("REJECTED") ? Errc::kDenied : Errc::kProtocol;
    co_return fail(code, "authentication: {}", escape_control(**line, kQuoted));
  }
  std::string calls;
  if (through_bus_) calls += call("/org/freedesktop/DBus", std::string(kBus), "Hello", {});
  calls +=
      call("/org/freedesktop/systemd1", fmt::format("{}.Manager", kSystemd), "LoadUnit", {unit_});
  const Result<void> asked = co_await stream_->write(calls, deadline);
  if (!asked) co_return with_context(asked, "write");
  cost_.bytes_out += calls.size();
  if (through_bus_) {
    const Result<DbusMessage> hello = co_await answer_to(serial_ - 1, deadline);
    if (!hello) co_return with_context(hello, "Hello");
  }
  const Result<DbusMessage> loaded = co_await answer_to(serial_, deadline);
  if (!loaded) co_return with_context(loaded, "LoadUnit {}", unit_);
  Result<std::string> object = codec::parse_dbus_text(*loaded);
  if (!object) co_return with_context(object, "LoadUnit {}", unit_);
  object_ = *std::move(object);
  co_return Result<void>();
}

Task<Result<DbusProperties>> Client::properties(std::uint32_t serial, Deadline deadline) {
  const Result<DbusMessage> reply = co_await answer_to(serial, deadline);
  if (!reply) co_return std::unexpected(reply.error());
  co_return codec::parse_dbus_properties(*reply);
}

Task<Result<void>> Client::read_more(Deadline deadline) {
  // A peer that sends one byte at a time keeps every single read short; the deadline covers all of
  // them.
  if (deadline.passed(runtime_.now())) co_return fail(Errc::kTimeout, "read");
  const std::span<char> room = reader_.room();
  const Result<std::size_t> got = co_await stream_->read_some(room, deadline);
  if (!got) co_return with_context(got, "{} bytes of an answer", reader_.held());
  reader_.received(*got);
  cost_.bytes_in += *got;
  co_return Result<void>();
}

Task<Result<DbusMessage>> Client::answer_to(std::uint32_t serial, Deadline deadline) {
  for (;;) {
    Result<std::optional<DbusMessage>> message = reader_.next();
    if (!message) co_return std::unexpected(message.error());
    if (!*message) {
      const Result<void> read = co_await read_more(deadline);
      if (!read) co_return std::unexpected(read.error());
      continue;
    }
    if ((*message)->reply_to == serial && (*message)->kind == DbusMessage::Kind::kReply)
      co_return **std::move(message);
    if ((*message)->reply_to == serial && (*message)->kind == DbusMessage::Kind::kError)
      co_return std::unexpected(refusal(**message));
    if (cost_.bytes_in > kMostBytes)
      co_return fail(Errc::kLimit, "more than {} bytes that were not asked for", kMostBytes);
  }
}

std::string Client::call(std::string path, std::string interface, std::string member,
                         std::vector<std::string> arguments) {
  codec::DbusCall call;
  call.serial = ++serial_;
  if (through_bus_) call.destination = interface == kBus ? kBus : kSystemd;
  call.path = std::move(path);
  call.interface = std::move(interface);
  call.member = std::move(member);
  call.arguments = std::move(arguments);
  return encode(call);
}

}  // namespace wardmote::observe::systemd
