#!/usr/bin/python3
"""A TCP relay that delays what passes, both ways and in order: the kernel's own delay (sch_netem) is often missing.

What it delays is a byte stream, not packets: peers see a slow neighbour, not a slow wire.
"""

import argparse
import asyncio


async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, delay: float) -> None:
    loop = asyncio.get_running_loop()
    pieces: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue(maxsize=1024)

    async def read() -> None:
        while True:
            piece = await reader.read(1 << 16)
            await pieces.put((loop.time() + delay, piece))
            if not piece:
                return

    reading = asyncio.ensure_future(read())
    try:
        while True:
            due, piece = await pieces.get()
            await asyncio.sleep(due - loop.time())
            if not piece:
                return
            writer.write(piece)
            await writer.drain()
    except OSError:
        return
    finally:
        reading.cancel()
        writer.close()


async def serve(listen: tuple[str, int], to: tuple[str, int], delay: float) -> None:
    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            far_reader, far_writer = await asyncio.open_connection(*to)
        except OSError:
            writer.close()
            return
        await asyncio.gather(pump(reader, far_writer, delay), pump(far_reader, writer, delay))

    server = await asyncio.start_server(accept, *listen)
    await server.serve_forever()


def endpoint(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    return host, int(port)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--listen", type=endpoint, required=True)
    parser.add_argument("--to", type=endpoint, required=True)
    parser.add_argument("--delay-ms", type=float, required=True)
    given = parser.parse_args()
    asyncio.run(serve(given.listen, given.to, given.delay_ms / 1000))
