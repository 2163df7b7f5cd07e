# SPDX-License-Identifier: Apache-2.0
"""Graphs that omen wrote, as other tools read them; each mode compares two of them."""
import collections
import json
import pickle
import subprocess
import sys


def same(what, ours, theirs):
    if ours != theirs:
        sys.exit(f"{what}: {ours!r} in the file of omen, {theirs!r} for the reader")
    print(f"{what}: {len(ours) if hasattr(ours, '__len__') else ours}")


def check_pyg(path, example):
    """PyTorch Geometric through the loader of examples/, and networkx."""
    import networkx

    sys.path.insert(0, example)
    import pyg_loader

    document = json.load(open(path))
    graphs = list(pyg_loader.load(path))
    same("graphs", len(document), len(graphs))
    for ours, data in zip(document, graphs):
        kinds = collections.Counter(link["kind"] for link in ours["links"])
        same("nodes", len(ours["nodes"]), data["node"].num_nodes)
        for kind, count in kinds.items():
            same(f"{kind} edges", count, data["node", kind, "node"].num_edges)
        data.validate()
        graph = networkx.node_link_graph(ours, edges="links")
        same("edges in networkx", len(ours["links"]), graph.number_of_edges())


def check_message(path, message, graph2json):
    """The published graph2json reads our messages."""
    ours = json.load(open(path))
    with open(message, "rb") as file:
        answer = subprocess.run([graph2json, "--stdin_fmt=pb"], stdin=file, check=True, capture_output=True)
    theirs = json.loads(answer.stdout)
    types = ["instruction", "variable", "constant"]
    same("node texts", [node["op"] for node in ours["nodes"]], [node["text"] for node in theirs["nodes"]])
    same("node types", [types.index(node["type"]) for node in ours["nodes"]], [node["type"] for node in theirs["nodes"]])
    same("blocks", [node["block"] for node in ours["nodes"]], [node["block"] for node in theirs["nodes"]])
    names = [function["name"] for function in theirs["graph"]["function"]]
    same("functions", [node["function"] for node in ours["nodes"] if node["function"]],
         [names[theirs["nodes"][at]["function"]] for at, node in enumerate(ours["nodes"]) if node["function"]])
    flows = ["control", "data", "call"]
    same("links", sorted((flows.index(l["kind"]), l["position"], l["source"], l["target"]) for l in ours["links"]),
         sorted((l["flow"], l["position"], l["source"], l["target"]) for l in theirs["links"]))


def make_dictionary(pickled, path):
    """The dictionary of the wheel in the form that omen reads."""
    with open(pickled, "rb") as file, open(path, "w") as out:
        for statement, number in pickle.load(file).items():
            out.write(json.dumps([int(number), statement]) + "\n")


def check_statements(path, dictionary, packages, modules=None):
    """The published preprocessing gives the same inst2vec ids; structures are in the IR of `modules`."""
    import types

    # The package itself would import protobuf and TensorFlow.
    package = types.ModuleType("programl")
    package.__path__ = [packages + "/programl"]
    sys.modules["programl"] = package
    from programl.third_party.inst2vec import inst2vec_preprocess

    ids = {statement: number for number, statement in map(json.loads, open(dictionary))}
    document = json.load(open(path))
    for graph in document if isinstance(document, list) else [document]:
        nodes = [node for node in graph["nodes"] if node["type"] == "instruction"]
        lines = [[node["full_text"]] for node in nodes]
        if modules:
            ir = open(f"{modules}/{graph['graph']['group']}", errors="replace").read()
            for name, definition in inst2vec_preprocess.GetStructTypes(ir).items():
                for line in lines:
                    line[0] = line[0].replace(name, definition)
        lines, _ = inst2vec_preprocess.preprocess(lines)
        texts = [inst2vec_preprocess.PreprocessStatement(line[0] if line else "") for line in lines]
        same("statements", [node["inst2vec"] for node in nodes],
             [ids.get(text, ids["!UNK"]) for text in texts])


modes = {"pyg": check_pyg, "message": check_message, "dictionary": make_dictionary, "statements": check_statements}
modes[sys.argv[1]](*sys.argv[2:])
