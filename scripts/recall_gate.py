#!/usr/bin/env python3
"""Holds recall quality of a built daemon against floors (python3, standard library only).

  recall_gate.py --bin DIR --eval recall_eval.py --data FOLDER

Runs the evaluation program in the three modes on every set below FOLDER, prints one line a set and mode, and fails when
hybrid does not beat both legs on three of the four sets, is anywhere more than 0.04 nDCG@10 below the better leg, or falls
below a set's floor in recall@5, recall@10 or nDCG@10.
The data stay where they are: nothing is copied.
"""
import argparse
import json
import os
import subprocess
import sys

MARGIN = 0.04
SETS = ["locomo-dev", "beam-dev", "cmrc-dev", "mixed"]
FLOORS = {"locomo-dev": (0.70, 0.77, 0.62), "beam-dev": (0.56, 0.635, 0.54), "cmrc-dev": (0.88, 0.94, 0.79), "mixed": (0.88, 0.92, 0.76)}
MEASURES = ("recall@5", "recall@10", "nDCG@10")
MODES = ["hybrid", "lexical", "vector"]


def figures(a, name, mode):
    command = [sys.executable, a.eval, "--bin", a.bin, "--data", os.path.join(a.data, name), "--mode", mode, "--json"]
    out = subprocess.run(command, check=True, capture_output=True, text=True, timeout=900).stdout
    parsed = json.loads(out)
    return parsed[0] if isinstance(parsed, list) else parsed


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--bin", required=True)
    p.add_argument("--eval", required=True)
    p.add_argument("--data", required=True)
    a = p.parse_args()
    wins, failures = 0, []
    print(f"{'set':<12} {'mode':<8} recall@5 recall@10 nDCG@10   p50 ms  ingest/s  MiB")
    for name in SETS:
        ndcg = {}
        for mode in MODES:
            r = figures(a, name, mode)
            q = r["quality"]["ALL"]
            ndcg[mode] = q["nDCG@10"]
            if mode == "hybrid":
                low = [f"{m} {q[m]:.4f} < {floor}" for m, floor in zip(MEASURES, FLOORS[name]) if q[m] < floor]
                failures += [f"{name}: hybrid is below its floor: {', '.join(low)}"] if low else []
            print(f"{name:<12} {mode:<8} {q['recall@5']:8.4f} {q['recall@10']:9.4f} {q['nDCG@10']:7.4f} {r['recall_ms_p50']:8.3f}"
                  f" {r['ingest_per_s']:9d} {r['rss_mib']:4d}", flush=True)
        better = max(ndcg["lexical"], ndcg["vector"])
        wins += ndcg["hybrid"] > better
        if ndcg["hybrid"] < better - MARGIN:
            failures.append(f"{name}: hybrid {ndcg['hybrid']:.4f} is more than {MARGIN} below the better leg {better:.4f}")
    if wins < 3:
        failures.append(f"hybrid beats both legs on {wins} of {len(SETS)} sets, not on three")
    for f in failures:
        print("FAILED:", f)
    print(f"hybrid beats both legs on {wins} of {len(SETS)} sets")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
