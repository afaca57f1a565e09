#!/usr/bin/env python3
"""Checks the form and the hash of a snapshot: python3 verify.py FILE. Standard library only."""
import decimal, hashlib, json, sys

def number(n):  # as ECMAScript spells it: RFC 8785 section 3.2.2.3
    if n == 0 or 1e-6 <= abs(n) < 1e21:
        plain = format(decimal.Decimal(repr(n or 0.0)), "f")
        return plain[:-2] if plain.endswith(".0") else plain
    mantissa, _, exponent = repr(n).partition("e")
    return f"{mantissa}e{int(exponent):+d}"

def canonical(v):
    if isinstance(v, dict):
        return "{" + ",".join(canonical(k) + ":" + canonical(v[k]) for k in sorted(v, key=lambda k: k.encode("utf-16-be"))) + "}"
    if isinstance(v, list):
        return "[" + ",".join(map(canonical, v)) + "]"
    if isinstance(v, (int, float)) and not isinstance(v, bool):
        return number(float(v))
    return json.dumps(v, ensure_ascii=False)

text = open(sys.argv[1], encoding="utf-8", newline="").read()
doc = json.loads(text)
if text != canonical(doc):
    sys.exit("not in the canonical form of RFC 8785")
told, doc["output_hash_sha256"] = doc["output_hash_sha256"], ""
found = hashlib.sha256(canonical(doc).encode()).hexdigest()
if told != found:
    sys.exit(f"output_hash_sha256: must be {found}, got {told}")
print("ok", told)
