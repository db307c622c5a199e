#pragma once
// The keys of `guests`; config/schema.cc has those of all other sections.

#include <array>

#include "config/schema.h"

namespace wardmote::config {

inline constexpr auto kGuestsKeys = std::to_array<KeySpec>({
    KeySpec{"name", Form::kName, false, "Of the check that stands for the hypervisor"}.or_else(
        "guests"),
    KeySpec{"uri", Form::kText, false, "How libvirt calls the hypervisor"}.or_else(
        "qemu:///system"),
    KeySpec{"every", Form::kDuration, false, "From one ping of a guest to the next, 500ms to 1h"}
        .or_else("10s"),
    {"timeout", Form::kDuration, false,
     "How long a ping waits, at most 'every' (2s, or nine tenths of 'every')"},
    KeySpec{"threshold",
            Form::kNumber,
            false,
            "Pings in a row without an answer until a guest is reported",
            {},
            1,
            1000}
        .or_else("3"),
    KeySpec{"boot_deadline", Form::kDuration, false,
            "How long a guest may boot before its silence counts, 1s to 24h"}
        .or_else("5m"),
    KeySpec{"max_alarms",
            Form::kNumber,
            false,
            "Alarms of a guest within 'alarm_window', after which one more says that it keeps "
            "failing; 0: any number",
            {},
            0,
            100}
        .or_else("3"),
    KeySpec{"alarm_window", Form::kDuration, false, "Of 'max_alarms', 1m to 168h"}.or_else("1h"),
    {"inside", Form::kMap, false,
     "What agents are asked besides pings, one question a minute (all; by Masakari's rules "
     "nothing)",
     "inside"},
    {"restart", Form::kMap, false, "How guests are restarted where a policy lets the agent do that",
     "restart"},
    {"maintenance", Form::kMaps, false, "When work on guests is expected, and nobody is told",
     "guest_maintenance"},
    {"masakari", Form::kText, false,
     "A masakari receiver: while Masakari says that this host is in maintenance, its guests are"},
    {"masakari_events", Form::kTexts, false,
     "Events of libvirt that this receiver is told of, as Masakari's instance monitor names them, "
     "STOPPED_FAILED apart; * is any text (all)"},
    {.name = "rules",
     .form = Form::kWord,
     .required = false,
     .help = "By which rules guests are reported: these, or those of Masakari's own monitor",
     .words = "standard|masakari",
     .otherwise = "standard"},
    KeySpec{"pause_resets", Form::kFlag, false,
            "By Masakari's rules: a guest that is paused begins anew"}
        .or_else("false"),
    {"ignore", Form::kTexts, false, "Names or UUIDs of guests that are not watched; * is any text"},
    {"channel_path", Form::kText, false,
     "Look only at the first channel with a source, and only if its path is like this; * is any "
     "text (the agent's channel, wherever it stands)"},
    {"response_timeout", Form::kDuration, false,
     "libvirt's own patience with an agent, at most 60s; whoever uses the guest shares it (5s, and "
     "left alone)"},
    KeySpec{"optional", Form::kFlag, false, "Holds no gate back while libvirt was never seen"}
        .or_else("false"),
});

inline constexpr auto kInsideKeys = std::to_array<KeySpec>({
    KeySpec{"freeze", Form::kFlag, false, "Whether file systems are frozen"}.or_else("true"),
    KeySpec{"frozen_after", Form::kDuration, false,
            "How long they may be frozen, as by a backup, 1m to 24h"}
        .or_else("10m"),
    KeySpec{"clock", Form::kFlag, false, "What time it is in the guest"}.or_else("true"),
    KeySpec{"clock_drift", Form::kDuration, false,
            "How far its clock may be from the host's, 100ms to 1h"}
        .or_else("5s"),
    KeySpec{"file_systems", Form::kFlag, false, "How full file systems are"}.or_else("true"),
    KeySpec{"full_percent", Form::kNumber, false, "From when on one is full", {}, 50, 100}.or_else(
        "95"),
});

inline constexpr auto kMaintenanceKeys = std::to_array<KeySpec>({
    {"guests", Form::kTexts, false, "Names or UUIDs of guests; * is any text (all)"},
    {"window", Form::kText, true,
     "`2026-11-25T02:00:00Z for 2h`, in UTC; with `every 168h` it comes again"},
});

inline constexpr auto kRestartKeys = std::to_array<KeySpec>({
    KeySpec{"nova", Form::kFlag, false, "Guests that belong to Nova, too"}.or_else("false"),
    KeySpec{
        "dump", Form::kDuration, false,
        "How long a guest has to write a dump after an NMI, before it is ended, at most 1h; 0s: "
        "no NMI is sent"}
        .or_else("0s"),
});

}  // namespace wardmote::config
