#!/usr/bin/env python3
"""Makes daemon/data/gate-weights.bin, the learned half of the write gate.

Multinomial logistic regression with an L2 penalty over the features that `daemon/src/memory/gate/features.rs` computes. Fitted on
tests/data/gate/{rules,english,chinese}.jsonl, and on the texts of tests/data/pairs/{rules,likely}.jsonl: each of these is worth keeping, as
what is what a first fit takes it for. held.jsonl and examined.jsonl are only measured. Needs cargo, and Python with
numpy, scipy and scikit-learn. The same input gives the same file.

    python3 scripts/gate_weights.py            # writes the weights, prints how the sets fare
"""

import json
import os
import pathlib
import struct
import subprocess
import tempfile

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression

ROOT = pathlib.Path(__file__).resolve().parent.parent
SETS = ROOT / "tests/data/gate"
FITTED = {"rules": 2.0, "english": 1.0, "chinese": 1.0}  # with the weight of an utterance
MEASURED = ["held", "examined"]
PAIRS = [ROOT / "tests/data/pairs" / f"{name}.jsonl" for name in ("rules", "likely")]
PAIR_WEIGHT = 0.2  # of a text of a pair
CLASSES = ["identity", "preference", "constraint", "goal", "fact", "conclusion", "event"] + [
    "fragment", "smallTalk", "noise", "heartbeat", "transient", "command", "question"]
KEPT = 7
# Places of the features by kind, and how much each kind may weigh: found by trials on the fitted sets and held.jsonl.
BLOCKS = [(0, 192, 3.0), (192, 288, 0.7), (288, 2336, 3.0), (2336, 4384, 2.0), (4384, 4896, 1.0)]
FEATURES = 4896
INVERSE_PENALTY = 0.5
KEEP_MIN = {True: 0.45, False: 0.65}  # by what the rules say, as in learned.rs
VERDICT_AT = (192 + 72, 192 + 80)  # places of what the rules keep


def features():
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "features.jsonl"
        told = pathlib.Path(folder) / "pairs.jsonl"
        pairs = [json.loads(line) for path in PAIRS for line in path.read_text(encoding="utf-8").splitlines()]
        texts = sorted({pair[side] for pair in pairs for side in ("a", "b")})
        lines = [json.dumps({"text": text, "keep": True, "category": "fact"}, ensure_ascii=False) for text in texts]
        told.write_text("\n".join(lines), encoding="utf-8")
        files = [str(SETS / f"{name}.jsonl") for name in [*FITTED, *MEASURED]] + [str(told)]
        env = {**os.environ, "TIRO_GATE_FROM": ",".join(files), "TIRO_GATE_TO": str(out)}
        command = ["cargo", "test", "--workspace", "--lib", "features_of_labelled_utterances", "--", "--ignored"]
        subprocess.run(command, cwd=ROOT, env=env, check=True, stdout=subprocess.DEVNULL)
        return [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]


def main():
    rows = features()
    x = sp.lil_matrix((len(rows), FEATURES))
    for i, row in enumerate(rows):
        for at, value in row["features"]:
            x[i, at] += value
    scales = np.zeros(FEATURES)
    for start, end, scale in BLOCKS:
        scales[start:end] = scale
    x = x.tocsr() @ sp.diags(scales)
    y = np.array([CLASSES.index(row.get("category") or row["reason"]) for row in rows])
    names = np.array([pathlib.Path(row["from"]).stem for row in rows])
    fitted = np.isin(names, list(FITTED))
    weight = np.array([FITTED.get(name, 0.0) for name in names])
    model = LogisticRegression(C=INVERSE_PENALTY, max_iter=2000)
    model.fit(x[fitted], y[fitted], sample_weight=weight[fitted])
    pairs = names == "pairs"
    y[pairs] = model.predict_proba(x[pairs])[:, :KEPT].argmax(axis=1)
    weight[pairs] = PAIR_WEIGHT
    fitted |= pairs
    model.fit(x[fitted], y[fitted], sample_weight=weight[fitted])
    with open(ROOT / "daemon/data/gate-weights.bin", "wb") as out:
        for k in range(len(CLASSES)):
            real = model.coef_[k] * scales
            scale = float(np.abs(real).max()) / 32767
            out.write(struct.pack("<ff", float(model.intercept_[k]), scale))
            out.write(np.round(real / scale).astype("<i2").tobytes())
    for name in [*FITTED, *MEASURED]:
        of = names == name
        p = model.predict_proba(x[of])
        bars = np.array([KEEP_MIN[any(VERDICT_AT[0] <= at < VERDICT_AT[1] for at, _ in row["features"])] for row in rows])[of]
        kept, keep = p[:, :KEPT].sum(axis=1) >= bars, y[of] < KEPT
        right = (kept & keep).sum()
        category = (p[:, :KEPT].argmax(axis=1) == y[of])[kept & keep].mean()
        note = "" if name in MEASURED else " (fitted)"
        print(f"{name}: {of.sum()} utterances, precision {right / kept.sum():.3f}, recall {right / keep.sum():.3f}, category {category:.3f}{note}")


if __name__ == "__main__":
    main()
