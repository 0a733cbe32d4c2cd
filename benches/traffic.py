#!/usr/bin/env python3
"""Traffic of benches/link.py: this machine's TCP and UDP between two namespaces, with nothing but Python.

traffic.py serve                          accepts connections and does what the first line of each says; echoes datagrams
traffic.py send HOST SECONDS [RATE]       sends for SECONDS (RATE in bit/s: SO_MAX_PACING_RATE); prints bytes at the receiver
traffic.py fetch HOST SECONDS [N]         N connections on which the other end sends; prints bytes received
traffic.py both HOST SECONDS N            N up and N down at once; prints bytes a second up and down, at the receivers
traffic.py ping HOST COUNT                datagrams, one every 10 ms; prints round trip times in seconds
"""

import socket
import sys
import threading
import time

PORT = 5201
SO_MAX_PACING_RATE = 47
CHUNK = bytes(1 << 17)


def drain(connection, until=None):
    """Reads to the end, or to a time; gives (bytes, seconds between the first and the last of them)."""
    total, first, last = 0, None, None
    buffer = bytearray(1 << 20)
    connection.settimeout(20)
    while until is None or time.monotonic() < until:
        try:
            n = connection.recv_into(buffer)
        except OSError:
            break
        if n == 0:
            break
        last = time.monotonic()
        first = first or last
        total += n
    return total, (last - first) if total else 0.0


def push(connection, seconds):
    """Sends for so long."""
    connection.settimeout(20)
    end = time.monotonic() + seconds
    try:
        while time.monotonic() < end:
            connection.send(CHUNK)
    except OSError:
        pass


def settle(connection):
    """CUBIC, whatever this machine's default is: root may take any that there is."""
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"cubic")


def answer(connection):
    """Does what a client asks for: takes what it sends, or sends."""
    with connection:
        settle(connection)
        line = b""
        while not line.endswith(b"\n"):
            byte = connection.recv(1)
            if not byte:
                return
            line += byte
        word, seconds = line.split()
        if word == b"take":
            total, span = drain(connection)
            connection.sendall(f"{total} {span}".encode())
        else:
            push(connection, float(seconds))


def echo():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        udp.bind(("", PORT))
        while True:
            data, peer = udp.recvfrom(2048)
            udp.sendto(data, peer)


def serve():
    threading.Thread(target=echo, daemon=True).start()
    with socket.create_server(("", PORT)) as listener:
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=answer, args=(connection,), daemon=True).start()


def connect(host, word, seconds):
    deadline = time.monotonic() + 5
    while True:
        try:
            connection = socket.create_connection((host, PORT))
            break
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
    settle(connection)
    connection.sendall(f"{word} {seconds}\n".encode())
    return connection


def send(host, seconds, rate=None):
    connection = connect(host, "take", seconds)
    if rate:
        connection.setsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE, int(rate / 8))
    push(connection, seconds)
    connection.shutdown(socket.SHUT_WR)
    total, span = connection.makefile().read().split()
    return int(total), float(span)


def fetch(host, seconds):
    return drain(connect(host, "give", seconds), time.monotonic() + seconds)


def several(tasks):
    results = [None] * len(tasks)

    def one(i, task):
        results[i] = task()

    threads = [threading.Thread(target=one, args=item) for item in enumerate(tasks)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def ping(host, count):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        udp.settimeout(1)
        udp.connect((host, PORT))
        for _ in range(count):
            begun = time.monotonic()
            udp.send(b"x" * 56)
            try:
                udp.recv(100)
                print(time.monotonic() - begun)
            except OSError:
                pass
            time.sleep(0.01)


def main():
    words = sys.argv[1:]
    match words:
        case ["serve"]:
            serve()
        case ["send", host, seconds, *rate]:
            print(*send(host, float(seconds), *map(float, rate)))
        case ["fetch", host, seconds, *n]:
            results = several([lambda: fetch(host, float(seconds))] * int(*n or [1]))
            print(sum(total for total, _ in results), max(span for _, span in results))
        case ["both", host, seconds, n]:
            up = [lambda: send(host, float(seconds))] * int(n)
            down = [lambda: fetch(host, float(seconds))] * int(n)
            results = several(up + down)
            rates = [total / span if span else 0.0 for total, span in results]
            print(sum(rates[: int(n)]), sum(rates[int(n) :]))
        case ["ping", host, count]:
            ping(host, int(count))
        case _:
            sys.exit(__doc__)


main()
