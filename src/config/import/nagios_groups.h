#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/import/nagios_templates.h"

namespace wardmote::config {

/// Which hosts there are, and which of them a list names.
class NagiosHosts {
 public:
  /// Views into `things`, which outlive it.
  explicit NagiosHosts(std::span<const NagiosThing> things);

  /// In their order.
  [[nodiscard]] const std::vector<const NagiosThing*>& all() const noexcept { return all_; }
  /// Null when there is no such host.
  [[nodiscard]] const NagiosThing* find(std::string_view name) const;
  /// The hosts that `host_name` and `hostgroup_name` of a service name: lists with `*` and `!name`.
  /// kLimit: the lists of all services together are too long.
  Result<std::vector<const NagiosThing*>> of_service(const NagiosThing& service);

 private:
  using Set = std::set<std::string_view>;

  void add_all(Set& into);
  void add_group(std::string_view group, Set& into, Set& seen);
  void add_groups(std::string_view list, Set& into, Set& without);

  std::vector<const NagiosThing*> all_;
  std::map<std::string_view, const NagiosThing*> hosts_;
  std::map<std::string_view, const NagiosThing*> groups_;
  std::map<std::string_view, std::vector<std::string_view>> of_hosts_;  ///< by `hostgroups`
  std::size_t looked_at_ = 0;  ///< names, so that lists of lists cannot take forever
};

/// The contacts that any host or service names, by itself or by a group; in their order.
std::vector<const NagiosThing*> used_contacts(std::span<const NagiosThing> things);

}  // namespace wardmote::config
