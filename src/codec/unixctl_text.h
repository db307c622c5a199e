#pragma once

#include <string>

#include "base/result.h"
#include "codec/json_rpc.h"

namespace wardmote::codec {

/// The text that a command of a control socket answered (lib/unixctl.c), also when it is wrapped as
/// OVS 3.4 does for `--format json`. Some commands refuse by an error and some by a text, so read
/// the state again after a command. kRejected with the server's text, kProtocol, kLimit (64 KiB).
Result<std::string> read_unixctl_text(const RpcMessage& reply);

}  // namespace wardmote::codec
