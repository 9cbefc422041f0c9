#!/usr/bin/env python3
"""Holds the pages: every link inside the tree leads to a file (and a heading) that exists.

    check_docs.py [--counts FILE] ROOT
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)(?:\s+\"[^\"]*\")?\)|<img[^>]+src=\"([^\"]+)\"")
FENCE = re.compile(r"^(```|~~~)")


def pages_of(root: Path) -> list[str]:
    listed = subprocess.run(["git", "-C", str(root), "ls-files", "-co", "--exclude-standard", "*.md"], capture_output=True, text=True, check=True)
    return sorted(path for path in listed.stdout.splitlines() if (root / path).is_file())


def prose_lines(text: str) -> list[tuple[int, str]]:
    """Numbered lines outside code fences."""
    kept, fenced = [], False
    for number, line in enumerate(text.splitlines(), 1):
        if FENCE.match(line.strip()):
            fenced = not fenced
        elif not fenced:
            kept.append((number, line))
    return kept


def anchors_of(text: str) -> set[str]:
    """Headings as GitHub makes them into anchors."""
    found = set()
    for _, line in prose_lines(text):
        if match := re.match(r"#+\s+(.*?)\s*#*$", line):
            plain = re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", r"\1", match.group(1)).lower()
            found.add(re.sub(r"[^\w\- ]", "", plain).strip().replace(" ", "-"))
    return found


def broken_links(root: Path, pages: list[str]) -> list[tuple[str, int, str]]:
    found = []
    for page in pages:
        text = (root / page).read_text(encoding="utf-8")
        for number, line in prose_lines(text):
            for match in LINK.finditer(re.sub(r"`[^`]*`", "", line)):
                target = match.group(1) or match.group(2)
                if re.match(r"[a-z]+:", target):
                    continue
                path, _, anchor = target.partition("#")
                file = (root / page).parent / path if path else root / page
                if not file.exists():
                    found.append((page, number, f"links to {target}: there is no such file"))
                elif anchor and file.suffix == ".md" and anchor not in anchors_of(file.read_text(encoding="utf-8")):
                    found.append((page, number, f"links to {target}: there is no such heading"))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--counts", help="append `PASSED FAILED` to this file")
    parser.add_argument("root", type=Path)
    arguments = parser.parse_args()
    pages = pages_of(arguments.root)
    found = broken_links(arguments.root, pages)
    for page, number, message in found:
        print(f"{page}:{number}: {message}")
    bad_pages = len({page for page, _, _ in found})
    print(f"  {len(pages)} pages: {len(pages) - bad_pages} whole, {bad_pages} with broken links")
    if arguments.counts:
        with open(arguments.counts, "a", encoding="utf-8") as out:
            out.write(f"{len(pages) - bad_pages} {bad_pages}\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
