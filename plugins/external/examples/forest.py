# SPDX-License-Identifier: Apache-2.0
# A random forest of scikit-learn as a predictor: omen train external.program --script forest.py ...
import json, pathlib, pickle, sys

import numpy as np
from safetensors.numpy import load_file, save_file
from sklearn.ensemble import ExtraTreesRegressor

verb, folder = sys.argv[1], pathlib.Path(sys.argv[2])
task = json.loads((folder / "task.json").read_text())
tables = load_file(folder / "input.safetensors")
x = np.stack([tables[f"workloads/{name}"] for name in task["features"]], axis=1)

if verb == "fit":
    forest = lambda: ExtraTreesRegressor(300, random_state=task["seed"])
    models = {target["name"]: forest().fit(x, np.log(tables[f"targets/{target['name']}"]))
              for target in task["targets"]}
    (folder / "state" / "models").write_bytes(pickle.dumps(models))
else:
    models = pickle.loads((folder / "state" / "models").read_bytes())
    save_file({name: np.exp(model.predict(x)) for name, model in models.items()},
              folder / "predictions.safetensors")
