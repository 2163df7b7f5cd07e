# SPDX-License-Identifier: Apache-2.0
"""tools/find_alike finds what stands twice, and only that."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(os.environ["FIND_ALIKE"])

BLOCK = """
std::vector<double> scaled(const std::vector<double>& values, double factor) {
  std::vector<double> out;
  out.reserve(values.size());
  for (const double value : values) {
    if (value < 0) throw Error(OMEN_INVALID_DATA, "value is below zero");
    out.push_back(value * factor);
  }
  std::sort(out.begin(), out.end());
  return out;
}
"""
RENAMED = BLOCK.replace("out", "result").replace("scaled", "stretched").replace("is below", "under")
TABLE = "constexpr Range kRanges[] = {" + "{0x1, 0x2}, " * 40 + "};\n"


class FindAlike(unittest.TestCase):
    def run_tool(self, files, reasons=""):
        with tempfile.TemporaryDirectory() as directory:
            root = pathlib.Path(directory)
            for name in ("host", "plugins", *files):
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                if name in files:
                    (root / name).write_text(files[name])
                else:
                    (root / name).mkdir(exist_ok=True)
            (root / "list.txt").write_text(reasons)
            return subprocess.run(
                [sys.executable, TOOL, "--root", root, "--list", root / "list.txt"],
                capture_output=True, text=True, check=False)

    def test_finds_a_renamed_copy_in_two_plugins(self):
        run = self.run_tool({"plugins/a/src/x.cpp": "int other;\n" + BLOCK,
                             "plugins/b/src/y.cpp": RENAMED})
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("plugins/a/src/x.cpp:3 and plugins/b/src/y.cpp:2: 8 alike", run.stdout)
        self.assertIn("sdk/", run.stderr)

    def test_finds_a_copy_in_plugin_and_host(self):
        run = self.run_tool({"host/src/x.cpp": BLOCK, "plugins/b/src/y.hpp": BLOCK})
        self.assertIn("host/src/x.cpp:2 and plugins/b/src/y.hpp:2", run.stdout)

    def test_one_plugin_and_the_sdk_may_repeat(self):
        run = self.run_tool({"plugins/a/src/x.cpp": BLOCK, "plugins/a/src/y.cpp": BLOCK,
                             "sdk/learn/z.cpp": BLOCK})
        self.assertEqual((run.returncode, run.stdout), (0, ""))

    def test_few_statements_are_no_find(self):
        short = "\n".join(BLOCK.splitlines()[:5])
        run = self.run_tool({"plugins/a/x.cpp": short, "plugins/b/x.cpp": short})
        self.assertEqual(run.returncode, 0)

    def test_other_logic_of_the_same_shape_is_no_find(self):
        other = BLOCK.replace("values", "rows").replace("value", "row")
        other = other.replace("out", "kept").replace("sort", "erase").replace("reserve", "resize")
        other = other.replace("factor", "limit").replace("push_back", "emplace").replace(
            "OMEN_INVALID_DATA", "kBad").replace("vector", "deque").replace("double", "Row")
        run = self.run_tool({"plugins/a/x.cpp": BLOCK, "plugins/b/x.cpp": other})
        self.assertEqual((run.returncode, run.stdout), (0, ""))

    def test_tables_of_data_are_no_statements(self):
        run = self.run_tool({"plugins/a/x.cpp": TABLE, "plugins/b/x.cpp": TABLE})
        self.assertEqual(run.returncode, 0)

    def test_a_stated_reason_is_taken_and_a_stale_one_is_not(self):
        files = {"plugins/a/x.cpp": BLOCK, "plugins/b/x.cpp": BLOCK}
        reason = "plugins/b/x.cpp plugins/a/x.cpp speaks for itself\n"
        self.assertEqual(self.run_tool(files, reason).returncode, 0)
        files["plugins/b/x.cpp"] = "int nothing;\n"
        run = self.run_tool(files, reason)
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("take them out", run.stdout)

    def test_an_entry_needs_a_reason(self):
        run = self.run_tool({}, "# fine\nplugins/a/x.cpp plugins/b/x.cpp\n")
        self.assertIn("list.txt:2: write PATH PATH REASON", run.stderr)


if __name__ == "__main__":
    unittest.main()
