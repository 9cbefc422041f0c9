#!/usr/bin/env python3
"""Holds the rules of this tree that a compiler does not.

    check_tree.py [--rule NAME]… [--counts FILE] [--skipped-fail] ROOT

Prints `file:line: rule: what was found, what was expected`. Exit status 1 on a finding, 77 when the only rule asked for could
not run. Standard library only.
"""

import argparse
import ast
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from cpp_text import Reader, capturing_lambda_at

PRODUCT = ("schemas", "sagas", "compensation", "feature_recompute", "coordinator")
MAY_INCLUDE = {
    "schemas": {"schemas"},
    "sagas": {"schemas", "sagas"},
    "compensation": {"schemas", "sagas", "compensation"},
    "feature_recompute": {"schemas", "feature_recompute"},
    "coordinator": set(PRODUCT),
}
# Library header -> the folders that may include it.
ADAPTERS = {
    r"yaml-cpp/": ["schemas/yaml/src"],
    r"re2/": ["sagas/src/json_schema", "sagas/src/expr"],
    r"pqxx/|libpq": ["compensation/src/postgres"],
    r"sqlite3\.h": ["compensation/src/sqlite"],
    r"librdkafka/": ["coordinator/src/transport/kafka"],
    r"cuda|cub/|thrust/": ["feature_recompute/src/cuda"],
    r"spdlog/|fmt/": ["coordinator/src/daemon", "coordinator/src/log"],
    r"prometheus/": ["coordinator/src/api", "coordinator/src/metrics"],
    r"CLI/": ["coordinator/src/cli", "coordinator/src/daemon"],
    r"openssl/": ["schemas/src", "coordinator/src"],
    r"boost/json": ["schemas/src/json"],
    r"boost/url": ["coordinator/src/http"],
    r"boost/beast": ["coordinator/src/http"],
    r"boost/asio": ["coordinator"],
}
IN_PUBLIC_HEADERS = {"coordinator": r"boost/asio"}
PURE = ("schemas", "sagas", "feature_recompute")
IMPURE = re.compile(r"\b(?:system_clock|steady_clock|high_resolution_clock)::now|\bclock_gettime\b|\brandom_device\b|\bgetenv\b"
                    r"|#include <(?:thread|fstream|iostream|mutex|future)>|\bco_await\b")
# The feature store has a writer thread and waits for it; what time it is comes in there too.
THREADS = re.compile(r"#include <(?:thread|mutex|future)>")
THREADED = "feature_recompute/src/service/"
HEAVY = re.compile(r"boost/beast|CLI/")
HEAVY_MAX = 8
FUNCTION_LINES_MAX = 70
SLEEP = re.compile(r"\bsleep_(?:for|until)\b|\bu?sleep\s*\(|\bnanosleep\b|^\s*sleep [\d$]|\btime\.sleep\b")
STARTS_SERVER = re.compile(r"tests/support/\w+_server\.\w+$")
REGISTRY = re.compile(r"pypi\.org|python[h]osted|registry\.npmjs|repo1?\.maven|maven\.apache|proxy\.golang|deb\.debian|debian\.org/debian"
                      r"|arti[f]actory|crates\.io/api", re.I)
MACHINE_PATH = re.compile(r"(?<![\w.}])/(?:work|home|root|Users)/[\w.]|/tmp/bash[_]jobs")
# Types with a constructor: g++ 12 is right on their temporaries, braces or not.
CONSTRUCTED = {"hours", "minutes", "seconds", "milliseconds", "microseconds", "nanoseconds", "duration", "business_key", "step_path",
               "saga_id", "node_id", "attempt", "sequence", "epoch", "batch_number", "definition_version", "error"}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')
CPP = (".cpp", ".hpp", ".cu", ".cuh")
UNITS = (".cpp", ".cu")


@dataclass
class Finding:
    file: str
    line: int
    message: str


class Skipped(Exception):
    """The rule could not run here; the text says why."""


class Tree:
    """The files of one checkout, read once."""

    def __init__(self, root: Path):
        self.root = root
        self.paths = sorted(self.list_files())
        self.texts: dict[str, str] = {}
        self.readers: dict[str, Reader] = {}

    def list_files(self) -> list[str]:
        if (self.root / ".git").exists():
            listed = subprocess.run(["git", "-C", str(self.root), "ls-files", "-co", "--exclude-standard"], capture_output=True,
                                    text=True, check=True)
            return [path for path in listed.stdout.splitlines() if (self.root / path).is_file()]
        return [str(path.relative_to(self.root)) for path in self.root.rglob("*")
                if path.is_file() and not {"build", "__pycache__", ".git"} & set(path.relative_to(self.root).parts)]

    def text(self, path: str) -> str:
        if path not in self.texts:
            self.texts[path] = (self.root / path).read_text(encoding="utf-8", errors="replace")
        return self.texts[path]

    def lines(self, path: str) -> list[tuple[int, str]]:
        return list(enumerate(self.text(path).splitlines(), 1))

    def reader(self, path: str) -> Reader:
        if path not in self.readers:
            self.readers[path] = Reader(self.text(path))
        return self.readers[path]

    def cpp(self, folders: tuple[str, ...] = ()) -> list[str]:
        return [path for path in self.paths if path.endswith(CPP) and (not folders or path.split("/")[0] in folders)]

    def includes(self, path: str) -> list[tuple[int, str]]:
        return [(line, match.group(1)) for line, text in self.lines(path) if (match := INCLUDE.match(text))]


def rule_layers(tree: Tree) -> list[Finding]:
    """Layers point one way: schemas <- sagas <- compensation <- coordinator; feature_recompute needs schemas only."""
    owner = {path.split("/include/", 1)[1]: path.split("/")[0] for path in tree.cpp(PRODUCT) if "/include/" in path}
    found = []
    for path in tree.cpp(PRODUCT):
        folder = path.split("/")[0]
        for line, header in tree.includes(path):
            if ".." in header.split("/"):
                found.append(Finding(path, line, f"includes {header}: expected no '..' in an include"))
            elif header in owner and owner[header] not in MAY_INCLUDE[folder]:
                allowed = ", ".join(sorted(MAY_INCLUDE[folder]))
                found.append(Finding(path, line, f"includes {header} of {owner[header]}: {folder} may use {allowed} only"))
    return found


def rule_vendor_headers(tree: Tree) -> list[Finding]:
    """A library's headers stay in its adapter folder."""
    found = []
    for path in tree.cpp(PRODUCT):
        for line, header in tree.includes(path):
            for pattern, folders in ADAPTERS.items():
                if re.match(pattern, header) and not any(path.startswith(folder + "/") for folder in folders):
                    found.append(Finding(path, line, f"includes {header}: expected only in {' or '.join(folders)}"))
    return found


def rule_public_headers(tree: Tree) -> list[Finding]:
    """No library header in include/atone, but Asio in coordinator's."""
    found = []
    for path in tree.cpp(PRODUCT):
        if "/include/" not in path:
            continue
        allowed = IN_PUBLIC_HEADERS.get(path.split("/")[0])
        for line, header in tree.includes(path):
            is_ours_or_standard = header.startswith("atone/") or re.fullmatch(r"[a-z_0-9]+", header)
            if not is_ours_or_standard and not (allowed and re.match(allowed, header)):
                found.append(Finding(path, line, f"includes {header}: a public header may use atone's and the standard library's only"))
    return found


def rule_pure(tree: Tree) -> list[Finding]:
    """No clock, randomness, environment, thread or I/O in schemas, sagas, feature_recompute (but its src/threads and src/cuda; threads in src/service)."""
    return [Finding(path, line, f"'{match.group().strip()}': this folder is pure; pass it in instead")
            for path in tree.cpp(PURE) if "/src/cuda/" not in path and "/src/threads/" not in path
            for line, text in tree.lines(path) if (match := IMPURE.search(text.split("//")[0]))
            if not (path.startswith(THREADED) and THREADS.match(match.group()))]


def co_await_trap(words: list[str]) -> str:
    """What of g++ 12's traps stands in a full expression with co_await; empty: none."""
    if "co_await" not in words:
        return ""
    if "?" in words:
        return "?: and co_await in one expression"
    if capturing_lambda_at(words):
        return "a capturing lambda and co_await in one expression"
    for at, word in enumerate(words):
        if word == "{" and (at == 0 or words[at - 1] not in CONSTRUCTED):
            return "a braced temporary and co_await in one expression"
    return ""


def rule_co_await(tree: Tree) -> list[Finding]:
    """g++ 12.2 miscompiles some full expressions with co_await: name the value in a statement of its own."""
    found = []
    for path in tree.cpp():
        if "co_await" not in tree.text(path):
            continue
        for statement in tree.reader(path).statements:
            trap = co_await_trap(statement.words())
            if trap:
                found.append(Finding(path, statement.line, f"{trap}: g++ 12 frees twice; expected a named value in a statement of its own"))
    return found


def rule_no_sleep(tree: Tree) -> list[Finding]:
    """Tests wait for what they expect, never for time to pass. Helpers that start a foreign server may pace their questions to it."""
    return [Finding(path, line, f"'{match.group().strip()}': a test must not sleep")
            for path in tree.paths if path.startswith("tests/") and not path.startswith("tests/style/") and not STARTS_SERVER.match(path) and is_program(path)
            for line, text in tree.lines(path) if (match := SLEEP.search(text.split("//")[0]))]


def is_program(path: str) -> bool:
    return path.endswith(CPP + (".py", ".sh", ".cmake")) or "." not in path.rsplit("/", 1)[-1]


def rule_no_hosts(tree: Tree) -> list[Finding]:
    """Registries are reached through their clients' own settings: no host of one is named."""
    return [Finding(path, line, f"names '{match.group()}': expected no registry host")
            for path in tree.paths for line, text in tree.lines(path) if (match := REGISTRY.search(text))]


def rule_no_machine_paths(tree: Tree) -> list[Finding]:
    """Nothing depends on where somebody's checkout lies."""
    return [Finding(path, line, f"names '{match.group()}…': expected no absolute path of one machine")
            for path in tree.paths for line, text in tree.lines(path) if (match := MACHINE_PATH.search(text))]


def python_functions(text: str) -> list[tuple[str, int, int]]:
    return [(node.name, node.lineno, node.end_lineno) for node in ast.walk(ast.parse(text))
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]


def rule_function_length(tree: Tree) -> list[Finding]:
    """A function fits on a screen."""
    found = []
    for path in tree.paths:
        functions = []
        if path.endswith(CPP):
            functions = [(one.name, one.first_line, one.last_line) for one in tree.reader(path).functions]
        elif path.endswith(".py"):
            functions = python_functions(tree.text(path))
        found += [Finding(path, first, f"{name} has {last - first + 1} lines: expected at most {FUNCTION_LINES_MAX}")
                  for name, first, last in functions if last - first + 1 > FUNCTION_LINES_MAX]
    return found


def sees_heavy(tree: Tree, path: str, seen: set[str]) -> bool:
    """Whether the file includes a heavy header, itself or through a header of this tree that is not public."""
    seen.add(path)
    for _, header in tree.includes(path):
        if HEAVY.match(header):
            return True
        for other in tree.paths:
            if other not in seen and other.endswith("/" + header) and sees_heavy(tree, other, seen):
                return True
    return False


def rule_heavy_units(tree: Tree) -> list[Finding]:
    """Beast and CLI11 cost many seconds a translation unit: few may see them."""
    heavy = [path for path in tree.cpp(PRODUCT + ("examples",)) if path.endswith(".cpp") and sees_heavy(tree, path, set())]
    if len(heavy) <= HEAVY_MAX:
        return []
    return [Finding(path, 1, f"one of {len(heavy)} translation units that see Beast or CLI11: expected at most {HEAVY_MAX}") for path in heavy]


def is_listed(tree: Tree, path: str, lists: list[str]) -> bool:
    """By its name in a list above it, or as the end of a path in any other."""
    file = Path(path)
    for one in lists:
        above = Path(one).parent in file.parents
        wanted = file.name if above else f"/{file.name}"
        before = r"(?<![\w.-])" if above else ""
        if re.search(rf"{before}{re.escape(wanted)}(?![\w.-])", tree.text(one)):
            return True
    return False


def rule_listed(tree: Tree) -> list[Finding]:
    """Every source stands in a CMake list, or it is neither built nor run."""
    lists = [path for path in tree.paths if path.endswith((".cmake", "CMakeLists.txt"))]
    return [Finding(path, 1, "stands in no CMake list") for path in tree.cpp() if path.endswith(UNITS) and not is_listed(tree, path, lists)]


def rule_format(tree: Tree) -> list[Finding]:
    """clang-format-19 has nothing to change."""
    program = shutil.which("clang-format-19")
    if not program:
        raise Skipped("clang-format-19 was not found")
    files = tree.cpp()
    if not files:
        return []
    ran = subprocess.run([program, "--dry-run", "--ferror-limit=1", "--style=file", *files], cwd=tree.root, capture_output=True,
                         text=True, check=False)
    places = [re.match(r"(\S+?):(\d+):\d+: (?:warning|error): code should be clang-formatted", line) for line in ran.stderr.splitlines()]
    first = {match.group(1): int(match.group(2)) for match in reversed([one for one in places if one])}
    if ran.returncode != 0 and not first:
        return [Finding(".clang-format", 1, ran.stderr.strip()[:500])]
    return [Finding(path, line, "not as clang-format-19 writes it") for path, line in sorted(first.items())]


RULES = {name.removeprefix("rule_"): function for name, function in sorted(globals().items()) if name.startswith("rule_")}


def run_rules(tree: Tree, names: list[str], skipped_fail: bool) -> tuple[int, int, int]:
    """(passed, failed, skipped); prints what was found."""
    passed = failed = skipped = 0
    for name in names:
        try:
            found = RULES[name](tree)
        except Skipped as why:
            print(f"  {name}: skipped, {why}{' (counted as failed)' if skipped_fail else ''}")
            skipped += 1
            continue
        for one in found:
            print(f"{one.file}:{one.line}: {name}: {one.message}")
        passed += not found
        failed += bool(found)
    return passed, failed + (skipped if skipped_fail else 0), skipped


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rule", action="append", choices=sorted(RULES), help="only this one")
    parser.add_argument("--counts", help="append `PASSED FAILED` to this file")
    parser.add_argument("--skipped-fail", action="store_true")
    parser.add_argument("root", type=Path)
    arguments = parser.parse_args()

    passed, failed, skipped = run_rules(Tree(arguments.root.resolve()), arguments.rule or list(RULES), arguments.skipped_fail)
    print(f"  {passed + failed} rules: {passed} passed, {failed} failed")
    if arguments.counts:
        with open(arguments.counts, "a", encoding="utf-8") as out:
            out.write(f"{passed} {failed}\n")
    if failed:
        return 1
    return 77 if skipped and not passed else 0


if __name__ == "__main__":
    sys.exit(main())
