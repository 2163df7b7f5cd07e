# SPDX-License-Identifier: Apache-2.0
"""Reads batches that `omen ensemble serve-data` publishes, as NumPy arrays over shared memory.

    from omen_ring import RingReader
    for epoch in RingReader("/dev/shm/omen-ring", batch=64).epochs(3):
        for images, labels in epoch:          # float32 [64, C, H, W], int32 [64]
            images = torch.from_numpy(images)

The layout (little-endian) is that of src/transport/ring.hpp:
  0     magic "OMENRNG1", u32 head bytes, u32 slots, i64 block samples, channels, side, classes,
        u64 block bytes, offset of the pixels in a block, offset of the blocks,
        i64 blocks of an epoch, i64 next block, u32 closed, u32 counter of changes,
        u32 process that serves
  4096  64 readers x 64 bytes: u32 state (0 free, 1 joining, 2 active, 3 gone), u32 process,
        i64 cursor: the block that it reads or waits for
  8192  slots x 64 bytes: i64 number of the block in the slot + 1, 0 while it is written
A block: i64 number in its epoch, i64 samples, at 64 the labels (int32), then the pixels (float32).
"""
import mmap
import os
import struct
import time

import numpy as np

try:
    from omen_marks import timed  # there under `omen ensemble advise`
except ImportError:
    def timed(batches, source=""):
        return batches

FREE, JOINING, ACTIVE, GONE = 0, 1, 2, 3
READERS, READERS_OFFSET, SLOTS_OFFSET, LINE = 64, 4096, 8192, 64
LOOK_S = 0.5  # between looks whether the server still lives
LEFTOVER_S = 5.0


def is_there(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # somebody else's
    return True


class RingReader:
    def __init__(self, path=None, batch=64, patience=60.0):
        """Joins the ring; the first batch is that of the next epoch to begin."""
        path = path or os.environ.get("OMEN_RING", "/dev/shm/omen-ring")
        self._open(path, patience)
        (magic, _, self._slots, self.block, self.channels, self.side, self.classes,
         self._block_bytes, self._pixels, self._blocks, self.epoch_blocks) = struct.unpack_from(
             "<8sIIqqqqQQQq", self._map, 0)
        if magic != b"OMENRNG1":
            raise ValueError(f"{path} is no ring")
        self.batch = batch
        words = np.frombuffer(self._map, dtype=np.int64)
        halves = np.frombuffer(self._map, dtype=np.uint32)
        # The fields behind the eleven above.
        self._next_block, self._closed = words[10:11], halves[22:23]
        self._server = self._seen_server()
        self._next_look = 0.0
        self._held = words[SLOTS_OFFSET // 8:][: self._slots * 8: 8]
        self._join(words, halves)

    def _seen_server(self):
        """None where it died, and where it runs in a container that does not show its processes."""
        process = struct.unpack_from("<I", self._map, 96)[0]
        return process if is_there(process) else None

    def _open(self, path, patience):
        begin = time.monotonic()
        while True:
            waited = time.monotonic() - begin
            try:
                with open(path, "r+b") as file:
                    self._map = mmap.mmap(file.fileno(), 0)
                # What a dead server left is replaced when the next one starts.
                if self._seen_server() or waited > LEFTOVER_S:
                    return
            except FileNotFoundError:
                if waited > patience:
                    raise FileNotFoundError(f"nobody serves {path}") from None
            time.sleep(0.02)

    def _join(self, words, halves):
        for i in range(READERS):
            at = READERS_OFFSET + i * LINE
            state = halves[at // 4: at // 4 + 1]
            if state[0] not in (FREE, GONE):
                continue
            halves[at // 4 + 1] = os.getpid()
            words[at // 8 + 1] = 0
            self._state, self._cursor = state, words[at // 8 + 1: at // 8 + 2]
            state[0] = JOINING
            # Another process may have taken the place at the same moment: the last one has it.
            time.sleep(0.01)
            if halves[at // 4 + 1] == os.getpid():
                return
        raise RuntimeError("the ring has no place for another reader")

    def close(self):
        self._state[0] = GONE

    def _wait(self, ready):
        nap = 0.0001
        while not ready():
            if self._state[0] == GONE:
                raise RuntimeError("this reader was too slow and was left behind")
            if self._closed[0] and not ready():
                return False
            self._look_after_server()
            time.sleep(nap)
            nap = min(nap * 1.5, 0.005)
        return True

    def _look_after_server(self):
        if self._server is None or time.monotonic() < self._next_look:
            return
        self._next_look = time.monotonic() + LOOK_S
        if not is_there(self._server) and not self._closed[0]:
            raise RuntimeError("the server of this ring died")

    def _samples(self, number):
        """Labels and pixels of a block, in place: valid until the cursor moves on."""
        at = self._blocks + (number % self._slots) * self._block_bytes
        count = struct.unpack_from("<q", self._map, at + 8)[0]
        labels = np.frombuffer(self._map, np.int32, count, at + LINE)
        each = self.channels * self.side * self.side
        pixels = np.frombuffer(self._map, np.float32, count * each, at + self._pixels)
        return pixels.reshape(count, self.channels, self.side, self.side), labels

    def _epoch(self, first):
        # A batch that is one block is handed out where it lies; others are put together.
        images, labels = [], []
        for number in range(first, first + self.epoch_blocks):
            slot = number % self._slots
            if not self._wait(lambda: self._held[slot] == number + 1):
                return
            pixels, classes = self._samples(number)
            if not images and len(classes) == self.batch:
                yield pixels, classes
            else:
                images.append(pixels.copy())
                labels.append(classes.copy())
                have = sum(len(part) for part in labels)
                if have >= self.batch:
                    all_images, all_labels = np.concatenate(images), np.concatenate(labels)
                    whole = have // self.batch * self.batch
                    for at in range(0, whole, self.batch):
                        yield all_images[at:at + self.batch], all_labels[at:at + self.batch]
                    images = [all_images[whole:]] if have > whole else []
                    labels = [all_labels[whole:]] if have > whole else []
            self._cursor[0] = number + 1

    def epochs(self, count=None):
        """Iterators over whole epochs; what does not fill a batch at the end of one is dropped."""
        if not self._wait(lambda: self._state[0] == ACTIVE):
            return
        first = int(self._cursor[0])
        done = 0
        while count is None or done < count:
            if self._closed[0] and self._next_block[0] <= first:
                break
            yield timed(self._epoch(first), "RingReader")
            first += self.epoch_blocks
            self._cursor[0] = first
            done += 1
        self.close()
