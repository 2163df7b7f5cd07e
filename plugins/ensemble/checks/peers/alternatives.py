# SPDX-License-Identifier: Apache-2.0
"""What users would do otherwise, measured in one run: CPU seconds after start-up of an image and
training, for 1, 2, 4 and 8 trainings side by side.

    alternatives.py OMEN all|advise [COPIES]

`advise` compares what `omen ensemble advise` expects with PyTorch's loaders and readers of
serve-data only. With OMEN_SHOW_BREAK=1 the arm that shares does not.
"""
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TRAIN = os.path.join(HERE, "peer_train.py")
BROKEN = os.environ.get("OMEN_SHOW_BREAK", "0") != "0"
IMAGES, EPOCHS, PATIENCE_S = 1024, 2, 300
ROUNDS = 1 if BROKEN else 3


def show(name, value, unit, operator="", bound=0):
    """One figure; whether it misses its goal."""
    goal = f"{operator} {bound:g}" if operator else "none"
    print(f"SHOW {name} {value:.4g} {unit} goal {goal}", flush=True)
    return bool(operator) and not (value >= bound if operator == ">=" else value <= bound)


class Place:
    def __init__(self, omen):
        self.omen = omen
        self.directory = tempfile.mkdtemp(prefix="omen-alternatives-")
        self.images = os.path.join(self.directory, "images.epd")
        subprocess.run([omen, "ensemble", "make-data", self.images, "--images", str(IMAGES), "-q"],
                       check=True, stdout=subprocess.DEVNULL)

    def start(self, words, **environment):
        return subprocess.Popen(words, stdout=subprocess.PIPE, text=True, cwd=self.directory,
                                env={**os.environ, **environment})

    def python(self, source, seed, *words, **environment):
        return self.start([sys.executable, TRAIN, source, self.images, str(EPOCHS), str(seed),
                           *map(str, words)], **environment)


def facts_of(process):
    text, _ = process.communicate(timeout=PATIENCE_S)
    if process.returncode:
        raise RuntimeError(f"{process.args} ended with {process.returncode}")
    return json.loads(text.strip().splitlines()[-1])


def per_image(trainings, shared_cpu_s=0.0):
    """CPU milliseconds of an image and training. Start-up hides a few of the first images, but
    what was shared was prepared for all of them."""
    own = statistics.mean(one["cpu_s"] / one["images"] for one in trainings)
    return 1000 * (own + shared_cpu_s / sum(one["all_images"] for one in trainings))


def independent_loaders(place, copies):
    jobs = [place.python("loader", seed) for seed in range(copies)]
    return per_image([facts_of(job) for job in jobs])


def ring_readers(place, copies):
    ring = os.path.join("/dev/shm", f"omen-alternatives-{os.getpid()}")
    server = place.start([place.omen, "ensemble", "serve-data", "--data", place.images, "--ring",
                          ring, "--block", "64", "--epochs", str(EPOCHS), "--wait-for",
                          str(copies), "-q", "--json"])
    jobs = [place.python("ring", seed, OMEN_RING=ring) for seed in range(copies)]
    trainings = [facts_of(job) for job in jobs]
    text, _ = server.communicate(timeout=PATIENCE_S)
    return per_image(trainings, json.loads(text)["tables"]["server"][0]["cpu_s"])


def tensor_socket(place, copies):
    """Its producer leaves out the last batches of an epoch; what counts is what was trained on."""
    port = random.randrange(20000, 40000)
    producer = place.python("producer", 0, port, copies)
    jobs = [place.python("tensorsocket", seed, port) for seed in range(copies)]
    trainings = [facts_of(job) for job in jobs]
    return per_image(trainings, facts_of(producer)["cpu_s"])


def own_loaders(place, copies, design):
    out = os.path.join(place.directory, f"{design}-{copies}")
    subprocess.run([place.omen, "ensemble", "run", "--models", f"tiny*{copies}", "--data",
                    place.images, "--epochs", str(EPOCHS), "--batch", "64", "--design", design,
                    "-q", "-o", out], check=True, stdout=subprocess.DEVNULL)
    with open(os.path.join(out, "run.json")) as file:
        run = json.load(file)
    return 1000 * run["cpu_s"] / run["samples"]


def advice(place, copies):
    """The saving that `advise` expects; it sees one training with PyTorch's loader."""
    text = subprocess.run(
        [place.omen, "ensemble", "advise", "--data", place.images, "--copies",
         ",".join(map(str, copies)), "--batches", "25", "--json", "--", sys.executable, TRAIN,
         "loader", place.images, str(EPOCHS), "1"],
        check=True, stdout=subprocess.PIPE, text=True, cwd=place.directory).stdout
    rows = json.loads(text)["tables"]["copies"]
    return {row["copies"]: row["saving"] for row in rows}


def compare_advice(expected, alone, shared):
    missed = False
    for number in expected[0]:
        saving = statistics.median(one[number] for one in expected)
        show(f"advise_expects_{number}", saving, "x")
        missed |= show(f"advise_off_{number}", 100 * abs(saving * shared[number] / alone[number] - 1),
                       "%", "<=", 20)
    return missed


def measure_rounds(place, arms, copies):
    """Medians of rounds in which the arms follow each other, so that what else runs on the
    machine disturbs all of them alike; and what `advise` expected in each round."""
    cost = {name: {number: [] for number in copies} for name in arms}
    expected = []
    for _ in range(ROUNDS):
        for number in copies:
            for name, measure in arms.items():
                cost[name][number].append(measure(place, number))
                print(f"{number} copies, {name}: {cost[name][number][-1]:.4f} ms", flush=True)
        expected.append(advice(place, copies))
    return ({name: {number: statistics.median(values) for number, values in by_number.items()}
             for name, by_number in cost.items()}, expected)


def main():
    place = Place(sys.argv[1])
    every = sys.argv[2] == "all"
    copies = [int(n) for n in sys.argv[3].split(",")] if len(sys.argv) > 3 else [1, 2, 4, 8]
    try:
        arms = {"dataloader": independent_loaders,
                "serve_data": independent_loaders if BROKEN else ring_readers}
        if every:
            arms["tensorsocket"] = tensor_socket
            arms["omen_alone"] = lambda p, n: own_loaders(p, n, "none")
            arms["omen_shared"] = lambda p, n: own_loaders(p, n, "shared-memory")
        cost, expected = measure_rounds(place, arms, copies)
        for name, by_number in cost.items():
            for number, ms in by_number.items():
                show(f"{name}_cpu_ms_{number}", ms, "ms")
        missed = compare_advice(expected, cost["dataloader"], cost["serve_data"])
        if every:
            missed |= show("serve_data_saves", cost["dataloader"][copies[-1]] /
                           cost["serve_data"][copies[-1]], "x", ">=", 2)
        return int(missed)
    finally:
        shutil.rmtree(place.directory)


if __name__ == "__main__":
    sys.exit(main())
