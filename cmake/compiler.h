#pragma once

// g++ before 14 silently miscompiles ordinary coroutine code: double frees, lost completions. The
// library is made with clang 19.
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 14
#error "wardmote: g++ before 14 silently miscompiles coroutines; use clang++ 19 or g++ 14"
#endif
#if __cplusplus < 202100L
#error "wardmote: compile with -std=c++23 or later"
#endif
