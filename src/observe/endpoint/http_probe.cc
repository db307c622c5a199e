#include "observe/endpoint/http_probe.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/format.h"
#include "base/result.h"
#include "base/text.h"
#include "base/time.h"
#include "codec/http_answer.h"
#include "codec/url.h"
#include "judge/endpoint/http.h"
#include "judge/judgement.h"
#include "judge/observation.h"
#include "judge/outcome.h"
#include "observe/endpoint/http_params.h"
#include "observe/kinds.h"
#include "observe/probe.h"
#include "observe/reason.h"
#include "runtime/deadline.h"
#include "runtime/endpoint.h"
#include "runtime/runtime.h"
#include "runtime/stream.h"
#include "runtime/task.h"

namespace wardmote::observe {

using runtime::Deadline;
using runtime::Stream;
using runtime::Task;

namespace {

using namespace std::chrono_literals;

/// The first buffer is small: answers of health checks are short, and the allocator has a free
/// block of this size while a probe waits. Longer answers come in larger pieces.
constexpr std::size_t kFirstChunk = 512;
constexpr std::size_t kChunk = 8 << 10;
/// How long to wait for a body that does not decide the verdict: it may say what is wrong.
constexpr Duration kPatience = 100ms;
/// The part of a body that is shown.
constexpr std::size_t kShownBody = 2048;

bool is_redirect(int status) noexcept {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

}  // namespace

/// The state of one probe.
struct HttpProbe::Look {
  codec::Url url;
  Deadline deadline;
  judge::Observation* observation = nullptr;
  judge::HttpFacts facts;
  codec::HttpAnswerReader reader;
};

Task<Result<std::unique_ptr<Stream>>> HttpProbe::dial(codec::Url url, Deadline deadline) {
  const runtime::Endpoint to = runtime::Endpoint::tcp(url.host, url.port);
  auto stream = co_await runtime_.connect(to, deadline);
  if (!stream) co_return std::unexpected(connect_failure(to, stream.error()));
  co_return stream;
}

Task<judge::Observation> HttpProbe::look(Deadline deadline) {
  judge::Observation observation;
  observation.subject = subject_;
  observation.begun = runtime_.now();
  Look look{target_.url, deadline, &observation, {}, codec::HttpAnswerReader(target_.head)};
  const Result<void> followed = co_await follow(&look);
  observation.ended = runtime_.now();
  ++looks_;
  if (!followed) {
    observation.reason = reason_of(followed.error());
    observation.outcome = outcome_of(observation.reason.code);
    co_return observation;
  }
  judge::HttpFacts& facts = look.facts;
  facts.body.resize(std::min(facts.body.size(), kShownBody));
  judge::Judgement judgement = judge_http(facts, target_.policy);
  observation.outcome = judgement.outcome;
  observation.reason = std::move(judgement.reason);
  observation.facts = std::move(facts);
  co_return observation;
}

Task<Result<void>> HttpProbe::follow(Look* look) {
  for (bool again = true; again;) {
    Result<void> exchanged = co_await exchange(look);
    if (!exchanged) co_return exchanged;
    again = redirect(*look);
    if (again && ++look->facts.redirects > target_.redirects) {
      look->facts.refused_redirect =
          fmt::format("{} (stopped after {} redirects)", to_string(look->url), target_.redirects);
      again = false;
    }
  }
  co_return Result<void>();
}

/// Whether to continue at look.url; otherwise the present answer is final.
bool HttpProbe::redirect(Look& look) const {
  const std::string_view location = look.reader.answer().header("location");
  if (!is_redirect(look.facts.status) || location.empty() || target_.redirects == 0) return false;
  Result<codec::Url> next = codec::resolve(look.url, location);
  if (!next || next->host != look.url.host || next->scheme != look.url.scheme) {
    look.facts.refused_redirect = escape_control(location, 128);
    return false;
  }
  look.url = *std::move(next);
  return true;
}

/// Sends a request to look.url, on the kept connection if there is a usable one.
Task<Result<void>> HttpProbe::exchange(Look* look) {
  std::unique_ptr<Stream> stream = std::move(kept_);
  const bool due = target_.fresh_every > 0 && looks_ % target_.fresh_every == 0;
  const bool kept = stream != nullptr && !due && look->url == target_.url;
  if (kept) {
    Result<void> asked = co_await ask(look, stream.get());
    look->facts.kept = asked.has_value();
    const bool stale = !asked && asked.error().code == Errc::kClosed && !look->reader.has_head();
    if (!stale) {
      if (asked && look->reader.reusable()) kept_ = std::move(stream);
      co_return asked;
    }
  }
  const TimePoint begun = runtime_.now();
  codec::Url url = look->url;
  auto dialled = co_await dial(std::move(url), look->deadline);
  if (!dialled) co_return with_context(dialled, "{}", to_string(look->url));
  stream = *std::move(dialled);
  look->facts.connect_time = runtime_.now() - begun;
  look->observation->cost.fresh_connection = true;
  Result<void> asked = co_await ask(look, stream.get());
  if (!asked) co_return asked;
  if (target_.keep_open && look->reader.reusable() && look->url == target_.url)
    kept_ = std::move(stream);
  co_return asked;
}

template <std::size_t Most>
Task<Result<void>> HttpProbe::receive(Look* look, Stream* stream, Deadline deadline) {
  std::array<char, Most> chunk;
  const auto got = co_await stream->read_some(chunk, deadline);
  if (!got && got.error().code == Errc::kClosed) co_return look->reader.closed();
  if (!got) {
    const std::size_t size = look->reader.received();
    if (look->reader.has_head() || size == 0) co_return std::unexpected(got.error());
    co_return with_context(got, "{} bytes of a header", size);
  }
  look->observation->cost.bytes_in += *got;
  co_return look->reader.take({chunk.data(), *got});
}

Task<Result<void>> HttpProbe::ask(Look* look, Stream* stream) {
  look->reader = codec::HttpAnswerReader(target_.head);
  const std::string request =
      codec::format_http_request(target_.head ? "HEAD" : "GET", look->url.target,
                                 host_header(look->url), target_.keep_open, target_.headers);
  const Result<void> sent = co_await stream->write(request, look->deadline);
  // A server may answer and close before it has read the whole request; its answer says more than
  // our write error.
  if (!sent && sent.error().code != Errc::kClosed)
    co_return with_context(sent, "{}", to_string(look->url));
  look->observation->cost.bytes_out += request.size();
  Result<void> received = co_await receive<kFirstChunk>(look, stream, look->deadline);
  while (received && !look->reader.has_head()) {
    received = co_await receive<kChunk>(look, stream, look->deadline);
  }
  if (!received) co_return with_context(received, "{}", to_string(look->url));
  judge::HttpFacts& facts = look->facts;
  facts.status = look->reader.answer().status;
  facts.url = to_string(look->url);
  facts.first_byte = runtime_.now() - look->observation->begun;
  const Result<void> read = co_await read_body(look, stream);
  co_return read;
}

/// The body decides only if a text is expected in it; otherwise an error in the body does not
/// matter.
Task<Result<void>> HttpProbe::read_body(Look* look, Stream* stream) {
  judge::HttpFacts& facts = look->facts;
  const judge::HttpPolicy& policy = target_.policy;
  const bool good = judge_http(facts, policy).outcome == judge::Outcome::kOk;
  const bool wanted = !policy.body.empty();
  if (!wanted && good && !target_.keep_open) co_return Result<void>();
  const TimePoint brief = std::min(look->deadline.at, runtime_.now() + kPatience);
  const Deadline until{wanted ? look->deadline.at : brief};
  Result<void> received;
  while (received && !look->reader.complete())
    received = co_await receive<kChunk>(look, stream, until);
  facts.body = look->reader.answer().body;
  if (!wanted) co_return Result<void>();
  // A truncated answer proves nothing, whatever it contains.
  if (!received) co_return with_context(received, "{}", facts.url);
  facts.body_matches = facts.body.contains(policy.body);
  co_return Result<void>();
}

Result<std::unique_ptr<Probe>> make_http_probe(runtime::Runtime& runtime, std::string subject,
                                               const Params& params) {
  Result<HttpTarget> target = read_http_target(params);
  if (!target) return std::unexpected(target.error());
  if (target->url.scheme != "http")
    return fail(Errc::kInvalid, "url: {} needs TLS, take the kind https", to_string(target->url));
  return std::make_unique<HttpProbe>(runtime, std::move(subject), *std::move(target));
}

}  // namespace wardmote::observe
