#!/usr/bin/env python3
"""Runs the commands of docs/high-availability.md as they are printed, on a private PostgreSQL.

    run_page.py --bin FOLDER --work FOLDER PAGE     (ATONE_TEST_POSTGRES: address of an empty database)

Every `sh` block but the one that names the database, one after another in one shell. Only ports are others: free ones.
"""
import argparse
import os
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

PORTS = ("7071", "7072", "7073")
# A command ends the script when it fails. A daemon is given the time to bind its port: what comes after that, it answers.
PRELUDE = """set -eu
trap 'kill $(jobs -p) 2>/dev/null || true; wait' EXIT
bound() { until (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; do kill -0 "$!"; done; }
"""


def free_ports(count: int) -> list:
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [str(one.getsockname()[1]) for one in held]
    for one in held:
        one.close()
    return ports


def blocks_of(page: str) -> list:
    return [block for block in re.findall(r"^```sh\n(.*?)^```$", page, re.M | re.S) if not block.startswith("export STORE=")]


def script_of(page: str) -> str:
    text = ""
    for line in "".join(blocks_of(page)).splitlines():
        text += line + "\n"
        listening = re.search(r"--listen 127\.0\.0\.1:(\d+) .*&$", line)
        if listening:
            text += f"bound {listening.group(1)}\n"
    for printed, free in zip(PORTS, free_ports(len(PORTS))):
        text = text.replace(":" + printed, ":" + free).replace("bound " + printed, "bound " + free)
    return PRELUDE + text


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True, type=Path)
    parser.add_argument("--work", required=True, type=Path)
    parser.add_argument("page", type=Path)
    arguments = parser.parse_args()
    shutil.rmtree(arguments.work, ignore_errors=True)
    arguments.work.mkdir(parents=True)
    around = dict(os.environ, STORE=os.environ["ATONE_TEST_POSTGRES"], PATH=f"{arguments.bin.resolve()}:{os.environ['PATH']}")
    around.pop("ATONE_STORE", None)
    script = script_of(arguments.page.read_text(encoding="utf-8"))
    ran = subprocess.run(["bash", "-c", script], cwd=arguments.work, env=around, capture_output=True, text=True, check=False, timeout=240)
    print(script, ran.stdout, ran.stderr, sep="\n")
    wanted = (r"node-1 +gone +0 ", r"node-2 +alive +\d", r"node-3 +alive, asked +\d", r" is paused\n", r"ok +nodes +node-2, node-3 share the store")
    missing = [one for one in wanted if not re.search(one, ran.stdout)]
    if missing:
        print("not printed:", *missing, sep="\n  ")
    return 1 if ran.returncode != 0 or missing else 0


if __name__ == "__main__":
    sys.exit(main())
