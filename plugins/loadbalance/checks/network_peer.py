#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The final load-balance network in PyTorch Geometric, for its CPU time beside ours.

  network_peer.py epoch|inference CORPUS

CORPUS holds int32 lists as network_speed writes them. Prints the CPU seconds of one training epoch
(batches of 256, dropout, backward edges), or the mean of single graphs without gradients. As in the
published program one lookup serves all edge types, and gates are made for a table of 4096 positions.
"""
import sys
import time

import numpy
import torch
from torch import nn
from torch_geometric.data import Batch, Data
from torch_geometric.nn import MessagePassing, global_mean_pool

WIDTH, TYPES, POSITIONS, DROPOUT = 64, 6, 4096, 0.3


class Layer(MessagePassing):
    def __init__(self):
        super().__init__(aggr="mean")
        self.linear = nn.Linear(WIDTH, TYPES * WIDTH)
        self.gate = nn.Linear(WIDTH, WIDTH)
        self.gru = nn.GRUCell(WIDTH, WIDTH)
        self.drop = nn.Dropout(DROPOUT)
        frequency = 10000 ** (-2 * torch.arange(WIDTH // 2) / WIDTH)
        angle = torch.arange(POSITIONS)[:, None] * frequency
        self.register_buffer("table", torch.cat([angle.sin(), angle.cos()], 1))

    def forward(self, h, edge_index, row, position):
        rows = self.linear(self.drop(h)).view(-1, WIDTH)
        gates = 2 * torch.sigmoid(self.gate(self.drop(self.table)))
        mean = self.propagate(edge_index, rows=rows, row=row, gates=gates, position=position,
                              size=(h.size(0), h.size(0)))
        return self.drop(self.gru(mean, h))

    def message(self, rows, row, gates, position):
        return rows.index_select(0, row) * gates.index_select(0, position)


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(2231, WIDTH)
        self.layers = nn.ModuleList([Layer(), Layer()])
        self.readout = nn.Sequential(
            nn.BatchNorm1d(6 * WIDTH + 2), nn.Linear(6 * WIDTH + 2, 192), nn.ReLU(),
            nn.Dropout(DROPOUT), nn.Linear(192, WIDTH), nn.ReLU(), nn.Dropout(DROPOUT),
            nn.Linear(WIDTH, 1))

    def forward(self, data):
        h = self.embedding(data.x)
        row = data.edge_index[0] * TYPES + data.kind
        means = []
        for step in range(6):
            h = self.layers[step % 2](h, data.edge_index, row, data.position)
            means.append(global_mean_pool(h, data.batch))
        return self.readout(torch.cat(means + [data.auxiliary], 1))


def read_graphs(path):
    numbers = torch.from_numpy(numpy.fromfile(path, dtype="<i4").astype("int64"))
    graphs, at = [], 0
    while at < len(numbers):
        nodes, edges = numbers[at].item(), numbers[at + 1].item()
        tokens, source, target, kind, position = numbers[at + 2:at + 2 + nodes + 4 * edges].split(
            [nodes, edges, edges, edges, edges])
        at += 2 + nodes + 4 * edges
        graphs.append(Data(
            x=tokens, edge_index=torch.stack([torch.cat([source, target]), torch.cat([target, source])]),
            kind=torch.cat([kind, kind + 3]), position=torch.cat([position, position]),
            auxiliary=torch.rand(1, 2), y=torch.rand(1, 1) * 100, num_nodes=nodes))
    return graphs


def epoch(network, graphs):
    adam = torch.optim.Adam(network.parameters(), lr=1e-3)
    batches = [Batch.from_data_list(graphs[i:i + 256]) for i in range(0, len(graphs), 256)]
    network.train()
    begin = time.process_time()
    for batch in batches:
        adam.zero_grad()
        nn.functional.mse_loss(network(batch), batch.y).backward()
        adam.step()
    return time.process_time() - begin


@torch.no_grad()
def inference(network, graphs):
    network.eval()
    chosen = [Batch.from_data_list([graph]) for graph in graphs[::5]]
    network(chosen[0])
    begin = time.process_time()
    for batch in chosen:
        network(batch).item()
    return (time.process_time() - begin) / len(chosen)


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(1)
    print((epoch if sys.argv[1] == "epoch" else inference)(Network(), read_graphs(sys.argv[2])))
