#pragma once

#include <functional>
#include <string_view>

#include "runtime/http.h"
#include "serve/access.h"
#include "serve/role.h"
#include "serve/view.h"

namespace wardmote::serve {

/// One request that may be answered, and what it is answered from.
struct Ask {
  const AgentView& view;
  const runtime::HttpRequest& request;
  const Who& who;
  std::string_view name;  ///< what stands for the `{name}` of the path; may be anything
};

/// One path that is served. The answer comes from memory: it neither blocks nor waits; an order's
/// may be held until it is written down.
struct Route {
  std::string_view method;  ///< `GET` serves HEAD too; any other is an order
  std::string_view path;    ///< `/api/v1/clusters/{name}`: at most one segment is a name
  Role least;               ///< who may ask; kNone: everybody, and nobody is asked who he is
  std::function<runtime::HttpResponse(const Ask& ask)> answer;
  bool local = false;  ///< only at the unix socket
  /// An order that programs give all the time: neither limited nor, when it is taken, logged.
  bool frequent = false;
};

}  // namespace wardmote::serve
