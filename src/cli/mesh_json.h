#pragma once

#include <boost/json/object.hpp>
#include <vector>

#include "judge/bgp/mesh.h"

namespace wardmote::cli {

/// {"verdict": "ok|warn|fail|unknown", "nodes": [{"name", "version", "router_id", "reason":
/// code|null, "detail"}], "matrix": [[cell]], "problems": [{"fault", "severity", "from", "to":
/// name|null, "summary", "suppressed", "evidence": [{"by", "says"}]}]}; a row of the matrix is what
/// one node says, in the order of `nodes`: `up`, `down`, `disabled`, `absent`, `blind`, `self`.
boost::json::object to_json(const judge::bgp::Mesh& mesh,
                            const std::vector<judge::bgp::MeshView>& views);

}  // namespace wardmote::cli
