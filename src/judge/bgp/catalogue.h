#pragma once
// The catalogue rows of BGP meshes; judge/catalogue.cc appends them to all others.

#include <array>
#include <chrono>

#include "judge/finding.h"

namespace wardmote::judge::bgp {

inline constexpr Window kSoon{.fixed = std::chrono::seconds(5)};
inline constexpr Window kSettled{.fixed = std::chrono::seconds(10)};

/// In the order of their codes.
inline constexpr auto kCatalogue = std::to_array<CodeInfo>({
    {Code::kBgpDaemonDown,
     "BGP_DAEMON_DOWN",
     Severity::kCritical,
     kSoon,
     {},
     "A BGP daemon of a mesh does not answer; its sessions have no findings of their own.",
     "the probe of its control socket, and what the others report about their sessions with it",
     "Start it, or find out why it hangs. Its sessions come back by themselves."},
    {Code::kBgpMissingPeer,
     "BGP_MISSING_PEER",
     Severity::kCritical,
     kSettled,
     {},
     "A node of a mesh lacks a session that it should have with another node.",
     "the sessions that each daemon lists",
     "Configure the session, or find out why it was removed. If not every pair of nodes needs a "
     "session, set 'sparse: true'."},
    {Code::kBgpAsymmetric,
     "BGP_ASYMMETRIC",
     Severity::kCritical,
     kSettled,
     {},
     "One end says that a session is established, and the other says that it is not.",
     "what both daemons report about the session, and for how long",
     "Look at the end that says the session is down. Packets may get through in one direction "
     "only."},
    {Code::kBgpWrongAs,
     "BGP_WRONG_AS",
     Severity::kCritical,
     kSettled,
     {},
     "The two ends of a session do not agree on an AS number.",
     "the AS numbers that both ends are configured with, or 'Bad peer AS'",
     "Correct the AS number of the neighbour at the end that expects another number."},
    {Code::kBgpDisabled,
     "BGP_DISABLED",
     Severity::kWarning,
     kSettled,
     {},
     "A session is disabled at one end, on purpose.",
     "what that daemon reports about the session",
     "Enable it when the work for which it was disabled is done."},
    {Code::kBgpRefused,
     "BGP_REFUSED",
     Severity::kCritical,
     kSettled,
     {},
     "The other host is up, but nothing listens on its BGP port.",
     "'Connection refused' as the session's last error",
     "Check whether the daemon there listens on this address and port."},
    {Code::kBgpUnreachable,
     "BGP_UNREACHABLE",
     Severity::kCritical,
     kSettled,
     {},
     "There is no route to the other end of a session.",
     "'No route to host' or 'unreachable' as the session's last error",
     "Check the link, the addresses and the routes between the two hosts."},
    {Code::kBgpPasswordMismatch,
     "BGP_PASSWORD_MISMATCH",
     Severity::kCritical,
     kSettled,
     {},
     "Both daemons run and neither hears the other: most likely their passwords differ.",
     "both ends try to connect and neither has an error",
     "Compare the passwords of both ends. If they are the same, look for a firewall between them."},
    {Code::kBgpNoAnswer,
     "BGP_NO_ANSWER",
     Severity::kCritical,
     kSettled,
     {},
     "One end of a session tries to connect and gets no answer.",
     "its state without an error, and what the other end reports",
     "Look for a firewall, a wrong source address, or a peer that only waits for connections."},
    {Code::kBgpSessionDown,
     "BGP_SESSION_DOWN",
     Severity::kCritical,
     kSettled,
     {},
     "A session between two daemons that both run is down.",
     "the states and last errors of both ends",
     "Read the last errors of both ends."},
});

}  // namespace wardmote::judge::bgp
