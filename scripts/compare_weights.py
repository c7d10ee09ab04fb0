#!/usr/bin/env python3
"""Makes daemon/data/compare-weights.txt, the learned half of the comparison before a write.

Multinomial logistic regression with an L2 penalty over the features that `daemon/src/memory/compare/features.rs` computes, each
scaled to unit variance while it is fitted. Fitted on tests/data/pairs/{rules,likely}.jsonl alone; held.jsonl and
examined.jsonl are only measured, over the socket, by the test `pairs_come_out_as_they_are_labelled`. Needs cargo, and Python with numpy
and scikit-learn. The same input gives the same file.

    python3 scripts/compare_weights.py
"""

import json
import os
import pathlib
import subprocess
import tempfile

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

ROOT = pathlib.Path(__file__).resolve().parent.parent
SETS = ROOT / "tests/data/pairs"
FITTED = ["rules", "likely"]
LABELS = ["created", "duplicate", "updated", "superseded", "conflict"]  # the order of the lines
INVERSE_PENALTY = 0.05


def main():
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "features.jsonl"
        env = {**os.environ, "TIRO_PAIRS_FROM": ",".join(str(SETS / f"{name}.jsonl") for name in FITTED), "TIRO_PAIRS_TO": str(out)}
        command = ["cargo", "test", "--workspace", "--lib", "features_of_labelled_pairs", "--", "--ignored"]
        subprocess.run(command, cwd=ROOT, env=env, check=True, stdout=subprocess.DEVNULL)
        rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    rows = [row for row in rows if row["features"]]
    x = np.array([row["features"] for row in rows])
    y = np.array([LABELS.index(row["label"]) for row in rows])
    scaler = StandardScaler().fit(x)
    model = LogisticRegression(C=INVERSE_PENALTY, max_iter=5000).fit(scaler.transform(x), y)
    weights = model.coef_ / scaler.scale_
    biases = model.intercept_ - weights @ scaler.mean_
    with open(ROOT / "daemon/data/compare-weights.txt", "w", encoding="ascii") as out:
        out.write("# Made by scripts/compare_weights.py: a class a line (%s), bias first.\n" % ", ".join(LABELS))
        for bias, row in zip(biases, weights):
            out.write(" ".join(f"{number:.6g}" for number in [bias, *row]) + "\n")
    right = (model.predict(scaler.transform(x)) == y).mean()
    print(f"{len(rows)} pairs, {right:.3f} of them right when every guess is believed")


if __name__ == "__main__":
    main()
