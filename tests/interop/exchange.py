# SPDX-License-Identifier: Apache-2.0
"""Reads a container of ours with the safetensors package, and writes one for us to read."""

import json
import sys

import numpy as np
import safetensors
from safetensors.numpy import load_file, save_file


def check(condition, what):
    if not condition:
        sys.exit(f"error: {what}")


def text_column(tensors, name):
    offsets, data = tensors[name + "#offsets"], tensors[name + "#bytes"].tobytes()
    return [data[a:b].decode() for a, b in zip(offsets[:-1], offsets[1:])]


def bits(tensors, name, rows):
    return np.unpackbits(tensors[name], bitorder="little")[:rows].astype(bool).tolist()


def read_ours(path):
    with safetensors.safe_open(path, framework="numpy") as file:
        metadata = file.metadata()
    tensors = load_file(path)
    check(metadata["note"] == "größer \"than\" this", "metadata differs")
    check(len(metadata["omen.digest"]) == 64, "no digest")
    for dtype in ("uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64",
                  "float32", "float64"):
        values = tensors[dtype]
        check(values.dtype == dtype and values.tolist() == [1, 2, 3], f"tensor {dtype} differs")
    check(tensors["matrix"].tolist() == [[1.5, 2.5], [3.5, 4.5]], "matrix differs")
    check(tensors["scalar"].shape == () and tensors["scalar"] == 7, "scalar differs")
    check(tensors["nothing"].shape == (0, 4), "empty tensor differs")

    schema = json.loads(metadata["omen.table.rows"])
    check(schema["rows"] == 3, "row count differs")
    check([c["name"] for c in schema["columns"]] == ["x", "flag", "name", "kind", "feat"],
          "columns differ")
    check(tensors["rows/x"].tolist() == [0.25, 0.5, 0.75], "numbers differ")
    check(bits(tensors, "rows/x#valid", 3) == [True, False, True], "nulls differ")
    check(bits(tensors, "rows/flag#bits", 3) == [True, False, True], "booleans differ")
    check(text_column(tensors, "rows/name") == ["é", "", "zwei"], "texts differ")
    words = text_column(tensors, "rows/kind")
    check([words[code] for code in tensors["rows/kind"]] == ["b", "a", "b"], "categories differ")
    check(tensors["rows/feat"].tolist() == [[1, 2], [3, 4], [5, 6]], "lists differ")


def write_theirs(path):
    save_file({"odd": np.array([1, 2, 3], dtype=np.uint8),
               "half": np.array([0.5], dtype=np.float16),
               "flags": np.array([True, False]),
               "matrix": np.arange(6, dtype=np.float64).reshape(2, 3)}, path, {"made by": "python"})


read_ours(sys.argv[1])
write_theirs(sys.argv[2])
print(f"safetensors {safetensors.__version__} reads our container")
