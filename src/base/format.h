#pragma once
// The one way to include fmt. It is compiled in fmt.cc alone.

#include <fmt/core.h>    // IWYU pragma: export
#include <fmt/format.h>  // IWYU pragma: export
