#pragma once

#include <string>
#include <vector>

#include "codec/domain_xml.h"
#include "config/guests.h"
#include "judge/guest/machine.h"

namespace wardmote::config {

/// The policy of one guest: that of all, with what its own metadata says (`interval`, `timeout`,
/// `threshold`, `boot_deadline`, `max_alarms`, `watch`, `inside`, `restart`). What cannot be read
/// is left out and complained of.
judge::guest::Policy guest_policy(const codec::DomainXml& xml, const Guests& all,
                                  std::vector<std::string>& complaints);

}  // namespace wardmote::config
