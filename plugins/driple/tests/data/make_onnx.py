# SPDX-License-Identifier: Apache-2.0
"""Writes the ONNX fixtures: run once with torch, onnx and onnxscript from PyPI; weights are left out."""
import pathlib
import sys

import onnx
import torch
from torch import nn
from torch.nn import functional as F

OUT = pathlib.Path(sys.argv[1])


class LeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Conv2d(1, 32, 5, padding=2), nn.Conv2d(32, 64, 5, padding=2)
        self.c, self.d = nn.Linear(64 * 7 * 7, 512), nn.Linear(512, 1000)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.a(x)), 2)
        x = F.max_pool2d(F.relu(self.b(x)), 2)
        return self.d(F.relu(self.c(x.flatten(1))))


class Vgg11(nn.Module):
    def __init__(self):
        super().__init__()
        layers, channels = [], 3
        for width in (64, 0, 128, 0, 256, 256, 0, 512, 512, 0, 512, 512, 0):
            if width == 0:
                layers.append(nn.MaxPool2d(2))
            else:
                layers += [nn.Conv2d(channels, width, 3, padding=1), nn.ReLU()]
                channels = width
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Sequential(nn.Linear(512 * 49, 4096), nn.ReLU(), nn.Dropout(), nn.Linear(4096, 4096),
                                        nn.ReLU(), nn.Dropout(), nn.Linear(4096, 1000))

    def forward(self, x):
        return self.classifier(self.features(x).flatten(1))


class Bottleneck(nn.Module):
    def __init__(self, channels, width, stride):
        super().__init__()
        self.a, self.an = nn.Conv2d(channels, width, 1, stride, bias=False), nn.BatchNorm2d(width)
        self.b, self.bn = nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width)
        self.c, self.cn = nn.Conv2d(width, 4 * width, 1, bias=False), nn.BatchNorm2d(4 * width)
        self.around = None
        if channels != 4 * width or stride > 1:
            self.around = nn.Sequential(nn.Conv2d(channels, 4 * width, 1, stride, bias=False), nn.BatchNorm2d(4 * width))

    def forward(self, x):
        y = F.relu(self.an(self.a(x)))
        y = F.relu(self.bn(self.b(y)))
        return F.relu(self.cn(self.c(y)) + (self.around(x) if self.around else x))


class ResNet50(nn.Module):
    def __init__(self):
        super().__init__()
        blocks, channels = [], 64
        for stage, count in enumerate((3, 4, 6, 3)):
            for i in range(count):
                blocks.append(Bottleneck(channels, 64 << stage, 2 if i == 0 and stage > 0 else 1))
                channels = 4 * (64 << stage)
        self.stem, self.norm = nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64)
        self.blocks, self.head = nn.Sequential(*blocks), nn.Linear(2048, 1000)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.norm(self.stem(x))), 3, 2, 1)
        return self.head(self.blocks(x).mean((2, 3)))


class Attention(nn.Module):
    def __init__(self, hidden, heads):
        super().__init__()
        self.heads, self.qkv, self.out = heads, nn.Linear(hidden, 3 * hidden), nn.Linear(hidden, hidden)

    def forward(self, x):
        batch, tokens, hidden = x.shape
        q, k, v = (t.view(batch, tokens, self.heads, -1).transpose(1, 2) for t in self.qkv(x).split(hidden, 2))
        scores = torch.matmul(q, k.transpose(2, 3)) / (hidden // self.heads) ** 0.5
        mask = torch.triu(torch.full((tokens, tokens), -1e9), 1)
        mixed = torch.matmul(F.softmax(scores + mask, -1), v)
        return self.out(mixed.transpose(1, 2).reshape(batch, tokens, hidden))


class Gpt(nn.Module):
    """GPT-2's shape with one gelu, as `examples` of driple.transformer describe it."""

    def __init__(self, hidden=256, heads=4, layers=4, words=5000, positions=512):
        super().__init__()
        self.words, self.positions = nn.Embedding(words, hidden), nn.Embedding(positions, hidden)
        self.blocks = nn.ModuleList(nn.ModuleList([nn.LayerNorm(hidden), Attention(hidden, heads), nn.LayerNorm(hidden),
                                                   nn.Linear(hidden, 4 * hidden), nn.Linear(4 * hidden, hidden)]) for _ in range(layers))
        self.norm = nn.LayerNorm(hidden)
        self.head = nn.Linear(hidden, words, bias=False)
        self.head.weight = self.words.weight

    def forward(self, ids):
        x = self.words(ids) + self.positions(torch.arange(ids.shape[1]))
        for norm1, attention, norm2, up, down in self.blocks:
            x = x + attention(norm1(x))
            x = x + down(F.gelu(up(norm2(x))))
        return self.head(self.norm(x))


def strip(path):
    """Weights become references to a file that is not kept."""
    model = onnx.load(path, load_external_data=False)
    for tensor in model.graph.initializer:
        if len(tensor.raw_data) > 256:
            tensor.ClearField("raw_data")
            tensor.data_location = onnx.TensorProto.EXTERNAL
            tensor.external_data.add(key="location", value="weights.bin")
    for node in model.graph.node:
        node.ClearField("metadata_props")
        node.doc_string = ""
    del model.graph.value_info[:]
    onnx.save(model, path)
    for extra in path.parent.glob(path.name + ".data"):
        extra.unlink()


def write(name, model, example, opset, **more):
    path = OUT / f"{name}.onnx"
    model.eval()
    torch.onnx.export(model, (example,), str(path), opset_version=opset, **more)
    strip(path)
    print(name, path.stat().st_size)


with torch.no_grad():
    write("lenet_opset20", LeNet(), torch.zeros(2, 1, 28, 28), 20, dynamo=True)
    write("vgg11_opset18", Vgg11(), torch.zeros(2, 3, 224, 224), 18, dynamo=True)
    write("resnet50_opset20", ResNet50(), torch.zeros(2, 3, 224, 224), 20, dynamo=True,
          dynamic_shapes={"x": {0: torch.export.Dim("batch")}})
    write("gpt_opset20", Gpt(), torch.zeros(2, 128, dtype=torch.long), 20, dynamo=True)
    write("gpt_opset23", Gpt(), torch.zeros(2, 128, dtype=torch.long), 23, dynamo=True)
    write("lenet_opset13", LeNet(), torch.zeros(2, 1, 28, 28), 13, dynamo=False)
