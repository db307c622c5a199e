#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "codec/url.h"
#include "judge/observation.h"
#include "observe/endpoint/http_params.h"
#include "observe/kinds.h"
#include "observe/probe.h"
#include "runtime/runtime.h"

namespace wardmote::observe {

/// Sends one HTTP/1.1 request and judges the answer. Never uses a proxy. If a kept connection turns
/// out to be closed, the same probe opens a new one.
class HttpProbe : public Probe {
 public:
  HttpProbe(runtime::Runtime& runtime, std::string subject, HttpTarget target)
      : runtime_(runtime), subject_(std::move(subject)), target_(std::move(target)) {}

  runtime::Task<judge::Observation> look(runtime::Deadline deadline) override;

 protected:
  /// A connected stream to the host of `url`.
  virtual runtime::Task<Result<std::unique_ptr<runtime::Stream>>> dial(codec::Url url,
                                                                       runtime::Deadline deadline);
  runtime::Runtime& runtime_;

 private:
  struct Look;

  runtime::Task<Result<void>> follow(Look* look);
  runtime::Task<Result<void>> exchange(Look* look);
  runtime::Task<Result<void>> ask(Look* look, runtime::Stream* stream);
  runtime::Task<Result<void>> read_body(Look* look, runtime::Stream* stream);
  template <std::size_t Most>
  static runtime::Task<Result<void>> receive(Look* look, runtime::Stream* stream,
                                             runtime::Deadline deadline);
  [[nodiscard]] bool redirect(Look& look) const;

  std::string subject_;
  HttpTarget target_;
  std::unique_ptr<runtime::Stream> kept_;
  std::uint64_t looks_ = 0;
};

Result<std::unique_ptr<Probe>> make_http_probe(runtime::Runtime& runtime, std::string subject,
                                               const Params& params);

}  // namespace wardmote::observe
