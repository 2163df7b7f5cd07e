# SPDX-License-Identifier: Apache-2.0
"""Tells `omen ensemble advise` what the batches of a training cost, and what training on them.

Under `advise` every DataLoader of PyTorch and every RingReader is timed by itself. For a loop over
anything else, put the marks there; without `advise` they do nothing:

    from omen_marks import timed
    for images, labels in timed(my_batches):
        ...

What runs until a batch is there is preprocessing, in this process and in those that it starts;
what runs until the next one is asked for is training. The first batches warm up and do not count.
"""
import atexit
import glob
import importlib.abc
import importlib.util
import json
import os
import resource
import sys
import time

WARM_UP = 2
_TICKS = os.sysconf("SC_CLK_TCK")


def _children_cpu():
    """CPU seconds of all processes that this one started, ended or not."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = ended.ru_utime + ended.ru_stime
    for path in glob.glob("/proc/self/task/*/children"):
        try:
            with open(path) as file:
                children = file.read().split()
            for child in children:
                with open(f"/proc/{child}/stat") as file:
                    fields = file.read().rpartition(") ")[2].split()
                seconds += (int(fields[11]) + int(fields[12])) / _TICKS
        except OSError:
            continue  # it ended while we looked
    return seconds


def _images_of(batch):
    """Images of a batch: the length of the first thing inside that has one."""
    while isinstance(batch, (tuple, list, dict)) and len(batch):
        batch = next(iter(batch.values() if isinstance(batch, dict) else batch))
    shape = getattr(batch, "shape", None)
    return int(shape[0]) if shape is not None and len(shape) else 1


def _validates():
    """Whether PyTorch computes no gradients here: such batches are no training."""
    torch = sys.modules.get("torch")
    return torch is not None and hasattr(torch, "is_grad_enabled") and not torch.is_grad_enabled()


class _Marks:
    def __init__(self, path, batches):
        self.path, self.wanted = path, batches
        self.source = ""
        self.seen = self.batches = self.images = self.all_images = 0
        self.prepare = [0.0, 0.0]  # CPU and wall seconds
        self.train = [0.0, 0.0]
        self.children = 0.0
        self.done = False
        self.process = os.getpid()
        atexit.register(self.write)

    def write(self):
        # A process that was forked inherits the marks of another one.
        if not self.images or self.done or os.getpid() != self.process:
            return
        per_image = [value / self.images for value in self.prepare + self.train]
        workers = self.children / self.all_images
        facts = {
            "source": self.source, "batches": self.batches, "images": self.images,
            "batch": self.images / self.batches,
            "prepare_cpu_s": per_image[0] + workers, "prepare_wall_s": per_image[1],
            "train_cpu_s": per_image[2], "train_wall_s": per_image[3]}
        with open(self.path + ".new", "w") as file:
            json.dump(facts, file)
        os.replace(self.path + ".new", self.path)
        self.done = self.batches >= self.wanted > 0

    def add(self, images, prepare, train):
        self.seen += 1
        self.all_images += images
        if self.seen <= WARM_UP:
            return
        self.batches += 1
        self.images += images
        for total, part in ((self.prepare, prepare), (self.train, train)):
            total[0] += part[0]
            total[1] += part[1]


_marks = None
if "OMEN_MARKS" in os.environ:
    _marks = _Marks(os.environ["OMEN_MARKS"], int(os.environ.get("OMEN_MARKS_BATCHES", "0")))


def _clock():
    return time.process_time(), time.monotonic()


def timed(batches, source="marks"):
    """The same batches, one after the other; under `advise` their costs are taken down."""
    if _marks is None or _marks.done or os.getpid() != _marks.process:
        yield from batches
        return
    before_children = _children_cpu()
    asked = _clock()
    own = 0.0

    def count_children():
        nonlocal own
        now = _children_cpu() - before_children
        _marks.children += now - own
        own = now

    try:
        for batch in batches:
            got = _clock()
            images, validates = _images_of(batch), _validates()
            yield batch
            back = _clock()
            if not validates:
                _marks.source = source
                _marks.add(images, (got[0] - asked[0], got[1] - asked[1]),
                           (back[0] - got[0], back[1] - got[1]))
                if 0 < _marks.wanted <= _marks.batches:
                    count_children()
                    _marks.write()
            asked = _clock()
    finally:
        count_children()


def _time_loaders(module):
    original = module.DataLoader.__iter__

    def iterate(self):
        return timed(original(self), "DataLoader")

    module.DataLoader.__iter__ = iterate


class _AfterImport(importlib.abc.MetaPathFinder):
    """Lets PyTorch import its loaders, and then puts the marks into them."""

    name = "torch.utils.data.dataloader"

    def find_spec(self, name, path=None, target=None):
        if name != self.name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        run = spec.loader.exec_module

        def exec_module(module):
            run(module)
            _time_loaders(module)

        spec.loader.exec_module = exec_module
        return spec


def watch_loaders():
    """Called before a job begins: times every DataLoader that it will make."""
    if _marks is not None:
        sys.meta_path.insert(0, _AfterImport())
