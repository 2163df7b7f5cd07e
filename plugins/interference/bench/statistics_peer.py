#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The statistics of statistics_speed with SciPy, scikit-learn and NumPy.

  statistics_peer.py DIRECTORY KENDALL_PAIRS ITERATIONS

DIRECTORY holds the inputs of ours as doubles (columns.f64, points.f64, start.f64, nodes.f64,
values.f64, queries.f64) and its answers (pearson.f64, spearman.f64, kendall.f64, inertia.f64,
filled.f64). Prints a line for each statistic: its name, CPU seconds, and how far the answers are
apart. kendalltau takes minutes for all pairs; KENDALL_PAIRS seeded ones stand for them.
"""
import pathlib
import sys
import time

import numpy as np
import scipy.interpolate
import scipy.stats
import sklearn.cluster

COLUMNS, FEATURES, CLUSTERS = 100, 8, 16


def timed(name, work, expected, scale=1):
    start = time.process_time()
    answer = np.asarray(work())
    seconds = (time.process_time() - start) * scale
    apart = np.max(np.abs(answer - expected) / np.maximum(np.abs(expected), 1))
    print(name, f"{seconds:.6f} {apart:.3e}", flush=True)


def main():
    directory, pairs, iterations = pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])

    def read(name):
        return np.fromfile(directory / (name + ".f64"))

    columns = read("columns").reshape(COLUMNS, -1)
    timed("pearson", lambda: np.corrcoef(columns), read("pearson").reshape(COLUMNS, COLUMNS))
    by_row = np.ascontiguousarray(columns.T)
    timed("spearman", lambda: scipy.stats.spearmanr(by_row).statistic,
          read("spearman").reshape(COLUMNS, COLUMNS))
    every = [(i, j) for i in range(COLUMNS) for j in range(i)]
    chosen = np.random.default_rng(1).choice(len(every), pairs, replace=False)
    tau = read("kendall").reshape(COLUMNS, COLUMNS)
    timed("kendall",
          lambda: [scipy.stats.kendalltau(columns[every[c][0]], columns[every[c][1]]).statistic
                   for c in chosen],
          np.array([tau[every[c]] for c in chosen]), len(every) / pairs)
    points = read("points").reshape(-1, FEATURES)
    means = sklearn.cluster.KMeans(CLUSTERS, init=read("start").reshape(CLUSTERS, FEATURES),
                                   n_init=1, max_iter=iterations, tol=0, algorithm="lloyd")
    timed("kmeans", lambda: means.fit(points).inertia_, read("inertia")[0])
    nodes, values, queries = read("nodes"), read("values"), read("queries")
    timed("pchip", lambda: scipy.interpolate.PchipInterpolator(nodes, values)(queries),
          read("filled"))


if __name__ == "__main__":
    main()
