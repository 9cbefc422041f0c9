#!/usr/bin/env python3
"""Asks a running atoned whatever schemas/openapi.yaml allows and forbids, by schemathesis, and fails on any answer it does not announce.

    run_schemathesis.py --atoned PROGRAM --openapi FILE --work FOLDER

Makes a virtual environment in FOLDER at its first run. Exit status 77 where schemathesis can't be had, saying why.
"""
import argparse
import json
import re
import shutil
import subprocess
import sys
import urllib.request
import venv
from pathlib import Path

PACKAGE = "schemathesis==4.32.5"
SKIPPED = 77
SEED = 1
EXAMPLES = 40  # of one operation and phase
HERE = Path(__file__).resolve().parent
# What a saga's id stands for in the path.
OF_A_SAGA = ["showSaga", "showHistory", "cancelSaga", "pauseSaga", "resumeSaga", "retryStep", "skipStep", "completeStep"]


def environment(folder: Path) -> Path:
    """The program, installed at need; ends with 77 where that can't be done."""
    program = folder / "bin" / "schemathesis"
    stamp = folder / "installed"
    if stamp.exists() and stamp.read_text() == PACKAGE and program.exists():
        return program
    shutil.rmtree(folder, ignore_errors=True)
    venv.create(folder, with_pip=True)
    ran = subprocess.run([folder / "bin" / "pip", "install", "--quiet", PACKAGE], capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        why = ran.stderr.strip().splitlines()
        print(f"skipped, because {PACKAGE} can't be installed: {why[-1] if why else 'pip failed'}")
        sys.exit(SKIPPED)
    stamp.write_text(PACKAGE)
    return program


class Daemon:
    """atoned on a free port with a store of its own."""

    def __init__(self, program: str, folder: Path):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        self.log = folder / "log"
        with open(self.log, "w", encoding="utf-8") as log:
            self.process = subprocess.Popen([program, "--listen", "127.0.0.1:0", "--store", f"sqlite:{folder / 'sagas.db'}"],
                                            stdout=subprocess.PIPE, stderr=log, text=True)
        said = self.process.stdout.readline()
        found = re.search(r"\((http://[^)]+)\)", said)
        if not found:
            sys.exit(f"atoned did not start: {said}{self.log.read_text()}")
        self.url = found.group(1)

    def post(self, path: str, body: str, kind: str) -> dict:
        asked = urllib.request.Request(self.url + path, data=body.encode(), headers={"Content-Type": kind}, method="POST")
        with urllib.request.urlopen(asked, timeout=30) as answer:
            return json.load(answer)

    def stop(self) -> int:
        self.process.terminate()
        return self.process.wait(timeout=60)


def bound(operations: list, parameter: str, dictionary: str) -> str:
    """Seven of ten values of the parameter come from the dictionary, the others from the document."""
    return (f"\n[[operations]]\ninclude-operation-id = {json.dumps(operations)}\n"
            f'parameters = {{ "{parameter}" = {{ dictionary = "{dictionary}", probability = 0.7 }} }}\n')


def settings(daemon: Daemon, folder: Path) -> Path:
    """The configuration, with sagas that exist: one has ended, the other waits for its handler."""
    daemon.post("/v1/definitions", (HERE / "definition.yaml").read_text(encoding="utf-8"), "application/yaml")
    ended = daemon.post("/v1/sagas/sample?wait=20s", "0", "application/json")["id"]
    waiting = daemon.post("/v1/sagas/sample", "1", "application/json")["id"]
    words = {"sagas": [ended, waiting], "ended": [ended], "names": ["sample"]}
    text = (HERE / "schemathesis.toml").read_text(encoding="utf-8")
    for name, values in words.items():
        text += f"\n[dictionaries.{name}]\nvalues = {json.dumps(values)}\n"
    text += bound(OF_A_SAGA, "path.id", "sagas") + bound(["listCompensations"], "path.saga", "sagas")
    text += bound(["waitForSaga"], "path.id", "ended") + bound(["startSaga"], "path.id", "names")
    text += bound(["showDefinition"], "path.name", "names")
    file = folder / "schemathesis.toml"
    file.write_text(text, encoding="utf-8")
    return file


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--atoned", required=True)
    parser.add_argument("--openapi", required=True, type=Path)
    parser.add_argument("--work", required=True, type=Path)
    arguments = parser.parse_args()
    work = arguments.work.resolve()
    program = environment(work / "venv")
    folder = work / "run"
    daemon = Daemon(arguments.atoned, folder)
    try:
        ran = subprocess.run([program, "--config-file", settings(daemon, folder), "run", arguments.openapi.resolve(), "--url", daemon.url,
                              "--seed", str(SEED), "--max-examples", str(EXAMPLES), "--continue-on-failure", "--no-color"],
                             cwd=folder, check=False)
        alive = daemon.process.poll() is None
    finally:
        code = daemon.stop()
    if not alive or code != 0:
        print(f"atoned ended by itself or not well ({code}):\n{daemon.log.read_text()[-4000:]}")
        return 1
    return ran.returncode


if __name__ == "__main__":
    sys.exit(main())
