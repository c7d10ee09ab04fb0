#!/usr/bin/env python3
"""Print index/src/embed/ranges.rs: the character classes that BERT's basic tokenisation needs.

Usage: scripts/make_unicode_ranges.py > index/src/embed/ranges.rs
The classes come from the `unicodedata` module of the Python that runs this (its Unicode version is written into the output).
"""

import sys
import unicodedata


def ranges(accept):
    out, start = [], None
    for cp in range(0x110000):
        inside = not 0xD800 <= cp <= 0xDFFF and accept(unicodedata.category(chr(cp)))
        if inside and start is None:
            start = cp
        elif not inside and start is not None:
            out.append((start, cp - 1))
            start = None
    if start is not None:
        out.append((start, 0x10FFFF))
    return out


def table(name, doc, rows):
    print(f"/// {doc}")
    print("#[rustfmt::skip]")
    print(f"pub(super) const {name}: &[(u32, u32)] = &[")
    line = "   "
    for low, high in rows:
        item = f" (0x{low:X}, 0x{high:X}),"
        if len(line) + len(item) > 118:
            print(line)
            line = "   "
        line += item
    print(line)
    print("];")


def main():
    print("//! Character classes as sorted, disjoint, inclusive ranges of code points. Made by `scripts/make_unicode_ranges.py`;")
    print(f"//! data of Unicode {unicodedata.unidata_version}. It must not know what the classes are used for.")
    print()
    table("MARKS", "Non-spacing marks (category Mn), dropped after decomposition.", ranges(lambda c: c == "Mn"))
    print()
    table("PUNCTUATION", "Punctuation (categories P*); ASCII symbols are added by the reader.", ranges(lambda c: c[0] == "P"))
    print()
    table("DROPPED", "Control, format and private-use characters (Cc, Cf, Co), removed before anything else.",
          ranges(lambda c: c in ("Cc", "Cf", "Co")))


if __name__ == "__main__":
    sys.exit(main())
