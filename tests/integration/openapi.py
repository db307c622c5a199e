"""The OpenAPI file of the API: checks the file itself, makes a client out of it, and holds answers against it."""

import json
import re
from dataclasses import dataclass, field

import jsonschema

METHODS = ("get", "options", "put", "post", "delete", "patch")
ROLES = ("none", "viewer", "operator", "admin")


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: str


@dataclass
class Operation:
    method: str
    path: str
    spec: dict
    parameters: list[dict] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.spec["operationId"]

    @property
    def role(self) -> str:
        return self.spec["x-role"]

    @property
    def local(self) -> bool:
        return self.spec.get("x-local", False)


class OpenApi:
    def __init__(self, document: dict):
        self.document = document
        self.operations = [Operation(method.upper(), path, spec, [self.resolve(one) for one in spec.get("parameters", [])])
                           for path, item in document["paths"].items() for method, spec in item.items() if method in METHODS]

    def resolve(self, node: dict) -> dict:
        while "$ref" in node:
            found = self.document
            for key in node["$ref"].removeprefix("#/").split("/"):
                found = found[key]
            node = found
        return node

    def problems(self) -> list[str]:
        """What is wrong with the file; the rules of OpenAPI 3.1 that a hand-written file breaks, and our own."""
        found = []
        if not re.fullmatch(r"3\.1\.\d+", self.document["openapi"]):
            found.append("not OpenAPI 3.1")
        for key in ("title", "version"):
            if key not in self.document["info"]:
                found.append(f"info has no {key}")
        for name, schema in self.document["components"]["schemas"].items():
            jsonschema.Draft202012Validator.check_schema(schema)
            found += [f"{name}: {problem}" for problem in self._open_objects(schema)]
        for reference in re.findall(r'"\$ref": "([^"]+)"', json.dumps(self.document)):
            try:
                self.resolve({"$ref": reference})
            except KeyError:
                found.append(f"{reference} leads nowhere")
        names = [operation.name for operation in self.operations]
        found += [f"operationId {name} is used twice" for name in set(names) if names.count(name) > 1]
        for operation in self.operations:
            found += [f"{operation.method} {operation.path}: {problem}" for problem in self._problems_of(operation)]
        return found

    def _problems_of(self, operation: Operation):
        in_path = set(re.findall(r"\{(\w+)\}", operation.path))
        described = {one["name"] for one in operation.parameters if one["in"] == "path"}
        if in_path != described:
            yield f"its path has {in_path}, described are {described}"
        if any(one["in"] == "path" and not one.get("required") for one in operation.parameters):
            yield "a name in a path is always required"
        if operation.role not in ROLES:
            yield f"x-role {operation.role}"
        if operation.method not in ("GET", "OPTIONS") and "requestBody" not in operation.spec and operation.method != "DELETE":
            yield "an order without a described body"
        for status, response in operation.spec["responses"].items():
            response = self.resolve(response)
            if not re.fullmatch(r"[1-5]\d\d", status) or not response.get("description"):
                yield f"answer {status} has no description"
            for content in response.get("content", {}).values():
                jsonschema.Draft202012Validator.check_schema(content["schema"])

    def _open_objects(self, schema, where="") -> list[str]:
        """Objects whose unknown keys would pass unseen."""
        found = []
        if isinstance(schema, dict):
            if "properties" in schema and schema.get("additionalProperties") is not False:
                found.append(f"{where or 'it'} is open")
            for key, value in schema.items():
                found += self._open_objects(value, f"{where}/{key}")
        if isinstance(schema, list):
            for value in schema:
                found += self._open_objects(value, where)
        return found

    def check(self, operation: Operation, answer: Answer) -> None:
        """Raises if the file does not allow this answer."""
        responses = operation.spec["responses"]
        assert str(answer.status) in responses, f"{operation.name}: {answer.status} is not described: {answer.body[:300]}"
        response = self.resolve(responses[str(answer.status)])
        for name in response.get("headers", {}):
            assert name.lower() in answer.headers, f"{operation.name}: no {name}"
        kind = answer.headers["content-type"].split(";")[0]
        assert kind in response["content"], f"{operation.name}: {kind} is not described"
        if kind == "text/event-stream":
            return
        body = json.loads(answer.body) if kind == "application/json" else answer.body
        self.check_value(response["content"][kind]["schema"], body)

    def check_value(self, schema: dict, value) -> None:
        # References are looked up in the document that the schema is part of.
        jsonschema.Draft202012Validator({**schema, "components": self.document["components"]}).validate(value)


class Client:
    """A client made out of the file: a method for each operation, which checks what it gets. `send` carries a request."""

    def __init__(self, api: OpenApi, send):
        for operation in api.operations:
            setattr(self, operation.name, self._method(api, operation, send))

    @staticmethod
    def _method(api: OpenApi, operation: Operation, send):
        def call(**arguments):
            path, query, headers = operation.path, [], {}
            known = {parameter["name"]: parameter for parameter in operation.parameters}
            for name, value in arguments.items():
                parameter = known[name]
                api.check_value(parameter["schema"], value)
                if parameter["in"] == "path":
                    path = path.replace(f"{{{name}}}", str(value))
                elif parameter["in"] == "header":
                    headers[name] = str(value)
                else:
                    query += [(name, str(one)) for one in (value if isinstance(value, list) else [value])]
            answer = send(operation.method, path, query, headers)
            api.check(operation, answer)
            return answer

        return call
