#pragma once

#include <chrono>
#include <string>

#include "base/result.h"
#include "runtime/links.h"

namespace wardmote::net {

/// Links of this network namespace. Each call opens its own socket, so it sees the rights that the
/// process has now.
class SystemLinks final : public runtime::Links {
 public:
  bool has(const std::string& address) override;
  Result<void> hold(const runtime::VirtualAddress& address, std::chrono::seconds valid) override;
  Result<void> drop(const runtime::VirtualAddress& address) override;
  Result<void> announce(const runtime::VirtualAddress& address) override;
};

}  // namespace wardmote::net
