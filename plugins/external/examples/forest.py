# SPDX-License-Identifier: Apache-2.0
# A random forest of scikit-learn as a predictor: omen train external.program --script forest.py ...
import json, pathlib, sys

import numpy as np
from safetensors.numpy import load_file, save_file
from sklearn.ensemble import ExtraTreesRegressor

verb, folder = sys.argv[1], pathlib.Path(sys.argv[2])
task = json.loads((folder / "task.json").read_text())
tables = load_file(folder / "input.safetensors")
x = np.stack([tables[f"workloads/{name}"] for name in task["features"]], axis=1).astype(np.float32)
kept = folder / "state" / "trees.safetensors"  # numbers only: to load it runs nothing


def follow(tree):
    node, rows = np.zeros(len(x), dtype=np.int64), np.arange(len(x))
    while (tree["left"][node] >= 0).any():
        left = x[rows, np.maximum(tree["feature"][node], 0)] <= tree["threshold"][node]
        child = np.where(left, tree["left"][node], tree["right"][node])
        node = np.where(tree["left"][node] >= 0, child, node)
    return tree["value"][node]


if verb == "fit":
    state = {}
    for target in (t["name"] for t in task["targets"]):
        forest = ExtraTreesRegressor(300, random_state=task["seed"])
        for i, tree in enumerate(forest.fit(x, np.log(tables[f"targets/{target}"])).estimators_):
            t = tree.tree_
            for name, column in (("left", t.children_left), ("right", t.children_right),
                                 ("feature", t.feature), ("threshold", t.threshold),
                                 ("value", t.value[:, 0, 0])):
                state[f"{target}/{i}/{name}"] = np.ascontiguousarray(column)
    save_file(state, kept)
else:
    trees = {}
    for key, column in load_file(kept).items():
        target, i, name = key.rsplit("/", 2)
        trees.setdefault(target, {}).setdefault(i, {})[name] = column
    save_file({target: np.exp(np.mean([follow(tree) for tree in forest.values()], axis=0))
               for target, forest in trees.items()}, folder / "predictions.safetensors")
