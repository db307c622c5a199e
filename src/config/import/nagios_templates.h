#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "codec/nagios_objects.h"
#include "config/import/draft.h"

namespace wardmote::config {

/// An object with what its templates say.
struct NagiosThing {
  std::string type;
  ForeignPlace at;
  std::map<std::string, std::string, std::less<>> values;
  bool registered = true;  ///< false: a template

  /// Empty when it is absent.
  [[nodiscard]] std::string_view get(std::string_view name) const noexcept;
};

/// All objects of the files, as Nagios resolves them (xdata/xodtemplate.c): the first of several
/// templates wins, `null` ends the inheritance, and `+` adds to what is inherited. A template that
/// does not exist is said. kInvalid: templates in a circle. kLimit: too deep, or too much text.
Result<std::vector<NagiosThing>> resolve_nagios(ImportDraft& draft,
                                                std::span<const codec::NagiosFile> files);

}  // namespace wardmote::config
