#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Medians of group-wise bootstrap draws with NumPy, as bootstrap_bench runs it.

  bootstrap_peer.py DIRECTORY DRAWS

DIRECTORY holds values.f64, group.i32, and for some draws how often each group is taken
(times.u32) with the medians that ours found (medians.f64). Prints the CPU seconds of DRAWS draws
the weighted way and the naive way; the naive way stops where it has become the slower one.
"""
import pathlib
import sys
import time

import numpy as np


class Naive:
    """Lays out the rows of the drawn groups and takes their median."""

    def __init__(self, values, group):
        order = np.argsort(group, kind="stable")
        starts = np.searchsorted(group[order], np.arange(1, group.max() + 1))
        self.rows = np.split(values[order], starts)

    def median(self, drawn):
        return np.median(np.concatenate([self.rows[g] for g in drawn]))


class Weighted:
    """Sorts once; a draw gives each row the weight of its group and walks to half the sum."""

    def __init__(self, values, group):
        order = np.argsort(values)
        self.values, self.group = values[order], group[order].astype(np.intp)

    def median(self, times):
        cumulative = np.cumsum(times.astype(np.int32)[self.group], dtype=np.int32)
        total = cumulative[-1]
        first = np.searchsorted(cumulative, (total + 1) // 2)
        second = np.searchsorted(cumulative, total // 2 + 1)
        return (self.values[first] + self.values[second]) / 2


def check(directory, values, group, groups):
    expected = np.fromfile(directory / "medians.f64")
    times = np.fromfile(directory / "times.u32", np.uint32).reshape(len(expected), groups)
    naive, weighted = Naive(values, group), Weighted(values, group)
    for row, median in zip(times.astype(np.int64), expected):
        drawn = np.repeat(np.arange(groups), row)
        if naive.median(drawn) != median or weighted.median(row) != median:
            sys.exit("error: the medians differ")


def weighted_seconds(values, group, groups, draws):
    random = np.random.default_rng(1)
    start = time.process_time()
    way = Weighted(values, group)
    for _ in range(draws):
        drawn = random.integers(groups, size=groups)
        way.median(np.bincount(drawn, minlength=groups))
    return time.process_time() - start


def naive_seconds(values, group, groups, draws, enough):
    random = np.random.default_rng(1)
    start = time.process_time()
    way = Naive(values, group)
    for _ in range(draws):
        way.median(random.integers(groups, size=groups))
        if time.process_time() - start > enough:
            break
    return time.process_time() - start


def main():
    directory, draws = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    values = np.fromfile(directory / "values.f64")
    group = np.fromfile(directory / "group.i32", np.int32)
    groups = int(group.max()) + 1
    check(directory, values, group, groups)
    weighted = weighted_seconds(values, group, groups, draws)
    naive = naive_seconds(values, group, groups, draws, weighted)
    print(f"{weighted:.4f} {naive:.4f}")


if __name__ == "__main__":
    main()
