#!/usr/bin/env python3
"""The checks can fail: for each rule a planted fault that it must find, beside the right form that it must let pass."""

import shutil
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import check_docs  # noqa: E402
import check_tree  # noqa: E402
from cpp_text import Reader  # noqa: E402


def in_body(line: str) -> str:
    return "awaitable<void> run(int a) {\n  " + line + "\n}\n"


LONG = "void f() {\n" + "  g();\n" * 70 + "}\n"
FITTING = "void f() {\n" + "  g();\n" * 68 + "}\n"
LONG_PYTHON = "def f():\n" + "    g()\n" * 70

# rule -> (files with the fault, files without it)
PLANTED = {
    "layers": (
        {"sagas/include/atone/s.hpp": "", "schemas/src/a.cpp": "#include <atone/s.hpp>\n"},
        {"schemas/include/atone/s.hpp": "", "sagas/src/a.cpp": "#include <atone/s.hpp>\n"}),
    "vendor_headers": (
        {"compensation/src/memory/a.cpp": "#include <pqxx/pqxx>\n"},
        {"compensation/src/postgres/a.cpp": "#include <pqxx/pqxx>\n"}),
    "public_headers": (
        {"sagas/include/atone/a.hpp": "#include <boost/asio/io_context.hpp>\n"},
        {"coordinator/include/atone/a.hpp": "#include <boost/asio/io_context.hpp>\n#include <atone/b.hpp>\n#include <string_view>\n"}),
    "pure": (
        {"sagas/src/a.cpp": "auto t = std::chrono::system_clock::now();\n"},
        {"sagas/src/a.cpp": "// not system_clock::now\nauto t = clock.now();\n"}),
    "no_sleep": (
        {"tests/unit/a.cpp": "std::this_thread::sleep_for(1s);\n"},
        {"tests/unit/a.cpp": "// no sleep_for here\n"}),
    "no_hosts": (
        {"demo": "pip install --index-url https://" + "py" + "pi.org/simple\n"},
        {"demo": "pip install lifetimes\n"}),
    "no_machine_paths": (
        {"a.cmake": "set(x /" + "work/main)\n"},
        {"a.cmake": "set(x ${root}/work/main)\n", "b.md": "GET /v1/home/x or C:/root\n"}),
    "function_length": (
        {"sagas/src/a.cpp": LONG},
        {"sagas/src/a.cpp": FITTING}),
    "heavy_units": (
        {f"coordinator/src/http/{n}.cpp": '#include "b.hpp"\n' for n in range(9)} | {"coordinator/src/http/b.hpp": "#include <boost/beast.hpp>\n"},
        {f"coordinator/src/http/{n}.cpp": '#include "b.hpp"\n' for n in range(8)} | {"coordinator/src/http/b.hpp": "#include <boost/beast.hpp>\n"}),
    "listed": (
        {"sagas/src/a.cpp": "", "sagas/CMakeLists.txt": "target_sources(x PRIVATE src/ba.cpp)\n"},
        {"sagas/src/a.cpp": "", "sagas/CMakeLists.txt": "target_sources(x PRIVATE src/a.cpp)\n"}),
    "co_await": (
        {"coordinator/src/a.cpp": in_body("auto x = a ? co_await f() : 0;")},
        {"coordinator/src/a.cpp": in_body("auto x = co_await f(std::chrono::seconds{5}, [] { return 1; }, v[a]);")}),
}
TRAPS = (
    "co_await f(agg{1, 2});",
    "co_await f({1, 2});",
    "auto x = agg{co_await f()};",
    "co_await f([&] { return a; });",
    "co_return a ? 1 : co_await f();",
    'co_await f(std::vector<std::string>{"a", "b"});',
    "if (co_await f(agg{a})) { g(); }",
    "co_await f([this, x](int n) -> bool { return n == x; }, 1);",
    "co_spawn(io, [&]() -> awaitable<void> { co_await f(agg{1}); }, detached);",
)
HARMLESS = (
    "co_await f(business_key{a}, 1);",
    "agg value{1, 2};\n  co_await f(value);",
    "auto y = a ? 1 : 0;\n  co_await f(y);",
    "auto h = [&] { return a; };\n  co_await f(std::move(h));",
    "for (auto x : co_await f()) { use(agg{x}); }",
    "co_spawn(io, [&]() -> awaitable<void> { co_await f(); }, detached);",
    "while (true) { auto v = co_await f(); if (v) { use({v}); } }",
    "co_await f(\"a ? b : c {\");  // agg{1} ?",
    "switch (co_await f()) { case 1: { g(); break; } default: { break; } }",
)


class Rules(unittest.TestCase):
    def setUp(self):
        self.root = Path(tempfile.mkdtemp())

    def tearDown(self):
        shutil.rmtree(self.root)

    def findings(self, rule: str, files: dict[str, str]) -> list:
        folder = Path(tempfile.mkdtemp(dir=self.root))
        for path, text in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8")
        return check_tree.RULES[rule](check_tree.Tree(folder))

    def test_each_rule_finds_its_fault_and_only_that(self):
        self.assertEqual(set(PLANTED) | {"format"}, set(check_tree.RULES))
        for rule, (wrong, right) in PLANTED.items():
            with self.subTest(rule):
                self.assertTrue(self.findings(rule, wrong))
                self.assertEqual([], self.findings(rule, right))

    def test_format(self):
        if not shutil.which("clang-format-19"):
            self.skipTest("clang-format-19 was not found")
        style = {".clang-format": "BasedOnStyle: Google\n"}
        self.assertTrue(self.findings("format", style | {"a.cpp": "int  x=1;\n"}))
        self.assertEqual([], self.findings("format", style | {"a.cpp": "int x = 1;\n"}))

    def test_every_trap_of_the_compiler(self):
        for line in TRAPS:
            with self.subTest(line):
                self.assertEqual(1, len(self.findings("co_await", {"a.cpp": in_body(line)})))
        for line in HARMLESS:
            with self.subTest(line):
                self.assertEqual([], self.findings("co_await", {"a.cpp": in_body(line)}))

    def test_python_functions_are_measured_too(self):
        self.assertTrue(self.findings("function_length", {"tests/a.py": LONG_PYTHON}))

    def test_includes_with_dots_are_refused(self):
        self.assertTrue(self.findings("layers", {"sagas/src/a.cpp": '#include "../../schemas/src/x.hpp"\n'}))


class Text(unittest.TestCase):
    def test_functions_of_many_shapes(self):
        source = """
namespace a {
struct s { int x{1}; s() : x{2} {} int get() const noexcept { return x; } };
auto f(int n) -> std::vector<int> { return {n}; }
template <class T> T g(T t) requires true
{ return t; }
TEST(suite, name) { EXPECT_EQ(1, f(2)[0]); }
enum class e { one, two };
int const table[] = {1, 2, 3};
}  // namespace a
"""
        self.assertEqual({"s", "get", "f", "g", "TEST"}, {one.name for one in Reader(source).functions})

    def test_strings_and_comments_hold_no_code(self):
        self.assertEqual([], Reader('// void f() {\n/* { */ char const* s = R"x(} { ;)x";\n').functions)


class Docs(unittest.TestCase):
    def test_broken_links_and_anchors_are_found(self):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            (root / "README.md").write_text("# Top\n[a](b.md) [b](missing.md) [c](#top) [d](#nowhere) [e](b.md#second-part)\n`./gone.sh`\n",
                                            encoding="utf-8")
            (root / "b.md").write_text("## Second part\n", encoding="utf-8")
            found = [message for _, _, message in check_docs.broken_links(root, ["README.md", "b.md"])]
            self.assertEqual(2, len(found), found)


if __name__ == "__main__":
    unittest.main(verbosity=1)
