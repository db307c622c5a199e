"""A pod of a manifest, run on this machine: its image is unpacked, its volumes are mounted, and its program is started with the user, the
capabilities, the environment and the arguments that the manifest says. A fake of the kubelet and its runtime, because neither runs here:
one container, no seccomp filter, no limits. The host's folders lie below a folder of the test."""

import contextlib
import ctypes
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

import yaml

HOST_ADDRESS = "127.0.0.1"    # in a network of its own
NODE = "ctl-1"


class FakeKubelet:
    """`host` is the root of the node's files; `network` its namespace and address. Without, it is one of its own with a loopback."""

    def __init__(self, image_layer: Path, manifest: Path, config_maps: dict[str, dict[str, str]], folder: Path, host: Path,
                 network: tuple[str, str] | None = None):
        [daemons] = [one for one in yaml.safe_load_all(manifest.read_text(encoding="utf-8")) if one]
        self.pod = daemons["spec"]["template"]["spec"]
        [self.container] = self.pod["containers"]
        self.folder, self.host, self.config_maps, self.network = folder, host, config_maps, network
        self.root = folder / "root"
        unpack_layer(image_layer, self.root)
        self.output = tempfile.TemporaryFile()
        self.process: subprocess.Popen | None = None

    def source(self, volume: dict) -> Path:
        """Where the volume lies here."""
        if "hostPath" in volume:
            path = self.host / volume["hostPath"]["path"].lstrip("/")
            if volume["hostPath"].get("type") == "DirectoryOrCreate":
                path.mkdir(parents=True, exist_ok=True)
            return path
        path = self.folder / "volumes" / volume["name"]
        path.mkdir(parents=True, exist_ok=True)
        if "configMap" in volume:
            for name, text in self.config_maps[volume["configMap"]["name"]].items():
                (path / name).write_text(text, encoding="utf-8")
        elif "emptyDir" in volume:
            path.chmod(0o777)
        else:
            raise ValueError(f"no such volume here: {volume}")
        return path

    def mounts(self) -> str:
        volumes = {volume["name"]: self.source(volume) for volume in self.pod["volumes"]}
        account = self.folder / "account"
        account.mkdir(exist_ok=True)
        for name in ("token", "ca.crt"):
            (account / name).write_text("a fake\n", encoding="utf-8")
        wanted = [(volumes[one["name"]], one["mountPath"], one.get("readOnly", False)) for one in self.container["volumeMounts"]]
        wanted.append((account, "/run/secrets/kubernetes.io/serviceaccount", True))
        script = [f"mount --bind {self.root} {self.root}", f"mount -t proc proc {self.root}/proc"]
        for source, inside, read_only in wanted:
            target = self.root / inside.lstrip("/")
            target.mkdir(parents=True, exist_ok=True)
            script.append(f"mount --bind {source} {target}")
            if read_only:
                script.append(f"mount -o remount,bind,ro {target}")
        if self.container["securityContext"].get("readOnlyRootFilesystem"):
            script.append(f"mount -o remount,bind,ro {self.root}")
        return "\n".join(["set -e", "ip link set lo up", *script])

    def environment(self) -> dict[str, str]:
        """With $(NAME) of what stands before."""
        fields = {"spec.nodeName": NODE, "status.hostIP": self.network[1] if self.network else HOST_ADDRESS}
        found = {"PATH": "/usr/bin", "KUBERNETES_SERVICE_HOST": HOST_ADDRESS, "KUBERNETES_SERVICE_PORT": "6443"}
        for one in self.container.get("env", []):
            value = fields[one["valueFrom"]["fieldRef"]["fieldPath"]] if "valueFrom" in one else one["value"]
            for name, known in found.items():
                value = value.replace(f"$({name})", known)
            found[one["name"]] = value
        return found

    def start(self) -> dict:
        """What the launcher does, in the namespaces of the pod."""
        context = {**self.pod.get("securityContext", {}), **self.container["securityContext"]}
        if context["capabilities"]["drop"] != ["ALL"]:
            raise ValueError("only drop: [ALL] is known here")
        user = context["runAsUser"]
        return {"mounts": self.mounts(), "root": str(self.root), "environment": self.environment(),
                "command": self.container.get("command", ["/usr/bin/wardmoted"]) + self.container.get("args", []),
                "user": user, "group": context.get("runAsGroup", user), "capabilities": context["capabilities"].get("add", []),
                "no_new_privileges": not context["allowPrivilegeEscalation"]}

    @contextlib.contextmanager
    def running(self) -> Iterator["FakeKubelet"]:
        network = ["nsenter", f"--net=/run/netns/{self.network[0]}", "unshare"] if self.network else ["unshare", "--net"]
        command = [*network, "--mount", "--propagation", "private", sys.executable, __file__, json.dumps(self.start())]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=self.output, stderr=self.output)
        try:
            yield self
        finally:
            if self.process.poll() is None:
                self.process.terminate()
                try:
                    self.process.wait(20)
                except subprocess.TimeoutExpired:
                    self.process.kill()
                    self.process.wait()

    def execute(self, *command: str) -> subprocess.CompletedProcess[str]:
        """As `kubectl exec`: in the namespaces and the root of the running container."""
        inside = ["nsenter", "--target", str(self.process.pid), "--mount", "--net", "--root", *command]
        return subprocess.run(inside, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30, check=False)

    def said(self) -> str:
        self.output.seek(0)
        return self.output.read().decode(errors="replace")


def unpack_layer(layer: Path, root: Path) -> None:
    root.mkdir(parents=True)
    with tarfile.open(layer) as tar:
        tar.extractall(root, numeric_owner=True)


# In the order of linux/capability.h.
CAPABILITIES = ("CHOWN", "DAC_OVERRIDE", "DAC_READ_SEARCH", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID", "SETPCAP", "LINUX_IMMUTABLE",
                "NET_BIND_SERVICE", "NET_BROADCAST", "NET_ADMIN", "NET_RAW")
PR_CAPBSET_READ, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 23, 24, 38


def launch(what: dict) -> None:
    """Becomes the program of the container. As root it may have what is left in the bounding set; another user has nothing."""
    subprocess.run(["sh", "-c", what["mounts"]], check=True)
    os.chroot(what["root"])
    os.chdir("/")
    kept = {CAPABILITIES.index(name) for name in what["capabilities"]}
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    number = 0
    while prctl(PR_CAPBSET_READ, number, 0, 0, 0) >= 0:
        if number not in kept and prctl(PR_CAPBSET_DROP, number, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), f"cannot drop capability {number}")
        number += 1
    os.setgroups([])
    os.setgid(what["group"])
    os.setuid(what["user"])
    if what["no_new_privileges"] and prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "no_new_privs")
    os.execve(what["command"][0], what["command"], what["environment"])


if __name__ == "__main__":
    launch(json.loads(sys.argv[1]))
