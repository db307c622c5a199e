#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "runtime/http.h"
#include "serve/access.h"
#include "serve/role.h"
#include "serve/view.h"

namespace wardmote::serve {

/// A request to answer, and the data for the answer.
struct Ask {
  const AgentView& view;
  const runtime::HttpRequest& request;
  const Who& who;
  std::string_view name;  ///< the value of `{name}` in the path; may be any text
};

/// One path that is served. The answer comes from memory, without blocking or waiting; the answer
/// to an order may be held until the order is stored.
struct Route {
  std::string_view method;  ///< `GET` serves HEAD too; any other method is an order
  std::string_view path;    ///< `/api/v1/clusters/{name}`: at most one segment is a name
  Role least;               ///< who may ask; kNone: everybody, without authentication
  std::function<runtime::HttpResponse(const Ask& ask)> answer;
  bool local = false;  ///< only at the unix socket
  /// An order that programs give all the time: not limited, and logged only when it is refused.
  bool frequent = false;
  /// Answered also when all ordinary connections are in use.
  bool urgent = false;
  /// The fields of its query. Below /api and /debug any other field is refused: an unknown filter
  /// must not be ignored.
  std::vector<std::string_view> fields = {};
};

}  // namespace wardmote::serve
