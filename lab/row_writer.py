"""Inserts a row into the northbound database every 50 ms, and in the end asks which of the acknowledged rows are still there.

Runs on a host of its own, as a client does: one connection, a new one after an error. Prints one line of JSON.
"""

import json
import socket
import sys
import time

EVERY = 0.05


class Client:
    def __init__(self, address: str, port: int):
        self.address, self.port, self.socket = address, port, None

    def ask(self, method: str, params: list, timeout: float):
        if self.socket is None:
            self.socket = socket.create_connection((self.address, self.port), timeout=0.5)
        self.socket.settimeout(timeout)
        self.socket.sendall(json.dumps({"method": method, "params": params, "id": 7}).encode())
        decoder, text = json.JSONDecoder(), ""
        while True:
            piece = self.socket.recv(1 << 20)
            if not piece:
                raise OSError("closed")
            text += piece.decode()
            while text:
                try:
                    message, end = decoder.raw_decode(text)
                except ValueError:
                    break
                text = text[end:].lstrip()
                if message.get("method") == "echo":
                    self.socket.sendall(json.dumps({"id": message["id"], "result": message["params"], "error": None}).encode())
                elif message.get("id") == 7:
                    return message

    def transact(self, operation: dict, timeout: float = 1.0) -> list:
        message = self.ask("transact", ["OVN_Northbound", operation], timeout)
        results = message.get("result") or [{"error": str(message.get("error"))}]
        for result in results:
            if result and "error" in result:
                raise OSError(result.get("details") or result["error"])
        return results

    def drop(self) -> None:
        if self.socket is not None:
            self.socket.close()
        self.socket = None


def main() -> int:
    address, port, tag, stop = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]
    client, acknowledged, outages, errors = Client(address, port), [], [], {}
    last, number = time.monotonic(), 0
    while True:
        try:
            open(stop, encoding="utf-8").close()
            break
        except OSError:
            pass
        number += 1
        name = f"{tag}_{number}"
        try:
            client.transact({"op": "insert", "table": "Address_Set", "row": {"name": name}})
            acknowledged.append(name)
            now = time.monotonic()
            if now - last > 0.5:
                outages.append(round(now - last, 2))
            last = now
        except OSError as error:
            errors[str(error)[:60]] = errors.get(str(error)[:60], 0) + 1
            client.drop()
        time.sleep(EVERY)
    if time.monotonic() - last > 0.5:
        outages.append(round(time.monotonic() - last, 2))
    client.drop()
    present = set()
    for _ in range(40):
        try:
            rows = client.transact({"op": "select", "table": "Address_Set", "where": [], "columns": ["name"]}, 5.0)
            present = {row["name"] for row in rows[0]["rows"]}
            break
        except OSError:
            client.drop()
            time.sleep(0.5)
    lost = [name for name in acknowledged if name not in present]
    print(json.dumps({"acknowledged": len(acknowledged), "lost": len(lost), "outages": outages, "errors": errors}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
