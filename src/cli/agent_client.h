#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <expected>
#include <string>

#include "cli/agent_address.h"
#include "cli/exit_code.h"
#include "runtime/http.h"
#include "runtime/runtime.h"
#include "runtime/task.h"

namespace wardmote::cli {

/// Why there is no answer: the message and the exit code.
struct Failure {
  Exit exit = Exit::kUnreachable;
  std::string message;
  bool missing = false;  ///< the agent answers that it has no such thing
};

template <class T>
using Answer = std::expected<T, Failure>;

/// Asks the agent, one connection for each question. Borrows the runtime.
class AgentClient {
 public:
  AgentClient(runtime::Runtime& runtime, AgentAddress address)
      : runtime_(&runtime), address_(std::move(address)) {}

  /// The answer of the first endpoint that answers; any HTTP status is an answer. `path` is not
  /// percent-encoded, `query` is.
  runtime::Task<Answer<runtime::HttpResponse>> get(std::string path, std::string query = {});
  /// Gives an order to the first endpoint that answers; returns the JSON of its 200 or 201.
  runtime::Task<Answer<boost::json::value>> order(std::string method, std::string path,
                                                  boost::json::object body);
  /// The JSON of a 200; other statuses are failures. All pages of a list are joined; of the status,
  /// all of its lists.
  runtime::Task<Answer<boost::json::value>> get_json(std::string path, std::string query = {});

  /// An order. It may be given twice when the first endpoint takes it and then fails.
  runtime::Task<Answer<runtime::HttpResponse>> post(std::string path, std::string json);

 private:
  runtime::Task<Answer<boost::json::value>> get_one(std::string path, std::string query);
  runtime::Task<Answer<runtime::HttpResponse>> ask(runtime::HttpRequest request);

  runtime::Runtime* runtime_;
  AgentAddress address_;
};

}  // namespace wardmote::cli
