# SPDX-License-Identifier: Apache-2.0
# Shared by the tests of examples/external; expects omen, root and python to be set.

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME=$work XDG_CACHE_HOME=$work/cache XDG_DATA_HOME=$work/data XDG_CONFIG_HOME=$work/config

# compare_example SCRIPT PACKAGES TASK: the program must answer every row, and beat a constant.
compare_example() {
  "$omen" compare baseline.mean \
    "external.program@script=$root/examples/external/$1,command=$python,env=PYTHONPATH=$2" \
    --task "$3" --runs-dir "$work/runs" --json >"$work/compare.json"
  "$python" - "$work/compare.json" <<'PYTHON'
import json, sys

report = json.load(open(sys.argv[1]))
labels = [contestant["label"] for contestant in report["contestants"]]
place = next(i for i, label in enumerate(labels) if label.startswith("external.program"))
for target in report["tasks"][0]["targets"]:
    result = target["contestants"][place]
    print(labels[place], result)
    assert result["coverage"]["answered"] == result["coverage"]["workloads"], "rows are missing"
    assert result["versus_baseline"]["verdict"] == "BETTER", "it does not beat a constant"
PYTHON
}
