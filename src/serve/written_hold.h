#pragma once

#include <memory>

#include "control/written.h"
#include "runtime/http.h"

namespace wardmote::serve {

/// Holds the answer to an order until it is known how its writing went; in its stead 409 when it
/// was refused, and 503 when it was not written. Null for null: nothing is to be waited for.
std::shared_ptr<runtime::HttpHold> hold_until(std::shared_ptr<control::Written> written);

}  // namespace wardmote::serve
