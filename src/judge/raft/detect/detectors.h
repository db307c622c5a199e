#pragma once

#include "judge/raft/docket.h"
#include "judge/raft/picture.h"

namespace wardmote::judge::raft {

/// Adds what it sees in the picture. Detectors know nothing of windows or of each other, and of
/// earlier looks only what the picture's history keeps.
using Detector = void (*)(const Picture& picture, Conditions& out);

// leadership.cc
void detect_two_leaders_same_term(const Picture& picture, Conditions& out);
void detect_stale_leader(const Picture& picture, Conditions& out);
void detect_failed_leader(const Picture& picture, Conditions& out);
void detect_no_leader(const Picture& picture, Conditions& out);
void detect_leader_disagreement(const Picture& picture, Conditions& out);
void detect_term_divergence(const Picture& picture, Conditions& out);

// elections.cc
void detect_election_storm(const Picture& picture, Conditions& out);
void detect_leader_flap(const Picture& picture, Conditions& out);
void detect_vote_anomaly(const Picture& picture, Conditions& out);

// log.cc
void detect_log_lag(const Picture& picture, Conditions& out);
void detect_apply_stall(const Picture& picture, Conditions& out);
void detect_log_growth(const Picture& picture, Conditions& out);

// links.cc
void detect_link_asymmetric(const Picture& picture, Conditions& out);
void detect_one_way_silence(const Picture& picture, Conditions& out);
void detect_connection_churn(const Picture& picture, Conditions& out);
void detect_unidentified_peer(const Picture& picture, Conditions& out);

// settings.cc
void detect_address_mismatch(const Picture& picture, Conditions& out);
void detect_election_timer_mismatch(const Picture& picture, Conditions& out);

// watching.cc
void detect_monitor_blind(const Picture& picture, Conditions& out);
void detect_ages_rewound(const Picture& picture, Conditions& out);

// quorum.cc
void detect_no_quorum(const Picture& picture, Conditions& out);
void detect_quorum_margin(const Picture& picture, Conditions& out);
void detect_cluster_size(const Picture& picture, Conditions& out);
void detect_commit_stall(const Picture& picture, Conditions& out);

// identity.cc
void detect_cluster_id_mismatch(const Picture& picture, Conditions& out);
void detect_stale_member(const Picture& picture, Conditions& out);
void detect_dead_member(const Picture& picture, Conditions& out);
void detect_zombie_member(const Picture& picture, Conditions& out);
void detect_server_id_cloned(const Picture& picture, Conditions& out);

// membership.cc
void detect_joining_stuck(const Picture& picture, Conditions& out);
void detect_member_removed(const Picture& picture, Conditions& out);
void detect_member_list_mismatch(const Picture& picture, Conditions& out);
void detect_mode_mismatch(const Picture& picture, Conditions& out);

// expectation.cc
void detect_unexpected_member(const Picture& picture, Conditions& out);
void detect_missing_member(const Picture& picture, Conditions& out);
void detect_stale_hint(const Picture& picture, Conditions& out);

// reachability.cc
void detect_member_down(const Picture& picture, Conditions& out);
void detect_member_hung(const Picture& picture, Conditions& out);

/// Whether a leader lacks a majority that it heard of late; nothing when it prints no ages or did
/// not give its status.
bool lacks_majority(const Picture& picture, const Member& leader);

}  // namespace wardmote::judge::raft
