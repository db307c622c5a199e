#pragma once

#include <optional>
#include <string>

#include "judge/raft/cluster_snapshot.h"
#include "judge/raft/own_link.h"

namespace wardmote::judge::raft {

/// What forbids removing the listed server from the cluster, or nothing. Only this function decides
/// that: findings, proposals and acts name a server for removal only if it has no objection. No
/// server may be removed that anybody hears, or while the leader could not commit the removal. Of
/// the others there are two kinds. A ghost is listed at an address where another full member of the
/// newest list answers now: an address belongs to one process. Every other server has to be silent
/// for Expectation::gone_after, at an address that nobody expects or remembers for a member, while
/// each configured member answers as another server, nobody else waits for an answer of it, and
/// each live server reports that it does not hear it.
std::optional<std::string> objection_to_kick(const ClusterSnapshot& snapshot,
                                             const ListedServer& listed);

/// Whether the leader commits what it writes, as far as the rounds since its election show: a kick
/// is a write too.
bool commits(const ClusterSnapshot& snapshot) noexcept;

/// Whether the list itself is changing: a leader adds or removes a server, or a member leaves.
bool is_reconfiguring(const ClusterSnapshot& snapshot) noexcept;

/// Whether the member with the newest list leads nobody who answers, while another is followed: one
/// of them does not say what is.
bool is_contested(const ClusterSnapshot& snapshot) noexcept;

/// Whether the newest list is committed, as far as its member tells: a leader uses a list as soon
/// as it has appended it, and what is not committed may be undone by the next leader.
bool is_list_settled(const ClusterSnapshot& snapshot) noexcept;

/// Why the listed server may be alive, or nothing when it certainly is not: a leader that hears a
/// majority does not hear it, and every live server that may hear it reports that it does not. That
/// we cannot reach it, or that its socket is closed, proves nothing.
std::optional<std::string> doubt_of_death(const ClusterSnapshot& snapshot,
                                          const ListedServer& listed);

/// Why one may live whose address another has: nobody saw that it had ended before, and it has not
/// been silent for as long as one that may come back.
std::optional<std::string> may_still_live(const ClusterSnapshot& snapshot,
                                          const ListedServer& listed);

/// Which configured member it may be although another server has its address: one that is down, and
/// somebody joined with the address of it by mistake. Nothing: all are known to be others.
std::optional<std::string> may_be_displaced(const ClusterSnapshot& snapshot,
                                            const ListedServer& listed);

/// Who else waits for an answer of it, or of a server that it may be; nothing: nobody does.
std::optional<std::string> awaited_elsewhere(const ListedServer& listed);

/// Whether all others that live have a connection to the address that it lists now: as many come in
/// as there are others, and of those that report their own one says that it is up and none that one
/// is broken. Who connects to it may be a stranger all the same, and who it is for is not said
/// (`<-0000`). kUnknown: it does not give its status, or nobody tells.
LinkState reach_of(const ClusterSnapshot& snapshot, const ListedServer& listed) noexcept;

/// Whether it answers with its status as a voter that is well, and says the address that is listed.
bool is_full_member(const ListedServer& listed) noexcept;

/// The listed server at the same address that answers now, with its status, as a full member, and
/// was reached there for longer than a connection lasts behind which nobody answers. A remembered
/// address proves nothing, and a server that the leader hears may be heard elsewhere.
const ListedServer* live_heir(const ClusterSnapshot& snapshot, const ListedServer& listed) noexcept;

/// Whether it can acknowledge a change now: it is the leader, or a voter that the leader hears and
/// that keeps up.
bool acknowledges(const ClusterSnapshot& snapshot, const ListedServer& listed) noexcept;

}  // namespace wardmote::judge::raft
