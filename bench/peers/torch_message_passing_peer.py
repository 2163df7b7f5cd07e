#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times one message passing step of torch_geometric on the graph size of torch_message_passing_bench.

Needs torch and torch_geometric, for example in a virtual environment under build/:
  python3 -m venv build/peers && build/peers/bin/pip install torch torch_geometric
  build/peers/bin/python bench/peers/torch_message_passing_peer.py
Prints the median CPU time (all threads) of forward and backward, in milliseconds.
"""
import argparse
import statistics
import time

import torch
from torch_geometric.nn import MessagePassing
from torch_geometric.utils import softmax


class Sum(MessagePassing):
    def __init__(self):
        super().__init__(aggr="add")

    def forward(self, x, edge_index):
        return self.propagate(edge_index, x=x)

    def message(self, x_j):
        return x_j


class Weighted(Sum):
    def forward(self, x, edge_index, weight):
        return self.propagate(edge_index, x=x, weight=weight)

    def message(self, x_j, weight):
        return x_j * weight.unsqueeze(-1)


class Gated(Sum):
    def forward(self, x, edge_index, gates):
        return self.propagate(edge_index, x=x, gates=gates)

    def message(self, x_j, gates):
        return x_j * gates


def median_cpu_ms(step, rounds):
    step()
    times = []
    for _ in range(rounds):
        begin = time.process_time()
        step()
        times.append((time.process_time() - begin) * 1e3)
    return statistics.median(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--edges", type=int, default=500_000)
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--threads", type=int, default=0, help="0: as torch is set")
    args = parser.parse_args()
    if args.threads:
        torch.set_num_threads(args.threads)
    torch.manual_seed(1)
    edge_index = torch.randint(args.nodes, (2, args.edges))
    edge_index = edge_index[:, edge_index[1].argsort(stable=True)]
    x = torch.randn(args.nodes, args.width, requires_grad=True)
    weight = torch.rand(args.edges, requires_grad=True)
    gate = torch.rand(16, args.width, requires_grad=True)
    position = torch.randint(16, (args.edges,))
    grad = torch.randn(args.nodes, args.width)
    plain, weighted, gated = Sum(), Weighted(), Gated()
    steps = {
        "sum": lambda: plain(x, edge_index),
        "weighted": lambda: weighted(x, edge_index, weight),
        "gated": lambda: gated(x, edge_index, gate[position]),
        "attention": lambda: weighted(x, edge_index, softmax(weight, edge_index[1], num_nodes=args.nodes)),
    }
    for name, forward in steps.items():

        def step():
            x.grad = weight.grad = gate.grad = None
            forward().backward(grad)

        print(f"{name}/torch_geometric {median_cpu_ms(step, args.rounds):.1f} ms CPU")


if __name__ == "__main__":
    main()
