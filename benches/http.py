#!/usr/bin/env python3
"""tcplab bench beside wrk and ab: the same requests to the same nginx in turns, medians and ratios.

    benches/http.py [--tcplab BIN] [--runs 7] [--time 2] [--connections 16] [--size 1024]

tcplab starts an nginx of its own for each run; wrk and ab ask one that this script starts with the same configuration.
Client and server have a processor each. What is not installed is left out. ab speaks HTTP/1.0.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

from turns import free_port, tell

CONF = """user root;
daemon off;
worker_processes 1;
pid nginx.pid;
error_log stderr warn;
events {{ worker_connections 4096; }}
http {{
  client_body_temp_path t; proxy_temp_path t; fastcgi_temp_path t; uwsgi_temp_path t; scgi_temp_path t;
  access_log off; default_type application/octet-stream; sendfile on; tcp_nopush on;
  keepalive_timeout 1h; keepalive_requests 1000000000;
  open_file_cache max=16 inactive=1h; open_file_cache_valid 1h;
  server {{ listen 127.0.0.1:{http} backlog=4096; root files; }}
  server {{ listen 127.0.0.1:{https} ssl backlog=4096; root files;
    ssl_certificate cert.pem; ssl_certificate_key key.pem; ssl_protocols TLSv1.3;
    ssl_session_cache off; ssl_session_tickets off; }}
}}
"""


def ours(args, workload):
    out = subprocess.run(
        [args.tcplab, "bench", f"{workload}:{args.size}", "--runs", "1", "--time", f"{args.time}s", "--warm", "200ms",
         "--cpus", "pinned", "--http-server", "nginx", "--connections", str(args.connections), "--json"],
        check=True, capture_output=True, text=True,
    ).stdout
    return json.loads(out)["arms"][0]["metrics"][0]["runs"][0]["value"]


def wrk(args, url, short):
    words = ["taskset", "-c", "0", "wrk", "-t1", f"-c{args.connections}", f"-d{args.time}s"]
    words += ["-H", "Connection: close"] if short else []
    out = subprocess.run(words + [url], check=True, capture_output=True, text=True).stdout
    return float(re.search(r"Requests/sec:\s+([\d.]+)", out).group(1))


def ab(args, url, short):
    words = ["taskset", "-c", "0", "ab", "-q", "-c", str(args.connections), "-t", str(args.time), "-n", "10000000"]
    words += [] if short else ["-k"]
    out = subprocess.run(words + [url], check=True, capture_output=True, text=True).stdout
    return float(re.search(r"Requests per second:\s+([\d.]+)", out).group(1))


def start_nginx(folder, ports, size):
    program = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/local/sbin:/usr/sbin:/sbin")
    if not program:
        sys.exit("nginx is not installed: apt-get install nginx-light")
    os.mkdir(f"{folder}/files")
    with open(f"{folder}/files/{size}", "wb") as body:
        body.write(b"x" * size)
    with open(f"{folder}/nginx.conf", "w", encoding="ascii") as conf:
        conf.write(CONF.format(**ports))
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
         "-subj", "/CN=localhost", "-keyout", f"{folder}/key.pem", "-out", f"{folder}/cert.pem"],
        check=True, capture_output=True,
    )
    log = open(f"{folder}/error.log", "w", encoding="utf-8")
    return subprocess.Popen(["taskset", "-c", "1", program, "-p", folder, "-c", "nginx.conf", "-e", "stderr"],
                            stdin=subprocess.DEVNULL, stdout=log, stderr=log)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tcplab", default="target/dist/tcplab")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--time", type=int, default=2)
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--size", type=int, default=1024)
    args = parser.parse_args()
    ports = {"http": free_port(), "https": free_port()}
    with tempfile.TemporaryDirectory() as folder:
        nginx = start_nginx(folder, ports, args.size)
        try:
            time.sleep(0.5)
            print(f"Linux {os.uname().release}, {args.connections} connections, {args.size} bytes, "
                  f"medians of {args.runs} in turns (least to most), load {os.getloadavg()[0]:.1f}")
            for name in ("HTTP_RR", "HTTP_CRR", "HTTPS_RR", "HTTPS_CRR"):
                scheme, short = name.split("_")[0].lower(), name.endswith("CRR")
                url = f"{scheme}://127.0.0.1:{ports[scheme]}/{args.size}"
                turns = [("tcplab", lambda name=name: ours(args, name))]
                for peer in (wrk, ab):
                    if shutil.which(peer.__name__):
                        turns.append((peer.__name__, lambda peer=peer, url=url, short=short: peer(args, url, short)))
                tell(name, "1/s", turns, args.runs)
        finally:
            nginx.terminate()
            nginx.wait()


if __name__ == "__main__":
    main()
