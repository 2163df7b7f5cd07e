# SPDX-License-Identifier: Apache-2.0
# Shared by the checks of examples/; expects omen, root and python to be set.

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME=$work XDG_CACHE_HOME=$work/cache XDG_DATA_HOME=$work/data XDG_CONFIG_HOME=$work/config

# compare_example SCRIPT PACKAGES TASK: the program must answer every row, and beat a constant.
compare_example() {
  "$omen" compare baseline.mean \
    "external.program@script=$root/plugins/external/examples/$1,command=$python,env=PYTHONPATH=$2" \
    --task "$3" --runs-dir "$work/runs" --json >"$work/compare.json"
  "$python" - "$work/compare.json" <<'PYTHON'
import json, sys

report = json.load(open(sys.argv[1]))
for target in report["tasks"][0]["targets"]:
    result = next(r for r in target["results"] if r["contestant"].startswith("external.program"))
    print(result["contestant"], "median loss", result["median_loss"], target["loss_unit"])
    assert result["coverage"]["answered"] == result["coverage"]["workloads"], "rows are missing"
verdicts = [p["verdict"] for p in report["pairs"] if p["contestant"].startswith("external.program")]
assert verdicts and set(verdicts) == {"BETTER"}, f"it does not beat a constant: {verdicts}"
PYTHON
}
