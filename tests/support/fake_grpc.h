#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "codec/grpc.h"
#include "codec/hpack.h"
#include "codec/http2.h"
#include "runtime/runtime.h"

namespace wardmote::testing {

/// A frame that a FakeGrpc writes; where `of_call` is set, on the stream of the call.
struct ScriptedFrame {
  codec::Http2Frame frame;
  bool of_call = true;
};

/// How a FakeGrpc behaves.
struct GrpcManners {
  std::string raw;  ///< written at once after the client has spoken, instead of frames
  std::vector<ScriptedFrame> frames;  ///< for each call, after the SETTINGS
  bool accepts = true;                ///< false: as when it is stopped
  bool endless = false;               ///< writes the frames again and again
  bool hangs_up = false;              ///< after the frames
  std::size_t step = 0;               ///< write in pieces of so many bytes, 100 ms apart
};

/// A gRPC server that answers as told, where a real one cannot be made to misbehave so. Life cycle:
/// outlives the tasks that it gives to `spawn`.
class FakeGrpc {
 public:
  using Spawn = std::function<void(std::string name, runtime::Task<void> task)>;

  FakeGrpc(runtime::Runtime& runtime, Spawn spawn, runtime::Endpoint at, GrpcManners manners)
      : runtime_(runtime), spawn_(std::move(spawn)), manners_(std::move(manners)) {
    auto listener = runtime_.listen(std::move(at));
    check(listener.has_value(), listener ? "" : listener.error().describe());
    listener_ = *std::move(listener);
    if (manners_.accepts) spawn_("fake_grpc", accept_all());
  }

  [[nodiscard]] int connections() const noexcept { return connections_; }
  [[nodiscard]] int calls() const noexcept { return calls_; }

  static ScriptedFrame headers(std::vector<codec::HeaderField> fields, bool end = false) {
    std::string block;
    for (const codec::HeaderField& field : fields)
      codec::encode_field(block, field.name, field.value);
    const auto flags =
        static_cast<std::uint8_t>(codec::kHttp2EndHeaders | (end ? codec::kHttp2EndStream : 0));
    return {{1, flags, 0, std::move(block)}};
  }
  static std::vector<ScriptedFrame> serving(char status) {
    return {headers({{":status", "200"}, {"content-type", "application/grpc"}}),
            {{0, 0, 0, codec::encode_grpc_message(std::string{'\x08', status})}},
            headers({{"grpc-status", "0"}}, true)};
  }

 private:
  runtime::Task<void> accept_all() {
    for (;;) {
      auto stream = co_await listener_->accept();
      if (!stream) co_return;
      ++connections_;
      spawn_("fake_grpc_client", serve(*std::move(stream)));
    }
  }

  runtime::Task<void> serve(std::shared_ptr<runtime::Stream> stream) {
    std::string received;
    for (std::uint32_t call = 1;; call += 2) {
      // The path of a call; what acknowledges is none.
      std::size_t at = received.find("/Check");
      while (at == std::string::npos) {
        std::array<char, 4096> chunk;
        const auto got = co_await stream->read_some(chunk, runtime_.deadline_in(kPatience));
        if (!got) co_return;
        received.append(chunk.data(), *got);
        at = received.find("/Check");
      }
      received.erase(0, at + 1);
      ++calls_;
      std::string bytes = manners_.raw;
      if (bytes.empty() && call == 1) bytes = codec::encode_http2_settings();
      for (ScriptedFrame scripted : manners_.frames) {
        if (scripted.of_call) scripted.frame.stream = call;
        bytes += encode(scripted.frame);
      }
      const bool sent = co_await send(stream, bytes);
      if (!sent || manners_.hangs_up) co_return;
    }
  }

  runtime::Task<bool> send(std::shared_ptr<runtime::Stream> stream, std::string bytes) {
    do {
      for (std::string_view rest = bytes; !rest.empty();) {
        const std::string_view piece =
            rest.substr(0, manners_.step == 0 ? rest.size() : manners_.step);
        const auto written = co_await stream->write(piece, runtime_.deadline_in(kPatience));
        if (!written) co_return false;
        rest.remove_prefix(piece.size());
        if (manners_.step != 0)
          co_await runtime_.sleep_until(runtime_.now() + std::chrono::milliseconds(100));
      }
    } while (manners_.endless);
    co_return true;
  }

  static constexpr Duration kPatience = std::chrono::hours(1);

  runtime::Runtime& runtime_;
  Spawn spawn_;
  GrpcManners manners_;
  std::unique_ptr<runtime::Listener> listener_;
  int connections_ = 0;
  int calls_ = 0;
};

}  // namespace wardmote::testing
