#pragma once

#include <string>
#include <string_view>

namespace wardmote::judge::reconcile {

/// A unified diff with three lines around each change, as diff(1) -u prints it; empty: both are the
/// same. Where the texts differ in very many lines, the part between the first and the last
/// difference is one change. An empty text stands for a file that is not there.
std::string unified_diff(std::string_view name, std::string_view before, std::string_view after);

}  // namespace wardmote::judge::reconcile
