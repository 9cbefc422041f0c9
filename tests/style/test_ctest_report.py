#!/usr/bin/env python3
"""What ./check says about a ctest run: counts, failures, skipped tests with their reasons, and skipped as failed in CI."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "cmake/scripts/ctest_report.py"
PASSED = '<testcase name="a" status="run"><system-out>fine</system-out></testcase>'
FAILED = '<testcase name="b" status="fail"><failure message=""/><system-out>expected 1, got 2</system-out></testcase>'
SKIPPED = ('<testcase name="c" status="notrun"><skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/><system-out>[ RUN      ] s.c\n'
           "store_test.cpp:12: Skipped\nno PostgreSQL on this machine\n[  SKIPPED ] s.c (0 ms)</system-out></testcase>")
NO_DEVICE = SKIPPED.replace('name="c"', 'name="features_cuda_device_test/features_cuda.compares"').replace(
    "no PostgreSQL on this machine", "skipped, because there is no CUDA device: no driver (error 35)")
NOT_BUILT = '<testcase name="d_NOT_BUILT" status="notrun"><skipped message="Unable to find executable"/></testcase>'


class Report(unittest.TestCase):
    def run_on(self, *cases: str, skipped_fail: bool = False) -> tuple[int, str, str]:
        with tempfile.TemporaryDirectory() as folder:
            report, counts = Path(folder, "r.xml"), Path(folder, "counts")
            report.write_text(f"<testsuite>{''.join(cases)}</testsuite>", encoding="utf-8")
            flags = ["--skipped-fail"] if skipped_fail else []
            ended = subprocess.run([sys.executable, str(SCRIPT), *flags, "--counts", str(counts), str(report)], capture_output=True, text=True,
                                   check=False)
            return ended.returncode, ended.stdout, counts.read_text(encoding="utf-8").strip()

    def test_all_passed(self):
        code, _, counts = self.run_on(PASSED, PASSED)
        self.assertEqual((0, "2 0"), (code, counts))

    def test_a_failure_is_shown_with_its_output(self):
        code, text, counts = self.run_on(PASSED, FAILED)
        self.assertEqual((1, "1 1"), (code, counts))
        self.assertIn("FAILED b", text)
        self.assertIn("expected 1, got 2", text)

    def test_no_test_at_all_is_a_failure(self):
        code, text, _ = self.run_on()
        self.assertEqual(1, code)
        self.assertIn("no test ran", text)

    def test_skipped_with_its_reason(self):
        code, text, counts = self.run_on(PASSED, SKIPPED)
        self.assertEqual((0, "1 0"), (code, counts))
        self.assertIn("skipped c: no PostgreSQL on this machine", text)

    def test_skipped_fails_in_ci(self):
        code, _, counts = self.run_on(PASSED, SKIPPED, NOT_BUILT, skipped_fail=True)
        self.assertEqual((1, "1 2"), (code, counts))

    def test_without_a_device_its_tests_may_be_skipped_in_ci_and_say_so(self):
        code, text, counts = self.run_on(PASSED, NO_DEVICE, skipped_fail=True)
        self.assertEqual((0, "1 0"), (code, counts))
        self.assertIn("there is no CUDA device: no driver (error 35)", text)

    def test_for_no_other_reason_and_no_other_test(self):
        other_reason = NO_DEVICE.replace("no CUDA device", "no time")
        other_test = NO_DEVICE.replace("features_cuda_device_test", "features_test")
        for case in (other_reason, other_test):
            code, _, counts = self.run_on(PASSED, case, skipped_fail=True)
            self.assertEqual((1, "1 1"), (code, counts))


if __name__ == "__main__":
    unittest.main(verbosity=1)
