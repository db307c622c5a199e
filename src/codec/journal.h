#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace wardmote::codec {

/// An entry of systemd's journal in its native protocol (systemd.io/JOURNAL_NATIVE_PROTOCOL): the
/// fields in order. A value of more than one line, or with bytes that are no text, goes with its
/// length, so it can begin no field of its own. Names are upper-case letters, digits and `_`, at
/// most 64, and do not begin with `_` or a digit; a field of another name is left out, as the
/// journal would do.
std::string format_journal(const std::vector<std::pair<std::string, std::string>>& fields);

}  // namespace wardmote::codec
