#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/files.h"
#include "runtime/stream.h"

namespace wardmote::observe {

/// The process that listens on the unix socket behind a stream, as the kernel recorded it when the
/// process began to listen; 0 when unknown, or when it is in a pid namespace that we do not see.
std::uint32_t holder_of(const runtime::Stream& stream);

/// `process 412 (bird) is stopped (T): `, for an error about a server that does not answer; empty
/// when nothing is known. After a server has forked, the recorded pid may belong to another process
/// by now, so the process counts only when its name begins with `program`.
std::string holder_words(runtime::Files& files, const runtime::Stream& stream,
                         std::string_view program);

}  // namespace wardmote::observe
