#include "cli/gate/gate_commands.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "cli/command.h"
#include "cli/common_options.h"
#include "cli/gate/gate_orders.h"
#include "cli/verbs/verbs.h"

namespace wardmote::cli {
namespace {

Command reconcile_verb(const std::string& name, const std::string& summary,
                       const std::string& description, const Example& example) {
  return {.name = name,
          .summary = summary,
          .description = description,
          .arguments = {{.name = "FOLDER",
                         .help = "manifests: *.yaml, *.yml and *.json, also below it",
                         .completes = Completes::kFiles}},
          .options =
              {{.name = "set",
                .value = "NAME",
                .help = "the set that the objects belong to",
                .required = true},
               {.name = "kubeconfig",
                .value = "FILE",
                .help = "where the server is (default: $KUBECONFIG, else that of this pod)",
                .completes = Completes::kFiles},
               {.name = "context",
                .value = "NAME",
                .help = "in the kubeconfig (default: its current-context)"},
               {.name = "namespace", .value = "NAME", .help = "of objects that name none"},
               {.name = "inventory-namespace",
                .value = "NAME",
                .help = "of the ConfigMap that notes the kinds of the set (default: kube-system)"},
               {.name = "prune-limit",
                .value = "0-100",
                .help = "how many per cent of the objects may be deleted (default: 50)"},
               {.name = "timeout", .value = "SECONDS", .help = "the end of it all (default: 300)"},
               {.name = "adopt",
                .value = "",
                .help = "take over objects that are there and belong to no set"}},
          .examples = {example},
          .run = run_reconcile};
}

}  // namespace

Command reconcile_group() {
  Command apply = reconcile_verb(
      "apply", "make all objects as the folder says, once",
      "No version gate is asked: whoever runs this is the one who may write. Exits with 0 when "
      "everything is as the folder says, 2 when an object failed or nothing could be pruned, 65 "
      "when a manifest is wrong or the kubeconfig cannot be read (then nothing was written), 69 "
      "when the server does not answer; "
      "with --dry-run 1 when something would change.",
      {"wardmote reconcile apply /etc/wardmote/manifests --set kubernetes --prune-limit 100",
       "once, although the folder has lost most of its objects"});
  apply.options.push_back({.name = "dry-run",
                           .value = "",
                           .help = "ask the server what would change, and write nothing"});
  Command group{
      .name = "reconcile",
      .summary =
          "compare a folder of manifests with a kube-apiserver, or apply it; pause the agents",
      .description =
          "diff, apply and status run wardmoted once, which must be in the same folder or in PATH. "
          "explain, pause, resume and adopt ask the agent of this host, which does the same again "
          "and "
          "again when it leads a version gate: docs/reconcile.md.",
      .commands = {
          reconcile_verb("diff", "show what 'apply' would change, as a diff",
                         "The server is asked what would come of it; values of Secrets are not "
                         "shown. Exits with 0 when nothing differs, 1 when something does.",
                         {"wardmote reconcile diff /etc/wardmote/manifests --set kubernetes",
                          "before a release"}),
          std::move(apply),
          reconcile_verb("status", "say which objects are not as the folder says",
                         "Exits with 0 when all are, 1 when something differs.",
                         {"wardmote reconcile status /etc/wardmote/manifests --set kubernetes",
                          "for a monitoring plugin"})}};
  std::ranges::move(reconcile_orders(), std::back_inserter(group.commands));
  return group;
}

Command wait_ready() {
  Command command{
      .name = "wait-ready",
      .summary = "wait until this node may serve on what a version gate's leader has reconciled",
      .description =
          "Prints a line whenever the reason changes. With --etcd it asks etcd itself and needs no "
          "agent: it registers the node's release, then reads the status; the registration is kept "
          "afterwards. Otherwise it asks the agent on this host, and waits for the agent too. "
          "Exits with 0 when the node may serve; with 2 when it may not at the end of --timeout, "
          "or "
          "with --follow as soon as it no longer may (a registration that was removed is written "
          "again first: 10 s are left for that); with 3 when at the end of --timeout nobody "
          "has answered. A store that does not answer is never taken for a yes; it does not end "
          "--follow either. See docs/version-gate.md.",
      .arguments = {{.name = "GATE", .help = "the name of the gate"}},
      .options =
          {{.name = "timeout",
            .value = "DURATION",
            .help =
                "give up after so long (default: never; systemd and Kubernetes have their own)"},
           {.name = "follow",
            .value = "",
            .help = "go on after it passed, and end with 2 when this node no longer may serve",
            .letter = 'f'},
           {.name = "output",
            .value = "text|json",
            .help = "print a line of text, or of JSON, for each change (default: text)",
            .letter = 'o',
            .choices = {"text", "json"}},
           {.name = "etcd",
            .value = "HOST:PORT",
            .help = "ask this etcd instead of the agent; repeat it for each member. TLS with --ca, "
                    "--cert and --key",
            .repeats = true},
           {.name = "release",
            .value = "RELEASE",
            .help = "with --etcd, required: the release of what runs on this node, as 1.2.3"},
           {.name = "min-reconciler-release",
            .value = "RELEASE",
            .help = "with --etcd: this node needs what this release or a newer one reconciles"},
           {.name = "node",
            .value = "NAME",
            .help = "with --etcd: the name of this node (default: the host's name)"},
           {.name = "store",
            .value = "NAME",
            .help = "with --etcd: 'name' in 'store' of the agents' configuration (default: "
                    "default)"},
           {.name = "state-prefix",
            .value = "PREFIX",
            .help = "with --etcd: where the gate's status is, if not below /wardmote; Metropolis: "
                    "curator//kubernetes/reconciler/"},
           {.name = "nodes-prefix",
            .value = "PREFIX",
            .help = "with --state-prefix: where its nodes are; Metropolis: curator//nodes/"},
           {.name = "no-register",
            .value = "",
            .help = "with --etcd: another program registers this node; wait until it has"},
           {.name = "etcd-user", .value = "NAME", .help = "with --etcd: its user"},
           {.name = "etcd-password-file",
            .value = "PATH",
            .help = "with --etcd: the first line of this file is the password",
            .completes = Completes::kFiles}},
      .examples =
          {{"wardmote wait-ready kubernetes", "ask the agent of this host, for ExecStartPre="},
           {"wardmote wait-ready kubernetes --follow",
            "a service that ends when its node no longer fits, for BindsTo="},
           {"wardmote wait-ready kubernetes --etcd 10.0.0.1:2379 --etcd 10.0.0.2:2379 "
            "--release 1.4.0 --timeout 5m",
            "without an agent, in an init container"},
           {"wardmote wait-ready metropolis --etcd 10.0.0.1:2379 --release 0.1.0 --no-register "
            "--node NODE --state-prefix curator//kubernetes/reconciler/ --nodes-prefix "
            "curator//nodes/",
            "the gate of a Metropolis cluster"}},
      .run = run_wait_ready};
  std::ranges::move(agent_options(), std::back_inserter(command.options));
  return command;
}

}  // namespace wardmote::cli
