#pragma once

#include "cli/command.h"
#include "cli/exit_code.h"

namespace wardmote::cli {

Exit run_status(const Call& call);
Exit run_get_family(const Call& call);
Exit run_get_members(const Call& call);
Exit run_get_findings(const Call& call);
Exit run_get_checks(const Call& call);
Exit run_get_guests(const Call& call);
Exit run_history(const Call& call);
Exit run_samples(const Call& call);
Exit run_get_incidents(const Call& call);
Exit run_ack(const Call& call);
Exit run_get_receivers(const Call& call);
Exit run_silence_list(const Call& call);
Exit run_silence_add(const Call& call);
Exit run_silence_expire(const Call& call);
Exit run_notify_test(const Call& call);
Exit run_route_test(const Call& call);
Exit run_get_agents(const Call& call);
Exit run_elect_status(const Call& call);
Exit run_get_plans(const Call& call);
Exit run_get_actions(const Call& call);
Exit run_plan(const Call& call);
Exit run_approve(const Call& call);
Exit run_reject(const Call& call);
Exit run_pause(const Call& call);
Exit run_resume(const Call& call);
Exit run_explain(const Call& call);
Exit run_probe(const Call& call);
Exit run_assess_ovn(const Call& call);
Exit run_assess_bgp(const Call& call);
Exit run_replay(const Call& call);
Exit run_wait_ready(const Call& call);
Exit run_reconcile(const Call& call);
Exit run_livez(const Call& call);
Exit run_readyz(const Call& call);
Exit run_top(const Call& call);
Exit run_reload(const Call& call);
Exit run_doctor(const Call& call);
Exit run_init(const Call& call);
Exit run_look(const Call& call);
Exit run_config(const Call& call);
Exit run_man(const Call& call);
Exit run_calico_health(const Call& call);
Exit run_ocf(const Call& call);
Exit run_completion(const Call& call);
Exit run_version(const Call& call);

}  // namespace wardmote::cli
