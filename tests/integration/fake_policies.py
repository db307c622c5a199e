"""A fake of what a kube-apiserver since 1.30 adds, before a real older one: admission policies. No server that new runs here. It knows the one form of
policy that was measured at a real 1.33 (of one user, whose extra field `fence` is no lower than `token` of a ConfigMap), checks dry runs too, and exempts
policies themselves. It reads neither CEL nor rules. Objects, impersonation and rights are those of the real server."""

import json
import threading
from collections.abc import Mapping
from pathlib import Path

from fault_proxy import FaultProxy

from lab.kubernetes import ApiServer

API = "/apis/admissionregistration.k8s.io/v1"
KINDS = {"validatingadmissionpolicies": "ValidatingAdmissionPolicy", "validatingadmissionpolicybindings": "ValidatingAdmissionPolicyBinding"}


def refusal(code: int, reason: str, message: str) -> tuple[int, bytes]:
    return code, json.dumps({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason, "message": message}).encode()


class FakePolicies(FaultProxy):
    def __init__(self, cluster: ApiServer, folder: Path):
        super().__init__(cluster, folder)
        self.cluster = cluster
        self.kept: dict[str, dict] = {}
        self.refused: list[tuple[str, str, int]] = []  # method, path, the token that was sent
        self.lock, self.version = threading.Lock(), 1000
        self.instead = self.answer

    def answer(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> tuple[int, bytes] | None:
        plain = path.split("?")[0]
        if plain == API:
            names = {**KINDS, "validatingwebhookconfigurations": "ValidatingWebhookConfiguration"}
            resources = [{"name": name, "singularName": "", "kind": kind, "namespaced": False, "verbs": ["get", "list", "patch"]}
                         for name, kind in names.items()]
            return 200, json.dumps({"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": API.removeprefix("/apis/"),
                                    "resources": resources}).encode()
        if plain.startswith(API + "/") and plain.split("/")[4] in KINDS:
            return self.keep(method, plain, body)
        return self.check(method, path, headers) if method in ("PATCH", "DELETE", "POST", "PUT") else None

    def keep(self, method: str, path: str, body: bytes) -> tuple[int, bytes]:
        with self.lock:
            found = self.kept.get(path)
            if method == "PATCH":
                wanted = json.loads(body)
                asked = wanted["metadata"].pop("resourceVersion", None)
                if found and asked != found["metadata"]["resourceVersion"]:
                    return refusal(409, "Conflict", "the object has been modified")
                self.version += 1
                wanted["metadata"] |= {"uid": f"uid-{self.version}", "resourceVersion": str(self.version)}
                # What a server adds.
                if "matchConstraints" in wanted["spec"]:
                    wanted["spec"]["matchConstraints"] |= {"matchPolicy": "Equivalent", "namespaceSelector": {}, "objectSelector": {}}
                    wanted["spec"]["matchConstraints"]["resourceRules"][0]["scope"] = "*"
                self.kept[path] = wanted
                return 201 if found is None else 200, json.dumps(wanted).encode()
            return (200, json.dumps(found).encode()) if found else refusal(404, "NotFound", "not found")

    def check(self, method: str, path: str, headers: Mapping[str, str]) -> tuple[int, bytes] | None:
        for at, binding in list(self.kept.items()):
            if binding["kind"] != KINDS["validatingadmissionpolicybindings"]:
                continue
            policy = self.kept.get(at.replace("policybindings", "policies"))
            condition = f"request.userInfo.username == '{headers.get('Impersonate-User')}'"
            if policy is None or policy["spec"]["matchConditions"][0]["expression"] != condition:
                continue
            named = binding["spec"]["paramRef"]
            status, found = self.cluster.ask("GET", f"/api/v1/namespaces/{named['namespace']}/configmaps/{named['name']}")
            if status != 200:
                return refusal(422, "Invalid", "failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction")
            sent = int(headers.get("Impersonate-Extra-fence", "-1"))
            if sent >= int(found["data"]["token"]):
                continue
            with self.lock:
                self.refused.append((method, path, sent))
            message = policy["spec"]["validations"][0]["message"]
            return refusal(422, "Invalid", f"x is forbidden: ValidatingAdmissionPolicy '{policy['metadata']['name']}' with binding "
                                           f"'{binding['metadata']['name']}' denied request: {message}")
        return None
