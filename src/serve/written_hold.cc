#include "serve/written_hold.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "control/written.h"
#include "runtime/http.h"
#include "runtime/task.h"
#include "serve/answer.h"

namespace wardmote::serve {

using control::Written;

namespace {

std::string_view words_for(Written::Fate fate) noexcept {
  switch (fate) {
    case Written::Fate::kLost: return "the order is lost: ";
    case Written::Fate::kUnsure: return "nobody knows whether the order holds: ";
    case Written::Fate::kRefused:
    case Written::Fate::kHolds: break;
  }
  return "the order holds, but it is not written down yet, and until then it is lost when the "
         "agent ends or stops leading: ";
}

class WrittenHold final : public runtime::HttpHold {
 public:
  explicit WrittenHold(std::shared_ptr<control::Written> written) : written_(std::move(written)) {}

  runtime::Task<std::optional<runtime::HttpResponse>> wait() override {
    const std::optional<std::string> complaint = co_await written_->wait();
    if (!complaint) co_return std::nullopt;
    if (written_->fate() == Written::Fate::kRefused) co_return error_answer(409, *complaint);
    co_return error_answer(503, std::string(words_for(written_->fate())) + *complaint);
  }

 private:
  std::shared_ptr<control::Written> written_;
};

}  // namespace

std::shared_ptr<runtime::HttpHold> hold_until(std::shared_ptr<control::Written> written) {
  if (written == nullptr) return nullptr;
  return std::make_shared<WrittenHold>(std::move(written));
}

}  // namespace wardmote::serve
