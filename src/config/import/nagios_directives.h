#pragma once

#include <span>

#include "config/import/draft.h"
#include "config/import/nagios_templates.h"

namespace wardmote::config {

/// Says of each directive that has no counterpart what stands in its place, at the first object
/// that has it, and how many objects are of a type that is not translated.
void say_directives(ImportDraft& draft, std::span<const NagiosThing> things);

}  // namespace wardmote::config
