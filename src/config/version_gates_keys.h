#pragma once
// The keys of `version_gates`; config/schema.cc has those of most other sections.

#include <array>

#include "config/schema.h"

namespace wardmote::config {

inline constexpr auto kVersionGateKeys = std::to_array<KeySpec>({
    {"name", Form::kName, true, "Unique among version gates; the same on all nodes"},
    {"release", Form::kText, false, "Of what runs on this node, as 1.2.3 (Wardmote's own)"},
    KeySpec{"min_reconciler_release", Form::kText, false,
            "This node serves only on what this release or a newer one reconciled"}
        .or_else("0.0.0"),
    KeySpec{"min_apiserver_release", Form::kText, false,
            "What this node writes as a leader needs all nodes to be of this release or newer"}
        .or_else("0.0.0"),
    KeySpec{"register", Form::kFlag, false,
            "Write this node's registration; false: another program does, as Metropolis's curator"}
        .or_else("true"),
    {"state_prefix", Form::kText, false,
     "Where the status is (/wardmote/STORE/gate/NAME/state/); Metropolis: "
     "curator//kubernetes/reconciler/"},
    {"nodes_prefix", Form::kText, false,
     "Where the registrations are (/wardmote/STORE/gate/NAME/nodes/); Metropolis: "
     "curator//nodes/"},
    KeySpec{"ttl", Form::kDuration, false, "Of the leader's lease, 2s to 5m"}.or_else("6s"),
    {"reconcile", Form::kMap, false, "What this node does when it leads (it never leads)",
     "reconcile"},
});

inline constexpr auto kReconcileKeys = std::to_array<KeySpec>({
    {.name = "mode",
     .form = Form::kWord,
     .required = false,
     .help = "Whether it stands in the election and acts, or only shows what is in the way",
     .words = "observe|act",
     .otherwise = "observe"},
    {"command", Form::kTexts, false,
     "A program and its arguments that makes all objects as they should be; no shell reads it"},
    {"manifests", Form::kText, false,
     "Instead of a program: an absolute folder that says what should be there"},
    {"git", Form::kMap, false, "Instead of 'manifests': a commit of this git repository says it",
     "reconcile_git"},
    {"config_map", Form::kMap, false, "Instead of 'manifests': the keys of this ConfigMap say it",
     "reconcile_config_map"},
    {"kubernetes", Form::kMap, false, "What should be there are objects of this kube-apiserver",
     "reconcile_kubernetes"},
    {"files", Form::kMap, false, "What should be there are files of this node", "reconcile_files"},
    KeySpec{"timeout", Form::kDuration, false, "The end of one run, 1s to 1h"}.or_else("5m"),
    KeySpec{"every", Form::kDuration, false, "From one run that went well to the next, 1s to 24h"}
        .or_else("30s"),
    KeySpec{"wait", Form::kDuration, false,
            "After an election, before the first write; no less than two thirds of 'ttl' and "
            "'write_deadline', 0s to 10m"}
        .or_else("5s"),
    KeySpec{"write_deadline", Form::kDuration, false,
            "How long a write may still arrive after the command was killed, 0s to 5m"}
        .or_else("1s"),
});

inline constexpr auto kReconcileGitKeys = std::to_array<KeySpec>({
    {"work_tree", Form::kText, true, "An absolute folder: a work tree, or a bare repository"},
    KeySpec{"ref", Form::kText, false, "A branch, a tag or a commit"}.or_else("HEAD"),
    {"path", Form::kText, false, "A folder, from the root of the repository (all of it)"},
});

inline constexpr auto kReconcileConfigMapKeys = std::to_array<KeySpec>({
    {"namespace", Form::kText, true, "Of the ConfigMap"},
    {"name", Form::kText, true, "Of the ConfigMap; each key is a file"},
    {"kubeconfig", Form::kText, false,
     "An absolute path (that of 'kubernetes', else the service account of the agent's own pod)"},
    {"context", Form::kText, false, "In the kubeconfig (that of 'kubernetes')"},
});

inline constexpr auto kReconcileKubernetesKeys = std::to_array<KeySpec>({
    {"kubeconfig", Form::kText, false,
     "An absolute path (the service account of the agent's own pod)"},
    {"context", Form::kText, false, "In the kubeconfig (its current-context)"},
    {"set", Form::kText, false, "The value of the label of its objects (the name of the gate)"},
    {"namespace", Form::kText, false,
     "Of objects that name none (that of the context or of the pod, else default)"},
    KeySpec{"inventory_namespace", Form::kText, false,
            "Of the ConfigMap that notes the kinds of the set"}
        .or_else("kube-system"),
    KeySpec{"prune_limit",
            Form::kNumber,
            false,
            "How many per cent of the objects one pass may delete",
            {},
            0,
            100}
        .or_else("50"),
    {.name = "fence",
     .form = Form::kWord,
     .required = false,
     .help = "Whether the server checks that no earlier leader writes (Kubernetes 1.30): where it "
             "can, always, or not",
     .words = "auto|require|none",
     .otherwise = "auto"},
});

inline constexpr auto kReconcileFilesKeys = std::to_array<KeySpec>({
    {"folder", Form::kText, true, "An absolute folder in which the files are kept"},
    KeySpec{"mode", Form::kText, false, "Access rights of new files, in octal digits"}.or_else(
        "0644"),
    KeySpec{"adopt", Form::kFlag, false, "Take over files that are there and that differ"}.or_else(
        "false"),
    KeySpec{"prune_limit",
            Form::kNumber,
            false,
            "How many per cent of its files one pass may delete",
            {},
            0,
            100}
        .or_else("50"),
    {"on_change", Form::kTexts, false,
     "A program and its arguments, run after a change until it ends with 0; no shell reads it"},
});

}  // namespace wardmote::config
