#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/result.h"
#include "codec/url.h"
#include "judge/endpoint/tls.h"
#include "judge/observation.h"
#include "observe/endpoint/http_params.h"
#include "observe/endpoint/http_probe.h"
#include "observe/kinds.h"
#include "runtime/runtime.h"
#include "runtime/tls.h"

namespace wardmote::observe {

/// As HttpProbe, over TLS: an untrusted server gets no request, and a certificate that expires soon
/// counts beside the answer.
class HttpsProbe final : public HttpProbe {
 public:
  HttpsProbe(runtime::Runtime& runtime, std::string subject, HttpTarget target,
             runtime::TlsSettings settings, judge::TlsPolicy policy)
      : HttpProbe(runtime, std::move(subject), std::move(target)),
        settings_(std::move(settings)),
        policy_(policy) {}

  runtime::Task<judge::Observation> look(runtime::Deadline deadline) override;

 protected:
  runtime::Task<Result<std::unique_ptr<runtime::Stream>>> dial(codec::Url url,
                                                               runtime::Deadline deadline) override;

 private:
  runtime::TlsSettings settings_;
  judge::TlsPolicy policy_;
  std::optional<judge::TlsFacts> shown_;  ///< of the connection in use
};

/// Parameters of the kind `https`: those of `http`, and of `tls`.
std::span<const ParamSpec> https_params();
Result<std::unique_ptr<Probe>> make_https_probe(runtime::Runtime& runtime, std::string subject,
                                                const Params& params);

}  // namespace wardmote::observe
