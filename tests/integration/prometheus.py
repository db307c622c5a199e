"""The unit tests of the alert rules, as promtool reads them."""

from dataclasses import dataclass

CLUSTER = 'db="OVN_Northbound",cid="b563",cluster="ovn-nb"'
LABELS = {"db": "OVN_Northbound", "cid": "b563", "cluster": "ovn-nb"}
CHECK = 'check="web",kind="http"'
SESSION = 'check="bird",session="Mesh_10_0_0_2",neighbor="10.0.0.2"'
# What an agent tells of a good cluster, for an hour. Time is 0 at the start, as promtool has it.
HEALTHY = {
    f"ovn_ops_snapshot_timestamp_seconds{{{CLUSTER}}}": "0+60x60",
    f"ovn_cluster_quorum{{{CLUSTER}}}": "1x60",
    f"ovn_cluster_all_agree{{{CLUSTER}}}": "1x60",
    f'ovn_member_connected{{{CLUSTER},sid="dea6",ip="10.0.0.1",member="ctl-1"}}': "1x60",
    f'ovn_member_last_msg_ms{{{CLUSTER},sid="499b"}}': "5200x60",  # an election timer of 16 s
    f'ovn_raft_election_timer_ms{{{CLUSTER},sid="dea6",member="ctl-1"}}': "16000x60",
    f'ovn_member_index_gap{{{CLUSTER},sid="499b"}}': "900x60",
    'wardmote_cluster_verdict{cluster="ovn-nb"}': "0x60",
    "wardmote_degraded": "0x60",
    "wardmote_config_last_reload_successful": "1x60",
    'wardmote_receiver_up{receiver="oncall",kind="webhook"}': "1x60",
    'wardmote_notices_total{receiver="oncall",kind="webhook",result="undelivered"}': "0x60",
    'wardmote_notices_total{receiver="oncall",kind="webhook",result="refused"}': "0+1x60",
    # One failed long ago, one is under way, and somebody sees what another would do.
    **{f'wardmote_plans{{state="{state}"}}': f"{count}x60"
       for state, count in {"observed": 1, "proposed": 0, "running": 1, "unclear": 0, "done": 2, "failed": 1}.items()},
    "wardmote_acts_frozen": "0x60",
    # One node leads; another led before, and its last passes failed.
    'wardmote_version_gate_leads{gate="core"}': "1x60",
    'wardmote_version_gate_leads{gate="core",instance="b"}': "0x60",
    'wardmote_reconcile_passes_total{gate="core",result="good"}': "0+5x60",
    'wardmote_reconcile_passes_total{gate="core",result="failed"}': "0+1x30 30x30",
    'wardmote_reconcile_conflicts_total{gate="core"}': "2x60",
    "wardmote_up": "1x60",
    f'wardmote_check_status{{{CHECK}}}': "0x60",
    'wardmote_check_status{check="ovn-nb",kind="cluster"}': "2x60",  # its findings tell
    f'wardmote_check_looks_total{{{CHECK}}}': "0+12x60",
    f'wardmote_check_missed_total{{{CHECK}}}': "5x60",
    'wardmote_tls_certificate_expiry_timestamp_seconds{check="api"}': "5184000x60",  # in 60 days
    'wardmote_gate_ready{gate="ready"}': "1x60",
    'wardmote_mesh_finding{mesh="fabric",code="BGP_DISABLED",severity="info"}': "1x60",
    f'wardmote_bgp_session_up{{{SESSION}}}': "1x60",
    f'wardmote_bgp_session_state{{{SESSION},state="Established"}}': "1x60",
    f'wardmote_bgp_session_flaps_total{{{SESSION}}}': "7x60",
    'wardmote_bgp_session_up{check="bird",session="off",neighbor="10.0.0.9"}': "0x60",
    'wardmote_bgp_session_state{check="bird",session="off",neighbor="10.0.0.9",state="Down"}': "1x60",
    'wardmote_guest_finding{guest="web",uuid="u",code="AGENT_NEVER_ANSWERED",severity="info"}': "1x60",
    'wardmote_incidents_open{severity="critical",acknowledged="true"}': "1x60",
    'wardmote_incidents_open{severity="critical",acknowledged="false"}': "0x60",
    # Information is no alert.
    f'ovn_finding{{{CLUSTER},code="RAFT_LEADER_FLAP",severity="info"}}': "1x60",
}


ONCALL = 'receiver="oncall",kind="webhook"'


@dataclass(frozen=True)
class Case:
    """On top of a good cluster `series` holds; then exactly `alerts` fire at `at`."""

    name: str
    series: dict[str, str]
    alerts: dict[str, dict[str, str]]
    at: str = "30m"


def finding(code: str, severity: str, values: str = "1x60") -> dict[str, str]:
    return {f'ovn_finding{{{CLUSTER},code="{code}",severity="{severity}"}}': values}


def told(alert: str, code: str, severity: str, **more: str) -> dict[str, dict[str, str]]:
    return {alert: {**LABELS, "code": code, "severity": severity, **more}}


def _by_code(alert: str, alert_severity: str, *codes: str, severity: str) -> list[Case]:
    return [Case(code, finding(code, severity), told(alert, code, alert_severity)) for code in codes]


CASES = [
    Case("healthy", {}, {}),
    *_by_code("OVNNoQuorum", "critical", "RAFT_NO_QUORUM", severity="critical"),
    *_by_code("OVNNoLeader", "critical", "RAFT_NO_LEADER", severity="critical"),
    *_by_code("OVNMultipleLeaders", "critical", "RAFT_TWO_LEADERS_SAME_TERM", "RAFT_STALE_LEADER", severity="critical"),
    *_by_code("OVNClusterIDMismatch", "critical", "RAFT_CLUSTER_ID_MISMATCH", severity="critical"),
    *_by_code("OVNMemberFailed", "critical", "RAFT_FAILED_LEADER", "RAFT_MEMBER_DOWN", "RAFT_MEMBER_HUNG", "RAFT_MODE_MISMATCH", "RAFT_NO_DATABASE",
              severity="critical"),
    *_by_code("OVNJoiningStuck", "critical", "RAFT_JOINING_STUCK", severity="critical"),
    *_by_code("OVNZombieMember", "critical", "RAFT_ZOMBIE_MEMBER", "RAFT_MEMBER_REMOVED", "RAFT_SERVER_ID_CLONED",
              severity="critical"),
    *_by_code("OVNCommitStalled", "critical", "RAFT_COMMIT_STALL", severity="critical"),
    *_by_code("OVNElectionStorm", "warning", "RAFT_ELECTION_STORM", "RAFT_LEADER_FLAP", severity="warning"),
    *_by_code("OVNLinkAsymmetric", "warning", "RAFT_LINK_ASYMMETRIC", "RAFT_ONE_WAY_SILENCE", severity="warning"),
    *_by_code("OVNMemberLagging", "warning", "RAFT_LOG_LAG", severity="warning"),
    *_by_code("OVNQuorumMargin", "warning", "RAFT_QUORUM_MARGIN", severity="warning"),
    *_by_code("OVNOtherFinding", "warning", "RAFT_CLUSTER_SIZE", "RAFT_ADDRESS_MISMATCH", "OVN_NB_SB_DIVERGENCE",
              severity="warning"),
    *_by_code("OVNMonitorBlind", "warning", "MONITOR_BLIND", severity="warning"),
    Case("a leader that is stale for a while is legal", finding("RAFT_STALE_LEADER", "warning"), {}),
    Case("a margin of zero for a moment", finding("RAFT_QUORUM_MARGIN", "warning", "0x27 1x3 0x30"), {}),
    Case("a ghost that costs the margin", {**finding("RAFT_STALE_MEMBER", "critical"), **finding("RAFT_QUORUM_MARGIN", "warning")},
         {**told("OVNStaleMemberCostsQuorum", "RAFT_STALE_MEMBER", "critical"),
          **told("OVNQuorumMargin", "RAFT_QUORUM_MARGIN", "warning"),
          **told("OVNOtherFinding", "RAFT_STALE_MEMBER", "warning")}),
    Case("a member that does not answer", {f'ovn_member_connected{{{CLUSTER},sid="499b",ip="10.0.0.2",member="ctl-2"}}': "0x60"},
         {"OVNMemberNotConnected": {**LABELS, "sid": "499b", "ip": "10.0.0.2", "member": "ctl-2", "severity": "warning"}}),
    Case("a follower that is silent for two rounds of its own timer",
         {f'ovn_member_last_msg_ms{{{CLUSTER},sid="1430"}}': "34001x60"},
         {"OVNFollowerStale": {**LABELS, "sid": "1430", "severity": "warning"}}),
    Case("a listed server that nobody answers for", {f'ovn_member_missing_reporter{{{CLUSTER},sid="1430"}}': "1x60"},
         {"OVNMemberMissingSelfReporter": {**LABELS, "sid": "1430", "severity": "warning"}}),
    Case("lists that differ with a quorum", {f"ovn_cluster_all_agree{{{CLUSTER}}}": "0x60"},
         {"OVNConsensusSplitView": {**LABELS, "severity": "warning"}}),
    Case("lists that differ without one", {f"ovn_cluster_all_agree{{{CLUSTER}}}": "0x60", f"ovn_cluster_quorum{{{CLUSTER}}}": "0x60"},
         {}),
    Case("a dead server in excess", {f'ovn_consensus_suspect_stale{{{CLUSTER},sid="1430"}}': "1x60"},
         {"OVNSuspectStale": {**LABELS, "severity": "warning"}}),
    Case("an agent that judges no more", {f"ovn_ops_snapshot_timestamp_seconds{{{CLUSTER}}}": "0+60x10 600x50"},
         {"OVNMonitorStale": {**LABELS, "severity": "critical"}}),
    Case("no agent at all", {f"ovn_ops_snapshot_timestamp_seconds{{{CLUSTER}}}": "0+60x5 stale"},
         {"OVNMonitorStale": {"severity": "critical"}}),
    Case("a verdict of unknown", {'wardmote_cluster_verdict{cluster="ovn-nb"}': "3x60"},
         {"OVNVerdictUnknown": {"cluster": "ovn-nb", "severity": "critical"}}),
    Case("a starved agent", {"wardmote_degraded": "1x60"}, {"WardmoteDegraded": {"severity": "warning"}}),
    Case("a refused configuration", {"wardmote_config_last_reload_successful": "0x60"},
         {"WardmoteConfigRefused": {"severity": "warning"}}),
    Case("a receiver that is away", {f"wardmote_receiver_up{{{ONCALL}}}": "0x60"},
         {"WardmoteReceiverDown": {"receiver": "oncall", "kind": "webhook", "severity": "warning"}}),
    Case("one that was away for a moment", {f"wardmote_receiver_up{{{ONCALL}}}": "1x20 0x5 1x35"}, {}),
    Case("a notice that was given up", {f'wardmote_notices_total{{{ONCALL},result="undelivered"}}': "0x20 1x40"},
         {"WardmoteNoticeGivenUp": {"receiver": "oncall", "kind": "webhook", "result": "undelivered", "severity": "warning"}}),
    Case("a plan that waits", {'wardmote_plans{state="proposed"}': "1x60"}, {"WardmotePlanWaits": {"state": "proposed", "severity": "warning"}}),
    Case("a plan that was approved in time", {'wardmote_plans{state="proposed"}': "0x22 1x6 0x32"}, {}),
    Case("a plan of which nobody knows", {'wardmote_plans{state="unclear"}': "0x29 1x31"},
         {"WardmotePlanUnclear": {"state": "unclear", "severity": "critical"}}),
    Case("a plan that failed", {'wardmote_plans{state="failed"}': "1x20 2x40"}, {"WardmotePlanFailed": {"state": "failed", "severity": "warning"}}),
    Case("a version gate in which nobody leads", {'wardmote_version_gate_leads{gate="core"}': "0x60"},
         {"WardmoteVersionGateLeaderless": {"gate": "core", "severity": "critical"}}),
    Case("one that found its next leader", {'wardmote_version_gate_leads{gate="core"}': "1x25 0x3 1x32"}, {}),
    Case("a reconcile that only fails", {'wardmote_reconcile_passes_total{gate="core",result="good"}': "9x60",
                                         'wardmote_reconcile_passes_total{gate="core",result="failed"}': "0+2x60"},
         {"WardmoteReconcileFails": {"gate": "core", "severity": "critical"}}),
    Case("objects that somebody else writes, too", {'wardmote_reconcile_conflicts_total{gate="core"}': "0+1x60"},
         {"WardmoteReconcileConflicts": {"gate": "core", "severity": "warning"}}),
    Case("an agent that is gone", {"wardmote_up": "1x10 stale"}, {"WardmoteAgentGone": {"severity": "critical"}}),
    Case("an agent that was restarted", {"wardmote_up": "1x27 stale stale 1x30"}, {}),
    Case("probes that take too long", {f"wardmote_check_missed_total{{{CHECK}}}": "0+1x60"}, {"WardmoteProbesMissed": {"severity": "warning"}}),
    Case("a check that fails", {f"wardmote_check_status{{{CHECK}}}": "0x29 2x31"},
         {"WardmoteCheckFailed": {"check": "web", "kind": "http", "severity": "critical"}}),
    Case("a check that is degraded", {f"wardmote_check_status{{{CHECK}}}": "1x60"},
         {"WardmoteCheckDegraded": {"check": "web", "kind": "http", "severity": "warning"}}),
    Case("one that was degraded for a moment", {f"wardmote_check_status{{{CHECK}}}": "0x20 1x10 0x30"}, {}),
    Case("a check that nobody can look at", {f"wardmote_check_status{{{CHECK}}}": "3x60"},
         {"WardmoteCheckBlind": {"check": "web", "kind": "http", "severity": "warning"}}),
    Case("a certificate with ten days", {'wardmote_tls_certificate_expiry_timestamp_seconds{check="api"}': "864000x60"},
         {"WardmoteCertificateExpiresSoon": {"check": "api", "severity": "warning"}}),
    Case("a certificate with a day", {'wardmote_tls_certificate_expiry_timestamp_seconds{check="api"}': "86400x60"},
         {"WardmoteCertificateExpires": {"check": "api", "severity": "critical"}}),
    Case("an expired certificate", {'wardmote_tls_certificate_expiry_timestamp_seconds{check="api"}': "60x60"},
         {"WardmoteCertificateExpires": {"check": "api", "severity": "critical"}}),
    Case("a closed gate", {'wardmote_gate_ready{gate="ready"}': "0x60"}, {"WardmoteGateClosed": {"gate": "ready", "severity": "warning"}}),
    Case("a gate that was closed for a moment", {'wardmote_gate_ready{gate="ready"}': "1x27 0x1 1x32"}, {}),
    Case("a mesh in two parts", {'wardmote_mesh_finding{mesh="fabric",code="BGP_DAEMON_DOWN",severity="critical"}': "1x60"},
         {"WardmoteMeshCritical": {"mesh": "fabric", "code": "BGP_DAEMON_DOWN", "severity": "critical"}}),
    Case("a mesh with a fault", {'wardmote_mesh_finding{mesh="fabric",code="BGP_ASYMMETRIC",severity="warning"}': "1x60"},
         {"WardmoteMeshWarning": {"mesh": "fabric", "code": "BGP_ASYMMETRIC", "severity": "warning"}}),
    Case("a session that is down", {f"wardmote_bgp_session_up{{{SESSION}}}": "0x60",
                                    f'wardmote_bgp_session_state{{{SESSION},state="Established"}}': "_x60",
                                    f'wardmote_bgp_session_state{{{SESSION},state="Active"}}': "1x60"},
         {"WardmoteBGPSessionDown": {"check": "bird", "session": "Mesh_10_0_0_2", "neighbor": "10.0.0.2", "severity": "warning"}}),
    Case("a session that flaps", {f"wardmote_bgp_session_flaps_total{{{SESSION}}}": "7x10 8x4 9x4 11x4 13x38"},
         {"WardmoteBGPSessionFlaps": {"check": "bird", "session": "Mesh_10_0_0_2", "neighbor": "10.0.0.2", "severity": "warning"}}),
    Case("an etcd cluster without a majority, told by its finding and not by its check", {
        'wardmote_etcd_finding{cluster="store",code="RAFT_NO_QUORUM",severity="critical"}': "1x60",
        'wardmote_check_status{check="store",kind="etcd_cluster"}': "2x60"},
         {"WardmoteEtcdCritical": {"cluster": "store", "code": "RAFT_NO_QUORUM", "severity": "critical"}}),
    Case("an etcd cluster that is nearly full", {'wardmote_etcd_finding{cluster="store",code="ETCD_QUOTA",severity="warning"}': "1x60"},
         {"WardmoteEtcdWarning": {"cluster": "store", "code": "ETCD_QUOTA", "severity": "warning"}}),
    Case("a pair without an active node, told once", {
        'wardmote_failover_finding{instance="a",pair="ovn",code="FAILOVER_NO_ACTIVE",severity="critical"}': "1x60",
        'wardmote_failover_finding{instance="b",pair="ovn",code="FAILOVER_NO_ACTIVE",severity="critical"}': "1x60",
        'wardmote_check_status{check="ovn",kind="failover_pair"}': "2x60"},
         {"WardmoteFailoverCritical": {"pair": "ovn", "code": "FAILOVER_NO_ACTIVE", "severity": "critical"}}),
    Case("a pair without a standby", {'wardmote_failover_finding{pair="ovn",code="FAILOVER_NO_STANDBY",severity="warning"}': "1x60"},
         {"WardmoteFailoverWarning": {"pair": "ovn", "code": "FAILOVER_NO_STANDBY", "severity": "warning"}}),
    Case("a dead guest", {'wardmote_guest_finding{guest="web",uuid="u",code="GUEST_DIED",severity="critical"}': "1x60"},
         {"WardmoteGuestCritical": {"guest": "web", "uuid": "u", "code": "GUEST_DIED", "severity": "critical"}}),
    Case("a guest without its agent", {'wardmote_guest_finding{guest="web",uuid="u",code="AGENT_DOWN",severity="warning"}': "1x60"},
         {"WardmoteGuestWarning": {"guest": "web", "uuid": "u", "code": "AGENT_DOWN", "severity": "warning"}}),
    Case("an incident that nobody looks after", {'wardmote_incidents_open{severity="critical",acknowledged="false"}': "0x10 1x50"},
         {"WardmoteIncidentUnattended": {"severity": "critical"}}, at="45m"),
    Case("a storm", {"wardmote_acts_frozen": "0x29 1x31"}, {"WardmoteActsFrozen": {"severity": "critical"}}),
]


def document(rules: str, alerts: list[str], case: Case) -> dict:
    """The test file of one case: every alert is asked for, so that what should not fire is noticed too."""
    series = {**HEALTHY, **case.series}
    return {
        "rule_files": [rules],
        "evaluation_interval": "1m",
        "tests": [{
            "name": case.name,
            "interval": "1m",
            "input_series": [{"series": name, "values": values} for name, values in series.items()],
            "alert_rule_test": [
                {"eval_time": case.at, "alertname": alert,
                 "exp_alerts": [{"exp_labels": case.alerts[alert]}] if alert in case.alerts else []}
                for alert in alerts
            ],
        }],
    }
