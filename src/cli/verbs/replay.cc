#include <boost/json/value.hpp>
#include <string>
#include <utility>

#include "base/result.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/evidence_file.h"
#include "cli/exit_code.h"
#include "cli/format.h"
#include "cli/judging.h"
#include "cli/output.h"
#include "cli/render/cluster.h"
#include "cli/verbs/verbs.h"
#include "judge/raft/assess.h"
#include "net/asio_runtime.h"
#include "store/evidence.h"

namespace wardmote::cli {

Exit run_replay(const Call& call) {
  const std::string path = call.value("FILE");
  net::AsioRuntime world;
  const Result<std::string> text = world.files().read(path, store::kEvidenceFileBytes);
  if (!text) return complain(call, Exit::kUsage, escape_control(text.error().describe()));
  Result<Evidence> evidence = read_evidence(*text);
  if (!evidence) {
    const std::string problem = evidence.error().describe();
    return complain(call, Exit::kBadConfig, escape_control(path + ": " + problem));
  }
  Judging judging(evidence->head);
  for (store::EvidenceLook& look : evidence->looks) judging.take(std::move(look));
  judging.finish();
  const boost::json::value shown = judging.result();
  const Format format = format_of(call);
  print(for_programs(format) ? written(format, shown) : draw_cluster(shown, style_for(call)));
  return exit_of_verdict(to_string(judging.verdict()));
}

}  // namespace wardmote::cli
