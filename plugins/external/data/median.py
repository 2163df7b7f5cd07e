#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The smallest program for external.program: medians with 90 % ranges, standard library only.

  median.py fit DIRECTORY      learns from input.safetensors, keeps its model in state/
  median.py predict DIRECTORY  answers input.safetensors in predictions.safetensors
"""
import json
import pathlib
import struct
import sys

FORMATS = {"F64": "d", "F32": "f", "I64": "q", "I32": "i", "I16": "h", "I8": "b",
           "U64": "Q", "U32": "I", "U16": "H", "U8": "B"}


def read_safetensors(path):
    """Names and numbers of every tensor."""
    data = path.read_bytes()
    size = struct.unpack_from("<Q", data)[0]
    tensors = {}
    for name, entry in json.loads(data[8:8 + size]).items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            kind = FORMATS[entry["dtype"]]
            count = (end - begin) // struct.calcsize("<" + kind)
            tensors[name] = struct.unpack_from(f"<{count}{kind}", data, 8 + size + begin)
    return tensors


def write_safetensors(path, tensors):
    """Every tensor as float64."""
    header, body = {}, b""
    for name, values in tensors.items():
        packed = struct.pack(f"<{len(values)}d", *values)
        header[name] = {"dtype": "F64", "shape": [len(values)],
                        "data_offsets": [len(body), len(body) + len(packed)]}
        body += packed
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + body)


def quantile(ordered, share):
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def fit(folder, task):
    tables = read_safetensors(folder / "input.safetensors")
    model = {}
    for target in task["targets"]:
        table = "node_targets" if task["per_node"] else "targets"
        values = sorted(v for v in tables[f"{table}/{target['name']}"] if v == v)
        if not values:
            sys.exit(f"no value of {target['name']} to learn from")
        tail = (1 - task["interval_level"]) / 2
        common = max(set(values), key=values.count)
        model[target["name"]] = [common] if target["kind"] == "class" else [
            quantile(values, 0.5), quantile(values, tail), quantile(values, 1 - tail)]
    (folder / "state" / "model.json").write_text(json.dumps(model))


def predict(folder, task):
    model = json.loads((folder / "state" / "model.json").read_text())
    answers, rows = {}, task["rows"]
    if task["per_node"]:
        tables = read_safetensors(folder / "input.safetensors")
        answers["workload_id"] = tables["node_features/workload_id"]
        answers["node_id"] = tables["node_features/node_id"]
        rows = len(answers["node_id"])
    for name, values in model.items():
        for suffix, value in zip(("", ".lo", ".hi"), values):
            answers[name + suffix] = [value] * rows
    write_safetensors(folder / "predictions.safetensors", answers)


def main():
    verb, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    task = json.loads((folder / "task.json").read_text())
    {"fit": fit, "predict": predict}[verb](folder, task)


if __name__ == "__main__":
    main()
