#pragma once
// The texts of `calico-node`'s checks (node/pkg/health of Calico 3.22 to 3.32 and later).

#include <string>
#include <string_view>

#include "base/result.h"
#include "observe/calico/health.h"

namespace wardmote::observe::calico {

/// `calico/node is not ready: BIRD is not ready: ` and the others.
std::string_view prefix_of(Check check) noexcept;

/// Texts are those of the newest release; until 3.30 some began with a capital letter.
std::string in_words_of(Release release, std::string text);

/// An error of net/http as Go words it: `Get "http://localhost:9099/readiness": EOF`.
std::string go_http_error(const FelixTarget& target, std::string_view path, const Error& error);

}  // namespace wardmote::observe::calico
