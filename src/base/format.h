#pragma once
// The one way to include fmt: header-only, so that the static command line needs no fmt archive
// (Debian has none).

#ifndef FMT_HEADER_ONLY
#define FMT_HEADER_ONLY
#endif
#include <fmt/core.h>    // IWYU pragma: export
#include <fmt/format.h>  // IWYU pragma: export
