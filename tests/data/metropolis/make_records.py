#!/usr/bin/env python3
"""Makes the records of this folder from the field numbers of Metropolis's .proto files alone (monogon-dev/monogon 8b9bf216), with nothing
of our own code: what our codec is compared with. No record was captured from a running Metropolis."""

from pathlib import Path


def varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value)


def data(field: int, value: bytes) -> bytes:
    return varint(field << 3 | 2) + varint(len(value)) + value


def release(major: int, minor: int, patch: int) -> bytes:
    return b"".join(number(field, value) for field, value in enumerate((major, minor, patch), 1) if value)


GIT = data(1, b"0123456789abcdef0123456789abcdef01234567") + number(2, 4) + number(3, 2)
VERSION = data(1, release(0, 1, 0)) + data(2, GIT)
NODE_STATUS = data(1, b"203.0.113.7") + data(2, number(1, 1_732_000_000)) + data(3, number(1, 7840)) + data(4, VERSION) + data(5, bytes(range(16)))
OTHER_KEYS = data(1, b"public key") + data(2, b"unlock key") + number(3, 3)

RECORDS = {
    "status-done.bin": number(1, 1) + data(2, VERSION) + data(3, release(0, 1, 0)),
    "status-working.bin": number(1, 2) + data(2, data(1, release(0, 1, 2))) + data(3, release(10000, 0, 0)),
    # An unset release is 0.0.0, and an empty message is there.
    "status-zero.bin": number(1, 1) + data(2, data(1, b"")) + data(3, b""),
    "status-without-version.bin": number(1, 1) + data(3, release(0, 1, 0)),
    "status-of-a-newer-release.bin": number(1, 1) + data(2, VERSION) + data(3, release(0, 1, 0)) + data(4, b"new") + number(90, 7)
    + varint(91 << 3 | 1) + bytes(8) + varint(92 << 3 | 5) + bytes(4),
    "node-controller.bin": OTHER_KEYS + data(4, data(1, b"") + data(2, b"") + data(3, b"")) + data(5, NODE_STATUS) + data(10, b"metropolis-1"),
    "node-worker.bin": data(4, data(1, b"")) + data(5, NODE_STATUS) + data(10, b"metropolis-2"),
    "node-without-roles.bin": data(5, NODE_STATUS) + data(10, b"metropolis-3"),
    "node-without-status.bin": data(4, data(3, b"")) + data(10, b"metropolis-4"),
    "node-without-release.bin": data(4, data(3, b"")) + data(5, data(4, b"")) + data(10, b"metropolis-5"),
}

if __name__ == "__main__":
    for name, record in RECORDS.items():
        (Path(__file__).parent / name).write_bytes(record)
