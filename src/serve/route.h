#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "runtime/http.h"
#include "serve/view.h"

namespace wardmote::serve {

/// One request, and what it is answered from.
struct Ask {
  const AgentView& view;
  const runtime::HttpRequest& request;
  std::string_view name;  ///< what stands for the `{name}` of the path; may be anything
};

/// One path that is served. The answer comes from memory: it neither blocks nor waits.
struct Route {
  std::string_view method;  ///< `GET` serves HEAD too
  std::string_view path;    ///< `/api/v1/clusters/{name}`: at most one segment is a name
  std::function<runtime::HttpResponse(const Ask& ask)> answer;
};

}  // namespace wardmote::serve
