#pragma once

#include <string_view>

namespace wardmote {

/// The exit code of a program whose output was lost: EX_IOERR of sysexits.h.
inline constexpr int kOutputLost = 74;

/// Returns `exit_code`, or kOutputLost instead of 0 if standard output could not be written
/// completely; then it also prints a message under the name of the program on standard error. Call
/// it at the end of main(): nothing may be written afterwards.
int checked_output(std::string_view program, int exit_code);

}  // namespace wardmote
