#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/files.h"

namespace wardmote::net {

/// The files of this machine.
class PosixFiles final : public runtime::Files {
 public:
  Result<std::string> read(const std::string& path, std::size_t cap) override;
  Result<runtime::FileInfo> info(const std::string& path) override;
  Result<bool> has_reader(const std::string& fifo) override;
  Result<std::vector<std::string>> list(const std::string& folder, std::size_t cap) override;
};

}  // namespace wardmote::net
