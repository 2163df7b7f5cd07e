# SPDX-License-Identifier: Apache-2.0
"""Program graphs for PyTorch Geometric: omen graph kernel.cl -o kernel.json, then load(...)."""
import json

import torch
from torch_geometric.data import HeteroData


def load(path):
    """One HeteroData for each graph of the file, with an edge type for each kind of flow."""
    document = json.load(open(path))
    for graph in document if isinstance(document, list) else [document]:
        data = HeteroData(name=graph["graph"].get("name", ""))
        data["node"].text = [node["op"] for node in graph["nodes"]]
        for kind in ("control", "data", "call"):
            links = [link for link in graph["links"] if link["kind"] == kind]
            edge = data["node", kind, "node"]
            edge.edge_index = torch.tensor([[l["source"], l["target"]] for l in links]).view(-1, 2).T
            edge.position = torch.tensor([link["position"] for link in links])
        data["node"].num_nodes = len(graph["nodes"])
        yield data
