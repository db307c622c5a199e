#pragma once

#include "judge/condition/condition.h"
#include "judge/raft/cluster_snapshot.h"

namespace wardmote::judge::raft {

/// Each adds the conditions that it sees in the snapshot. Detectors know neither windows nor each
/// other, and of earlier rounds only what the snapshot's history has.
using Detector = void (*)(const ClusterSnapshot& snapshot, Conditions& out);

// leadership.cc
void detect_two_leaders_same_term(const ClusterSnapshot& snapshot, Conditions& out);
void detect_stale_leader(const ClusterSnapshot& snapshot, Conditions& out);
void detect_failed_leader(const ClusterSnapshot& snapshot, Conditions& out);
void detect_no_leader(const ClusterSnapshot& snapshot, Conditions& out);
void detect_leader_disagreement(const ClusterSnapshot& snapshot, Conditions& out);
void detect_term_divergence(const ClusterSnapshot& snapshot, Conditions& out);

// elections.cc
void detect_election_storm(const ClusterSnapshot& snapshot, Conditions& out);
void detect_leader_flap(const ClusterSnapshot& snapshot, Conditions& out);
void detect_vote_anomaly(const ClusterSnapshot& snapshot, Conditions& out);

// log.cc
void detect_log_rolled_back(const ClusterSnapshot& snapshot, Conditions& out);
void detect_log_lag(const ClusterSnapshot& snapshot, Conditions& out);
void detect_apply_stall(const ClusterSnapshot& snapshot, Conditions& out);
void detect_log_growth(const ClusterSnapshot& snapshot, Conditions& out);

// links.cc
void detect_link_asymmetric(const ClusterSnapshot& snapshot, Conditions& out);
void detect_one_way_silence(const ClusterSnapshot& snapshot, Conditions& out);
void detect_connection_churn(const ClusterSnapshot& snapshot, Conditions& out);
void detect_unidentified_peer(const ClusterSnapshot& snapshot, Conditions& out);

// settings.cc
void detect_address_mismatch(const ClusterSnapshot& snapshot, Conditions& out);
void detect_election_timer_mismatch(const ClusterSnapshot& snapshot, Conditions& out);

// watching.cc
void detect_monitor_blind(const ClusterSnapshot& snapshot, Conditions& out);
void detect_ages_rewound(const ClusterSnapshot& snapshot, Conditions& out);

// quorum.cc
void detect_no_quorum(const ClusterSnapshot& snapshot, Conditions& out);
void detect_quorum_margin(const ClusterSnapshot& snapshot, Conditions& out);
void detect_cluster_size(const ClusterSnapshot& snapshot, Conditions& out);
void detect_commit_stall(const ClusterSnapshot& snapshot, Conditions& out);

// identity.cc
void detect_cluster_id_mismatch(const ClusterSnapshot& snapshot, Conditions& out);
void detect_stale_member(const ClusterSnapshot& snapshot, Conditions& out);
void detect_dead_member(const ClusterSnapshot& snapshot, Conditions& out);
void detect_zombie_member(const ClusterSnapshot& snapshot, Conditions& out);
void detect_server_id_cloned(const ClusterSnapshot& snapshot, Conditions& out);

// membership.cc
void detect_joining_stuck(const ClusterSnapshot& snapshot, Conditions& out);
void detect_member_removed(const ClusterSnapshot& snapshot, Conditions& out);
void detect_no_database(const ClusterSnapshot& snapshot, Conditions& out);
void detect_member_list_mismatch(const ClusterSnapshot& snapshot, Conditions& out);
void detect_mode_mismatch(const ClusterSnapshot& snapshot, Conditions& out);

// expectation.cc
void detect_unexpected_member(const ClusterSnapshot& snapshot, Conditions& out);
void detect_missing_member(const ClusterSnapshot& snapshot, Conditions& out);
void detect_stale_hint(const ClusterSnapshot& snapshot, Conditions& out);

// reachability.cc
void detect_member_down(const ClusterSnapshot& snapshot, Conditions& out);
void detect_crash_loop(const ClusterSnapshot& snapshot, Conditions& out);
void detect_member_hung(const ClusterSnapshot& snapshot, Conditions& out);

/// Whether a leader has not heard a majority lately; nothing when it prints no ages or did not give
/// its status.
bool lacks_majority(const ClusterSnapshot& snapshot, const Member& leader);
/// Whether any answering member leads, or hears a leader.
bool anybody_has_leader(const ClusterSnapshot& snapshot) noexcept;

}  // namespace wardmote::judge::raft
