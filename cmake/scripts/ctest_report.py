#!/usr/bin/env python3
"""Says what a ctest run found: failed tests with their last lines, skipped tests with their reasons, and the counts.

    ctest_report.py [--skipped-fail] [--counts FILE] REPORT.xml

Exit status 1 when a test failed (with --skipped-fail: or was skipped, or never ran, but for those of MAY_SKIP).
"""

import argparse
import re
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass

FAILURES_SHOWN_MAX = 20
LINES_SHOWN_MAX = 40
# Tests that a machine of continuous integration can't run: name, and how the reason must begin. Nothing else may be skipped there.
MAY_SKIP = ((re.compile(r"^features_cuda_device_test/features_cuda\.\w+$"), "skipped, because there is no CUDA device: "),)
SKIP_MARK = re.compile(r"^(?:.*: Skipped|\[\s+SKIPPED \].*|Skipped\b.*)$")


@dataclass
class Outcome:
    name: str
    state: str  # passed, failed, skipped
    text: str


def skip_reason(text: str) -> str:
    """The line after googletest's `file:line: Skipped`; else the first line that is not googletest's own."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for at, line in enumerate(lines):
        if line.endswith(": Skipped") and at + 1 < len(lines):
            return lines[at + 1]
    plain = [line for line in lines if not SKIP_MARK.match(line) and not re.match(r"^(\[|Note: |Running main)", line)]
    return plain[0] if plain else "no reason given"


def may_be_skipped(one: Outcome) -> bool:
    return any(name.match(one.name) and skip_reason(one.text).startswith(reason) for name, reason in MAY_SKIP)


def read_report(path: str) -> list[Outcome]:
    outcomes = []
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        text = case.findtext("system-out") or ""
        status = case.get("status")
        if status == "run" and case.find("failure") is None and case.find("skipped") is None:
            state = "passed"
        elif case.find("skipped") is not None or status in ("notrun", "disabled"):
            state = "skipped"
            text = text or (case.find("skipped").get("message") if case.find("skipped") is not None else "") or ""
        else:
            state = "failed"
        outcomes.append(Outcome(case.get("name"), state, text))
    return outcomes


def print_failures(failed: list[Outcome]) -> None:
    for one in failed[:FAILURES_SHOWN_MAX]:
        print(f"  FAILED {one.name}")
        for line in one.text.splitlines()[-LINES_SHOWN_MAX:]:
            print(f"    {line}")
    if len(failed) > FAILURES_SHOWN_MAX:
        print(f"  and {len(failed) - FAILURES_SHOWN_MAX} more:")
        for one in failed[FAILURES_SHOWN_MAX:]:
            print(f"  FAILED {one.name}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--skipped-fail", action="store_true", help="a skipped test is a failure")
    parser.add_argument("--counts", help="append `PASSED FAILED` to this file")
    parser.add_argument("report")
    arguments = parser.parse_args()

    outcomes = read_report(arguments.report)
    by_state = {state: [one for one in outcomes if one.state == state] for state in ("passed", "failed", "skipped")}
    print_failures(by_state["failed"])
    for one in by_state["skipped"]:
        print(f"  skipped {one.name}: {skip_reason(one.text)}")
    unwanted = [one for one in by_state["skipped"] if arguments.skipped_fail and not may_be_skipped(one)]
    failed = len(by_state["failed"]) + len(unwanted)
    print(f"  {len(outcomes)} tests: {len(by_state['passed'])} passed, {len(by_state['failed'])} failed, "
          f"{len(by_state['skipped'])} skipped{f' ({len(unwanted)} of them counted as failed)' if unwanted else ''}")
    if not outcomes:
        print("  no test ran: expected at least one")
    if arguments.counts:
        with open(arguments.counts, "a", encoding="utf-8") as out:
            out.write(f"{len(by_state['passed'])} {failed}\n")
    return 1 if failed or not outcomes else 0


if __name__ == "__main__":
    sys.exit(main())
