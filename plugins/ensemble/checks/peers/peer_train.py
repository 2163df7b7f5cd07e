# SPDX-License-Identifier: Apache-2.0
"""Trains the network `tiny` in PyTorch on batches from one of several sources.

    peer_train.py loader|ring|tensorsocket|producer IMAGES.epd EPOCHS SEED [PORT]

Prints the CPU seconds after start-up, which ends with the second batch, and the images since.
`producer` is the one process that feeds trainings with source `tensorsocket`.
"""
import io
import json
import random
import struct
import sys
import time

import torch
from PIL import Image, ImageEnhance

BATCH, SIDE, WARM_UP = 64, 32, 2


class PackedImages(torch.utils.data.Dataset):
    """Decodes a packed JPEG file with Pillow, and crops, flips and colours as most people do."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.bytes = file.read()
        self.count, self.classes = struct.unpack_from("<II", self.bytes, 4)

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        offset, size, label = struct.unpack_from("<QII", self.bytes, 12 + 16 * i)
        image = Image.open(io.BytesIO(self.bytes[offset:offset + size])).convert("RGB")
        return self.augmented(image), label

    @staticmethod
    def crop_box(width, height):
        for _ in range(10):
            area = width * height * random.uniform(0.05, 1.0)
            ratio = random.uniform(0.75, 1.33)
            w, h = int((area * ratio) ** 0.5), int((area / ratio) ** 0.5)
            if 0 < w <= width and 0 < h <= height:
                x, y = random.randint(0, width - w), random.randint(0, height - h)
                return x, y, x + w, y + h
        return 0, 0, width, height

    def augmented(self, image):
        image = image.resize((SIDE, SIDE), Image.BILINEAR, box=self.crop_box(*image.size))
        if random.random() < 0.5:
            image = image.transpose(Image.FLIP_LEFT_RIGHT)
        for kind, spread in ((ImageEnhance.Brightness, 0.125), (ImageEnhance.Color, 0.5),
                             (ImageEnhance.Contrast, 0.5)):
            image = kind(image).enhance(random.uniform(1 - spread, 1 + spread))
        pixels = torch.frombuffer(bytearray(image.tobytes()), dtype=torch.uint8)
        return pixels.view(SIDE, SIDE, 3).permute(2, 0, 1).float().div_(127.5).sub_(1)


def loader_of(path):
    return torch.utils.data.DataLoader(PackedImages(path), batch_size=BATCH, shuffle=True,
                                       drop_last=True)


def tiny():
    nn = torch.nn
    return nn.Sequential(nn.Conv2d(3, 16, 5, 2, 2), nn.ReLU(), nn.MaxPool2d(2),
                         nn.Conv2d(16, 32, 3, 1, 1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
                         nn.Linear(32 * 4 * 4, 64), nn.ReLU(), nn.Linear(64, 10))


def ring_epochs(epochs):
    from omen_ring import RingReader
    for epoch in RingReader(batch=BATCH).epochs(epochs):
        yield ((torch.from_numpy(images), torch.from_numpy(labels).long())
               for images, labels in epoch)


def epochs_of(source, path, epochs, port):
    if source == "ring":
        yield from ring_epochs(epochs)
    elif source == "tensorsocket":
        from tensorsocket import TensorConsumer
        consumer = TensorConsumer(port=port, ack_port=port + 1, heart_ports=(port + 2, port + 3),
                                  batch_size=BATCH)
        for _ in range(epochs):
            yield consumer
    else:
        loader = loader_of(path)
        for _ in range(epochs):
            yield loader


class AfterStart:
    """CPU seconds of this process and its images from the second batch on."""

    def __init__(self):
        self.batches = self.images = self.all_images = 0
        self.begin = time.process_time()

    def add(self, images):
        self.batches += 1
        self.all_images += images
        if self.batches == WARM_UP:
            self.begin = time.process_time()
        elif self.batches > WARM_UP:
            self.images += images

    def say(self):
        print(json.dumps({"cpu_s": time.process_time() - self.begin, "images": self.images,
                          "all_images": self.all_images}), flush=True)


def train(source, path, epochs, port):
    model = tiny()
    optimiser = torch.optim.SGD(model.parameters(), lr=0.01, weight_decay=4e-5)
    used = AfterStart()
    for epoch in epochs_of(source, path, epochs, port):
        for images, labels in epoch:
            optimiser.zero_grad()
            torch.nn.functional.cross_entropy(model(images), labels).backward()
            optimiser.step()
            used.add(len(labels))
    used.say()


def produce(path, epochs, port):
    from tensorsocket import TensorProducer
    producer = TensorProducer(loader_of(path), port=port, ack_port=port + 1,
                              heart_ports=(port + 2, port + 3), producer_batch_size=4)
    begin = time.process_time()
    # Consumers that come late would miss what is gone: all of them join before the first batch.
    while len(producer.hb.consumers) < int(sys.argv[6]):
        time.sleep(0.05)
    for _ in range(epochs):
        for _ in producer:
            pass
    print(json.dumps({"cpu_s": time.process_time() - begin}), flush=True)
    # What was published last is on its way; a process that ends takes it along.
    time.sleep(3)
    producer.join()


def main():
    torch.set_num_threads(1)
    source, path, epochs, seed = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    port = int(sys.argv[5]) if len(sys.argv) > 5 else 0
    torch.manual_seed(seed)
    random.seed(seed)
    if source == "producer":
        produce(path, epochs, port)
    else:
        train(source, path, epochs, port)


if __name__ == "__main__":
    main()
