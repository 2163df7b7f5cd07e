#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The simulator's formulas in NumPy, and the SCALE-Sim package.

  layers_peer.py DIRECTORY

DIRECTORY holds layers.f64 (12 numbers each), designs.f64 (11 each) and answers.f64 (watts of the
core, watts of the memory, seconds for each design). Prints for each peer its name, layer
evaluations a CPU second, and how far its answers are apart from ours.
"""
import contextlib
import io
import pathlib
import sys
import time

import numpy as np

OUTPUT_STATIONARY, WEIGHT_STATIONARY, INPUT_STATIONARY = 0, 1, 2
BITS_W, BITS_A, BITS_SUM = 8, 8, 32
MAC, REGISTER, WIRE, BUFFER, BUFFER_KB, CLOCK = 2.0, 1.0, 4.0, 15.0, 108.0, 3.2
ELEMENT_LEAK, BUFFER_LEAK, DRAM_BACKGROUND = 20e-6, 15e-6, 4e-3
PICO, WORD, HALF_KB = 1e-12, 16, 512


def counts(layer, rows, cols, dataflow):
    """Cycles and accesses of one group for each layer (a row of columns) and design."""
    m, k, n, groups = layer[0], layer[1], layer[2], layer[3]
    if dataflow == OUTPUT_STATIONARY:
        over_rows, over_cols, streamed, fill = m, n, k, rows + cols - 2
    elif dataflow == WEIGHT_STATIONARY:
        over_rows, over_cols, streamed, fill = k, n, m, 2 * rows + cols - 2
    else:
        over_rows, over_cols, streamed, fill = k, m, n, 2 * rows + cols - 2
    row_folds, col_folds = np.ceil(over_rows / rows), np.ceil(over_cols / cols)
    cycles = row_folds * col_folds * (streamed + fill) * groups
    ifmap, filters, ofmap = m * k * groups, k * n * groups, m * n * groups
    if dataflow == OUTPUT_STATIONARY:
        return cycles, ifmap * col_folds, filters * row_folds, ofmap + 0 * cycles
    if dataflow == WEIGHT_STATIONARY:
        return cycles, ifmap * col_folds, filters + 0 * cycles, ofmap * row_folds
    return cycles, ifmap + 0 * cycles, filters * col_folds, ofmap * row_folds


def traffic(layer, ifmap_kb, weight_kb, ofmap_kb):
    """Bytes from and to memory: the least of three tilings."""
    m, k, n = layer[0], layer[1], layer[2]
    kh, stride, height, row_elements = layer[4], layer[5], layer[6], layer[7]
    weights, inputs, outputs = layer[8] * BITS_W / 8, layer[9] * BITS_A / 8, layer[10] * BITS_A / 8
    weight_room, input_room, sum_room = weight_kb * HALF_KB, ifmap_kb * HALF_KB, ofmap_kb * HALF_KB
    tiles = np.ceil(weights / weight_room)
    held = np.maximum(1, np.floor(input_room / (row_elements * BITS_A / 8)))
    strips = np.ceil(height / held)
    halo = 1 + (strips - 1) * np.maximum(0, kh - stride) / height
    pieces = np.ceil(k * BITS_W / 8 / weight_room)
    sums = outputs * BITS_SUM / BITS_A
    written = np.where((pieces > 1) & (sums > sum_room), sums * (2 * pieces - 1), outputs)
    best = np.minimum(weights + inputs * np.where(inputs <= input_room, 1, tiles) + written,
                      weights * np.where(tiles > 1, strips, 1) + inputs * halo + written)
    sum_words = np.floor(sum_room / (BITS_SUM / 8))
    for power in range(13):
        filters = np.minimum(2.0 ** power, n)
        pixels = np.maximum(1, np.floor(sum_words / filters))
        best = np.minimum(best, weights * np.ceil(m / pixels) + inputs * np.ceil(n / filters) +
                          outputs)
    return best, np.minimum(weight_room + input_room, inputs + weights)


def simulate(layer, designs, dataflow):
    rows, cols, _, ifmap_kb, weight_kb, ofmap_kb, bandwidth, mhz, volts, scale, dram = (
        designs[:, i:i + 1] for i in range(designs.shape[1]))
    cycles, ifmap, filters, ofmap = counts(layer, rows, cols, dataflow)
    moved, cold = traffic(layer, ifmap_kb, weight_kb, ofmap_kb)
    pico = scale * PICO

    def buffer(kb, bits):
        return BUFFER * pico * np.sqrt(kb / BUFFER_KB) * bits / WORD

    macs = layer[11]
    joules = macs * pico * (MAC * BITS_W * BITS_A / WORD ** 2 +
                            REGISTER * (BITS_W + BITS_A + 2 * BITS_SUM) / WORD)
    joules = joules + WIRE * pico / WORD * (ifmap * BITS_A + filters * BITS_W + ofmap * BITS_SUM)
    joules += (ifmap * buffer(ifmap_kb, BITS_A) + filters * buffer(weight_kb, BITS_W) +
               ofmap * buffer(ofmap_kb, BITS_SUM))
    per_byte = mhz * 1e6 / (bandwidth * 1e9)
    busy = np.maximum(cycles, moved * per_byte)
    busy[:, :1] += cold[:, :1] * per_byte
    joules += busy * rows * cols * CLOCK * pico
    seconds = busy.sum(1, keepdims=True) / (mhz * 1e6)
    core = joules.sum(1, keepdims=True) / seconds + volts * (
        rows * cols * ELEMENT_LEAK + (ifmap_kb + weight_kb + ofmap_kb) * BUFFER_LEAK)
    memory = 8 * PICO * dram * moved.sum(1, keepdims=True) / seconds + DRAM_BACKGROUND * bandwidth
    return np.hstack([core, memory, seconds])


def numpy_peer(layers, designs, expected):
    layer = [column[None, :] for column in layers.T]
    answers = np.empty((len(designs), 3))
    start = time.process_time()
    for dataflow in (OUTPUT_STATIONARY, WEIGHT_STATIONARY, INPUT_STATIONARY):
        chosen = np.flatnonzero(designs[:, 2] == dataflow)
        # Pieces that stay in the caches.
        for piece in np.array_split(chosen, max(1, len(chosen) // 200)):
            answers[piece] = simulate(layer, designs[piece], dataflow)
    seconds = time.process_time() - start
    print("numpy", len(layers) * len(designs) / seconds,
          np.max(np.abs(answers / expected - 1)), flush=True)


CONFIG = """[general]
run_name = peer
[architecture_presets]
ArrayHeight: {rows}
ArrayWidth: {cols}
IfmapSramSzkB: 64
FilterSramSzkB: 64
OfmapSramSzkB: 64
IfmapOffset: 0
FilterOffset: 10000000
OfmapOffset: 20000000
Dataflow: {dataflow}
Bandwidth: 10
ReadRequestBuffer: 64
WriteRequestBuffer: 64
[layout]
IfmapCustomLayout: False
IfmapSRAMBankBandwidth: 10
IfmapSRAMBankNum: 10
IfmapSRAMBankPort: 2
FilterCustomLayout: False
FilterSRAMBankBandwidth: 10
FilterSRAMBankNum: 10
FilterSRAMBankPort: 2
[sparsity]
SparsitySupport: false
SparseRep: ellpack_block
OptimizedMapping: false
BlockSize: 8
RandomNumberGeneratorSeed: 40
[run_presets]
InterfaceBandwidth: CALC
UseRamulatorTrace: False
"""
PRODUCTS = [(49, 64, 160), (196, 96, 64), (784, 32, 144)]


def scale_sim_peer(directory):
    from scalesim.scale_sim import scalesim
    rows, cols = 32, 32
    (directory / "peer.cfg").write_text(CONFIG.format(rows=rows, cols=cols, dataflow="ws"))
    (directory / "peer.csv").write_text(
        "Layer,M,N,K,\n" + "".join(f"l{i},{m},{n},{k},\n" for i, (m, n, k) in enumerate(PRODUCTS)))
    start = time.process_time()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        run = scalesim(save_disk_space=True, verbose=False, config=str(directory / "peer.cfg"),
                       topology=str(directory / "peer.csv"), layout=str(directory / "peer.csv"),
                       input_type_gemm=True)
        run.run_scale(top_path=str(directory / "out"))
    seconds = time.process_time() - start
    report = next((directory / "out").rglob("COMPUTE_REPORT.csv")).read_text().splitlines()
    names = [name.strip().lower() for name in report[0].split(",")]
    total, stall = names.index("total cycles"), names.index("stall cycles")
    apart = 0
    for line, (m, n, k) in zip(report[1:], PRODUCTS):
        fields = [field.strip() for field in line.split(",")]
        layer = [np.array([[float(x)]]) for x in (m, k, n, 1)]
        ours = counts(layer, float(rows), float(cols), WEIGHT_STATIONARY)[0][0, 0] - 1
        apart = max(apart, abs(float(fields[total]) - float(fields[stall]) - ours))
    print("scale-sim", len(PRODUCTS) / seconds, apart, flush=True)


def main():
    directory = pathlib.Path(sys.argv[1])
    layers = np.fromfile(directory / "layers.f64").reshape(-1, 12)
    designs = np.fromfile(directory / "designs.f64").reshape(-1, 11)
    numpy_peer(layers, designs, np.fromfile(directory / "answers.f64").reshape(-1, 3))
    scale_sim_peer(directory)


if __name__ == "__main__":
    main()
