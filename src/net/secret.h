#pragma once

#include <cstdio>
#include <memory>
#include <string>

#include "base/result.h"

namespace wardmote::net {

using SecretFile = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

/// To be read. It does not block: kInvalid for what is no regular file, as a pipe that nobody
/// writes into; else the errors of opening it.
Result<SecretFile> open_secret(const std::string& path);

/// The one line of a file that holds a secret; empty when `path` is. kInvalid: the file is empty,
/// too long, or has more than one line; else the errors of open_secret().
Result<std::string> read_secret(const std::string& path);

}  // namespace wardmote::net
