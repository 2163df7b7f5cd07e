#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Test errors of scikit-learn's RidgeCV and Python XGBoost on the tables beside it.

Needs no part of Omen. From the top of the repository:
  python3 -m venv build/peers && build/peers/bin/pip install scikit-learn xgboost pandas
  build/peers/bin/python plugins/baseline/checks/tables/baseline_reference.py
writes reference.json beside it, which the show checks of plugins/baseline read.
"""
import hashlib
import json
import pathlib

import numpy as np
import pandas as pd
import sklearn
import xgboost
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

TABLES = pathlib.Path(__file__).resolve().parent
ALPHAS = [10 ** (half / 2) for half in range(-6, 11)]
TREES = {"n_estimators": 300, "max_depth": 4, "learning_rate": 0.1}
FOLDS = 5
LOG_TARGET = {3}  # positive and over two decades, the rule of log_target=auto


def is_wide(column):
    return column.min() > 0 and column.max() > 100 * column.min()


def features(frame, log_wide):
    numbers = [c for c in frame if pd.api.types.is_numeric_dtype(frame[c])]
    words = [c for c in frame if c not in numbers]
    wide = [c for c in numbers if log_wide and is_wide(frame[c])]
    plain = [c for c in numbers if c not in wide]
    impute = SimpleImputer(add_indicator=True)
    return ColumnTransformer([
        ("wide", make_pipeline(FunctionTransformer(np.log), impute, StandardScaler()), wide),
        ("plain", make_pipeline(impute, StandardScaler()), plain),
        ("words", OneHotEncoder(handle_unknown="ignore"), words),
    ])


def rmse(number, predicted, y):
    scale = np.log if number in LOG_TARGET else lambda values: values
    return float(np.sqrt(np.mean((scale(predicted) - scale(y)) ** 2)))


def with_target(number, model):
    if number not in LOG_TARGET:
        return model
    return TransformedTargetRegressor(model, func=np.log, inverse_func=np.exp)


def ridge(number, x, y, groups, log_wide):
    encoded = features(x, log_wide).fit(x)
    folds = list(GroupKFold(FOLDS).split(x, y, groups))
    model = with_target(number, RidgeCV(alphas=ALPHAS, cv=folds)).fit(encoded.transform(x), y)
    inner = model.regressor_ if number in LOG_TARGET else model
    return make_pipeline(encoded, model), float(inner.alpha_), float(inner.best_score_)


def trees(number, x, y):
    numbers = [c for c in x if pd.api.types.is_numeric_dtype(x[c])]
    words = [c for c in x if c not in numbers]
    encode = ColumnTransformer([("words", OneHotEncoder(handle_unknown="ignore"), words)],
                               remainder="passthrough", sparse_threshold=0)
    model = xgboost.XGBRegressor(tree_method="hist", random_state=1, **TREES)
    return make_pipeline(encode, with_target(number, model)).fit(x, y)


def main():
    out = {
        "made_by": "plugins/baseline/checks/tables/baseline_reference.py",
        "versions": {"scikit-learn": sklearn.__version__, "xgboost": xgboost.__version__,
                     "numpy": np.__version__, "pandas": pd.__version__},
        "metric": "RMSE on the rows with split=test; of log y where log_target is true",
        "ridge": {"alphas": ALPHAS, "folds": FOLDS}, "gbt": TREES, "tables": {},
    }
    for number in (1, 2, 3):
        path = TABLES / f"table{number}.csv"
        table = pd.read_csv(path)
        train, test = (table[table.split == part] for part in ("train", "test"))
        drop = ["split", "group", "y"]
        x, x_test = train.drop(columns=drop), test.drop(columns=drop)
        # Logarithms of wide columns are kept when they win the inner folds.
        best = max((ridge(number, x, train.y, train.group, log) for log in (False, True)),
                   key=lambda result: result[2])
        out["tables"][str(number)] = {
            "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
            "log_target": number in LOG_TARGET,
            "ridge_rmse": rmse(number, best[0].predict(x_test), test.y), "ridge_alpha": best[1],
            "gbt_rmse": rmse(number, trees(number, x, train.y).predict(x_test), test.y),
        }
    (TABLES / "reference.json").write_text(json.dumps(out, indent=2) + "\n")


if __name__ == "__main__":
    main()
