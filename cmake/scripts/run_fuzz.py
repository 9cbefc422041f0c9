#!/usr/bin/env python3
"""Runs every fuzz target of a build for some seconds, from its corpus; what it finds new stays in the build folder.

    run_fuzz.py [--seconds N] [--counts FILE] BUILD

The build lists its targets in fuzz_targets.txt, one a line: program, tab, corpus folder. Exit status 1 when one crashed.
"""

import argparse
import subprocess
import sys
from pathlib import Path

MEMORY_MAX_MIB = 2048
INPUT_SECONDS_MAX = 10
LINES_SHOWN_MAX = 40


def run_one(program: Path, corpus: Path, seconds: int, work: Path) -> bool:
    found = work / "found" / program.name
    crashes = work / "crashes" / program.name
    found.mkdir(parents=True, exist_ok=True)
    crashes.mkdir(parents=True, exist_ok=True)
    command = [str(program), f"-max_total_time={seconds}", f"-rss_limit_mb={MEMORY_MAX_MIB}", f"-timeout={INPUT_SECONDS_MAX}",
               f"-artifact_prefix={crashes}/", "-print_final_stats=1", str(found)]
    if corpus.is_dir():
        command.append(str(corpus))
    ended = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
    if ended.returncode != 0:
        print(f"  FAILED {program.name} (exit status {ended.returncode})")
        for line in ended.stdout.splitlines()[-LINES_SHOWN_MAX:]:
            print(f"    {line}")
        return False
    units = [line.split()[-1] for line in ended.stdout.splitlines() if "stat::number_of_executed_units" in line]
    print(f"  {program.name}: {units[0] if units else '?'} inputs in {seconds} s, corpus {len(list(corpus.glob('*')))}")
    return True


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--counts", help="append `PASSED FAILED` to this file")
    parser.add_argument("build", type=Path)
    arguments = parser.parse_args()

    listed = arguments.build / "fuzz_targets.txt"
    rows = [line.split("\t") for line in listed.read_text(encoding="utf-8").splitlines()] if listed.exists() else []
    if not rows:
        print("  no fuzz target in this build")
    results = [run_one(Path(program), Path(corpus), arguments.seconds, arguments.build / "fuzz") for program, corpus in rows]
    if arguments.counts:
        with open(arguments.counts, "a", encoding="utf-8") as out:
            out.write(f"{sum(results)} {len(results) - sum(results)}\n")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
