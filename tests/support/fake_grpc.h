#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codec/grpc.h"
#include "codec/hpack.h"
#include "codec/http2.h"
#include "runtime/runtime.h"
#include "support/fake_door.h"

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
  using Spawn = FakeDoor::Spawn;

  FakeGrpc(runtime::Runtime& runtime, Spawn spawn, runtime::Endpoint at, GrpcManners manners)
      : runtime_(runtime),
        manners_(std::move(manners)),
        door_(runtime, std::move(spawn), "fake_grpc", std::move(at),
              [this](auto stream) { return serve(std::move(stream)); }) {
    if (manners_.accepts) door_.open();
  }

  [[nodiscard]] int connections() const noexcept { return door_.connections(); }
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
  runtime::Task<void> serve(std::shared_ptr<runtime::Stream> stream) {
    std::string received;
    for (std::uint32_t call = 1;; call += 2) {
      // The path of a call; what acknowledges is none.
      std::size_t at = received.find("/Check");
      while (at == std::string::npos) {
        std::array<char, 4096> chunk;
        const auto got = co_await stream->read_some(chunk, runtime_.deadline_in(kFakePatience));
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
    bool sent = false;
    do {
      sent = co_await write_in_pieces(&runtime_, stream, bytes, manners_.step);
    } while (sent && manners_.endless);
    co_return sent;
  }

  runtime::Runtime& runtime_;
  GrpcManners manners_;
  FakeDoor door_;
  int calls_ = 0;
};

}  // namespace wardmote::testing
