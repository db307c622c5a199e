#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "base/time.h"
#include "judge/bgp/mesh.h"
#include "serve/view.h"

namespace wardmote::serve {

/// Who says what of whom, row by row: `self`, `up`, `down`, `disabled`, `absent`, `blind`.
boost::json::array matrix_json(const judge::bgp::Mesh& mesh);

/// {"mesh", "at", "outcome", "nodes": [{"name", "version", "router_id", "reason", "detail"}],
///  "matrix", "findings": [as json.h], "observed": [as json.h]}
boost::json::object to_json(const MeshView& mesh, TimePoint now, WallTime wall_now);

}  // namespace wardmote::serve
