#pragma once

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "runtime/deadline.h"
#include "runtime/http.h"
#include "runtime/http_client.h"
#include "runtime/task.h"

namespace wardmote::act::notify {

/// Keystone and Masakari at once: answers in the order that it is told to, then 202.
class FakeCloud final : public runtime::HttpClient {
 public:
  runtime::Task<Result<runtime::HttpResponse>> call(runtime::HttpCall call,
                                                    runtime::Deadline) override {
    const bool login = call.url.ends_with("/auth/tokens");
    calls.push_back(std::move(call));
    if (login) {
      ++logins;
      runtime::HttpResponse granted{.status = login_status, .body = token};
      granted.headers.emplace_back("x-subject-token", "TOKEN" + std::to_string(logins));
      co_return granted;
    }
    if (answers.empty()) co_return runtime::HttpResponse{.status = 202};
    Result<runtime::HttpResponse> answer = std::move(answers.front());
    answers.pop_front();
    co_return answer;
  }

  int logins = 0;
  int login_status = 201;
  // The simulated world begins in 2026.
  std::string token = R"({"token":{"expires_at":"2100-01-01T00:00:00.000000Z","catalog":[
      {"type":"instance-ha","endpoints":[{"interface":"public","region":"r","url":"http://catalog/v1/"}]}]}})";
  std::deque<Result<runtime::HttpResponse>> answers;
  std::vector<runtime::HttpCall> calls;
};

}  // namespace wardmote::act::notify
