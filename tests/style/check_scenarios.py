#!/usr/bin/env python3
"""Every test that tests/SCENARIOS.md names exists, and every scenario from B-01 to B-76 stands in it.

Usage: check_scenarios.py ROOT        exits 1 and says what is missing
       check_scenarios.py --self-test  proves that it can fail
"""
import pathlib
import re
import sys

TEST = re.compile(r"\bTEST(?:_F|_P)?\(\s*(\w+)\s*,\s*(\w+)\s*\)")
NAMED = re.compile(r"`(\w+)\.(\w+)`")
SCENARIO = re.compile(r"B-(\d\d)(?: … B-(\d\d))?")
SCENARIOS = 76


def problems(table: str, sources: list) -> list:
    known = {match for text in sources for match in TEST.findall(text)}
    found = [f"no test {suite}.{name}" for suite, name in NAMED.findall(table) if (suite, name) not in known]
    covered = set()
    for line in table.splitlines():
        if not line.startswith("| B-"):
            continue
        for first, last in SCENARIO.findall(line.split("|")[1]):
            covered.update(range(int(first), int(last or first) + 1))
    found += [f"B-{n:02} is not in the table" for n in range(1, SCENARIOS + 1) if n not in covered]
    return found


def self_test() -> int:
    table = "| B-01 … B-76 | all | `suite.there` `suite.missing` |"
    said = problems(table, ["TEST(suite, there) {}"])
    if said != ["no test suite.missing"] or len(problems("", [])) != SCENARIOS:
        print("check_scenarios can't fail:", said)
        return 1
    return 0


def main() -> int:
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    root = pathlib.Path(sys.argv[1])
    sources = [path.read_text(encoding="utf-8") for path in (root / "tests").rglob("*.cpp")]
    said = problems((root / "tests" / "SCENARIOS.md").read_text(encoding="utf-8"), sources)
    print("\n".join(said))
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
