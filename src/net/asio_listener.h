#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

#include "base/result.h"
#include "net/core.h"
#include "net/unique_fd.h"
#include "runtime/endpoint.h"
#include "runtime/stream.h"

namespace wardmote::net {

/// Runtime::listen on the real network. A unix socket gets the mode 0660. kRefused when the address
/// is taken.
Result<std::unique_ptr<runtime::Listener>> listen_on(Core& core, const runtime::Endpoint& at);

/// A listening unix or TCP socket on the loop.
class AsioListener final : public runtime::Listener {
 public:
  /// A socket file that is removed with its listener, unless another file has taken its place.
  struct SocketFile {
    std::string path;
    dev_t device = 0;
    ino_t inode = 0;
  };

  AsioListener(Core& core, Socket socket, SocketFile file)
      : core_(&core), socket_(std::move(socket)), file_(std::move(file)) {}
  ~AsioListener() override;

  /// kExhausted leaves the client in the queue: wait, then accept again.
  runtime::Task<Result<std::unique_ptr<runtime::Stream>>> accept() override;

 private:
  Core* core_;
  Socket socket_;
  SocketFile file_;
};

}  // namespace wardmote::net
