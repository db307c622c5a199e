#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/exit_code.h"
#include "cli/render/fields.h"
#include "cli/render/style.h"

namespace wardmote::cli {

/// Things that the agent judges as a whole, of one kind (serve::Family), as `/api/v1/status` has
/// them.
struct Family {
  std::string_view list;   ///< their list: `clusters`
  std::string_view thing;  ///< the key of a name, and what one of them is called: `cluster`
  /// The kind of the check that stands for each of them; empty: none does.
  std::string_view check_kind;
  /// All of them, as `wardmote status` shows them; "" when there is none.
  std::string (*draw)(std::span<const boost::json::value> things, Style style);
};

std::span<const Family> families() noexcept;

/// A copy of `item`, which is a part of `thing`, that names the thing first, as the lists of the
/// API do.
boost::json::object named_in(const Family& family, const Fields& thing,
                             const boost::json::value& item);

/// Whether the check stands for a thing that is shown itself.
bool stands_for_a_thing(const Fields& check);

/// The family of a thing that the API shows by itself; null: it is none of these.
const Family* family_of(const boost::json::value& thing);
/// One of them by itself.
std::string draw_thing(const boost::json::value& thing, Style style);
/// The exit code of what the API says of it. A mesh has the outcome of its check, and everything
/// else a verdict.
Exit exit_of_thing(const boost::json::value& thing);
/// `cluster/ovn-nb`
std::string name_of_thing(const boost::json::value& thing);

/// `cluster/ovn-nb`, `mesh/bgp`, `guest/instance-1`, `check/bird`.
std::vector<std::string> names_of_all(const boost::json::value& status);

}  // namespace wardmote::cli
