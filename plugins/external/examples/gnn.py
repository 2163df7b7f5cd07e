# SPDX-License-Identifier: Apache-2.0
# A graph network of PyTorch Geometric as a predictor, on tables `nodes` and `edges`.
import json, pathlib, sys

import numpy as np
import torch
from safetensors.numpy import load_file, save_file
from torch_geometric.data import Batch, Data
from torch_geometric.nn import GINConv, global_add_pool

verb, folder = sys.argv[1], pathlib.Path(sys.argv[2])
task = json.loads((folder / "task.json").read_text())
tables = load_file(folder / "input.safetensors")
weights, labels_file = folder / "state" / "weights.safetensors", folder / "state" / "labels.json"
torch.manual_seed(task["seed"])
torch.set_num_threads(task["threads"] or 1)


class Network(torch.nn.Module):
    def __init__(self, labels, outputs, width=32):
        super().__init__()
        self.embed = torch.nn.Embedding(labels + 1, width)  # the last one for labels never seen
        self.layers = torch.nn.ModuleList(
            GINConv(torch.nn.Sequential(torch.nn.Linear(width, width), torch.nn.ReLU(),
                                        torch.nn.Linear(width, width))) for _ in range(2))
        self.out = torch.nn.Linear(width, outputs)

    def forward(self, batch):
        """The logarithm of a sum of costs, one for each node in its surroundings."""
        h = self.embed(batch.x)
        for layer in self.layers:
            h = h + layer(h, batch.edge_index).relu()
        return global_add_pool(torch.nn.functional.softplus(self.out(h)), batch.batch).log()


def graphs(labels):
    """One graph for each workload, its operations as numbers of the training labels."""
    number = {label: i for i, label in enumerate(labels)}
    codes = np.array([number.get(label, len(labels)) for label in task["categories"]["nodes/op"]])
    for graph in tables["workloads/graph_id"]:
        mine, links = tables["nodes/graph_id"] == graph, tables["edges/graph_id"] == graph
        ends = np.stack([tables["edges/src"][links], tables["edges/dst"][links]]).astype(np.int64)
        yield Data(x=torch.tensor(codes[tables["nodes/op"][mine]]), edge_index=torch.tensor(ends))


if verb == "fit":
    labels = task["categories"]["nodes/op"]
    y = np.stack([tables[f"targets/{target['name']}"] for target in task["targets"]], axis=1)
    batch, y = Batch.from_data_list(list(graphs(labels))), torch.tensor(np.log(y)).float()
    network = Network(len(labels), y.shape[1])
    optimiser = torch.optim.Adam(network.parameters(), 0.005)
    for step in range(300):
        optimiser.zero_grad()
        loss = torch.nn.functional.mse_loss(network(batch), y)
        loss.backward()
        optimiser.step()
    print(f"loss {loss.item():.4f} after {step + 1} steps")
    save_file({name: value.numpy() for name, value in network.state_dict().items()}, weights)
    labels_file.write_text(json.dumps(labels))
else:
    labels = json.loads(labels_file.read_text())
    network = Network(len(labels), len(task["targets"]))
    network.load_state_dict({name: torch.tensor(value) for name, value in load_file(weights).items()})
    with torch.no_grad():
        answers = network(Batch.from_data_list(list(graphs(labels)))).exp().numpy().T
    save_file({target["name"]: np.ascontiguousarray(row)
               for target, row in zip(task["targets"], answers)}, folder / "predictions.safetensors")
