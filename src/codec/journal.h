#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace wardmote::codec {

/// An entry of systemd's journal in its native protocol (systemd.io/JOURNAL_NATIVE_PROTOCOL): the
/// fields in order. A value with more than one line, or with bytes that are not text, is sent with
/// its length, so that it cannot begin another field. Names are upper-case letters, digits and `_`,
/// at most 64, and do not begin with `_` or a digit; a field with another name is left out, as the
/// journal would do. Not libsystemd, because its sd_journal_sendv() waits while the journal is
/// behind, and it would load five more libraries into the agent for a datagram.
std::string format_journal(const std::vector<std::pair<std::string, std::string>>& fields);

}  // namespace wardmote::codec
