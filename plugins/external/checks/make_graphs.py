#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes 80 random graphs whose cost is the sum of their operations' and links' costs, give or take 3 %.

  make_graphs.py FILE.json
"""
import json
import random
import sys

SEED = 5
COSTS = {"add": 0.5, "conv": 5.0, "matmul": 3.0, "pool": 1.0, "relu": 0.3}
LINK_COST = 0.2


def graph(rng, number):
    nodes = rng.randrange(4, 30)
    ops = [rng.choice(sorted(COSTS)) for _ in range(nodes)]
    links = [(i - 1, i) for i in range(1, nodes)]
    links += [tuple(sorted(rng.sample(range(nodes), 2))) for _ in range(nodes // 4)]
    cost = sum(COSTS[op] for op in ops) + LINK_COST * len(links)
    return {"graph": {"name": f"net{number}", "group": f"family{number % 10}",
                      "cost": round(cost * rng.gauss(1, 0.03), 4)},
            "nodes": [{"id": i, "op": op} for i, op in enumerate(ops)],
            "links": [{"source": a, "target": b} for a, b in links]}


def main():
    rng = random.Random(SEED)
    with open(sys.argv[1], "w") as out:
        json.dump([graph(rng, number) for number in range(80)], out)


if __name__ == "__main__":
    main()
