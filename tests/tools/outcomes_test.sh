#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What counts as passed, failed and skipped where the tests of a file ran in one process.
set -euo pipefail
OMEN_ROOT=$(cd "$(dirname "$0")/../.." && pwd)
. "$OMEN_ROOT/tools/setup/suite.sh"
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
mkdir "$directory/cases"

cat >"$directory/report.xml" <<'XML'
<testsuite name="Linux-c++" tests="6">
  <testcase name="alone" classname="alone" time="0.1" status="run"><system-out>name="x"</system-out></testcase>
  <testcase name="needs_gpu" classname="needs_gpu" time="0.1" status="notrun"/>
  <testcase name="table_test" classname="table_test" time="0.1" status="run"/>
  <testcase name="graph_test" classname="graph_test" time="0.1" status="fail"><failure message=""/></testcase>
  <testcase name="crash_test" classname="crash_test" time="0.1" status="fail"><failure message=""/></testcase>
  <testcase name="leak_test" classname="leak_test" time="0.1" status="fail"><failure message=""/></testcase>
</testsuite>
XML
cat >"$directory/cases/table_test.xml" <<'XML'
<testsuites tests="2" name="AllTests"><testsuite name="Table" tests="2">
  <testcase name="Empty" file="a.cpp" line="1" status="run" result="completed" time="0" classname="Table" />
  <testcase name="Large" file="a.cpp" line="2" status="run" result="skipped" time="0" classname="Table"><skipped message="a.cpp:2"/></testcase>
</testsuite></testsuites>
XML
cat >"$directory/cases/graph_test.xml" <<'XML'
<testsuites tests="2"><testsuite name="Graph">
  <testcase name="Nodes" status="run" result="completed" classname="Graph"><failure message="one"/><failure message="two"/></testcase>
  <testcase name="Edges" status="run" result="completed" classname="Graph" />
</testsuite></testsuites>
XML
# Its cases passed, the process did not.
cat >"$directory/cases/leak_test.xml" <<'XML'
<testsuites tests="1"><testsuite name="Leak">
  <testcase name="One" status="run" result="completed" classname="Leak" />
</testsuite></testsuites>
XML

diff -u - <(outcomes "$directory/report.xml" "$directory/cases") <<'TEXT'
passed alone
skipped needs_gpu
passed table_test.Table.Empty
skipped table_test.Table.Large
failed graph_test.Graph.Nodes
passed graph_test.Graph.Edges
failed crash_test
passed leak_test.Leak.One
failed leak_test
TEXT

OMEN_TOTALS=$directory/totals
outcomes "$directory/report.xml" "$directory/cases" >"$directory/outcomes"
count_results "$directory/outcomes"
grep -qx '4 3 2' "$OMEN_TOTALS"
if check_skips "$directory/outcomes" >"$directory/said"; then
  echo "skips that nobody expects were accepted"
  exit 1
fi
grep -q '^unexpected skip: table_test.Table.Large' "$directory/said"
