#!/usr/bin/env python3
"""Checks a snapshot: python3 verify.py FILE. Standard library only, Python 3.9 or later.

Checks the hash, and computes every component, composite and confidence anew from the scores of
the document and the numbers that normalization.composite states. Says whether the bytes are
canonical. The one published document of the first rules, which
state no numbers, is known by its hash.
"""
import decimal, hashlib, json, math, sys

# the published documents of the first rules, which state no numbers to compute them anew
FIRST_RULES = {"e554ef47a88489cb45247f1b84ec7a2a6e5c7c68165ecbc4e0336677e43ba33d"}

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

def unique(pairs):
    if len(pairs) != len(dict(pairs)):
        sys.exit("an object has a field twice")
    return dict(pairs)

def clamp(x):
    return min(max(x, 0.0), 100.0)

def near(a, b, slack=1.5e-4):
    return a is b if a is None or b is None else abs(a - b) <= slack

def compose(scores, rules, lines):
    """The components, the score and half the width of its interval."""
    parts = []
    for source in sorted(rules["specific"]):
        cells = {}
        for s in scores:
            key = (s["source_id"], s["source_split"], s["metric"], s.get("category") or "")
            if s["source_id"] == source and key in lines:
                cells.setdefault(key, []).append(s)
        weight = total = drift = 0.0
        for key, in_cell in sorted(cells.items()):
            line, n = lines[key], len(in_cell)
            value = sum(s["value"] for s in in_cell) / n
            bounded = [s for s in in_cell if s.get("lower") is not None and s.get("upper") is not None]
            error = math.sqrt(sum(((s["upper"] - s["lower"]) / (2 * rules["z"])) ** 2 for s in bounded)) / n
            w = 1 / (line["noise"] ** 2 + (line["slope"] * error) ** 2)
            weight, total = weight + w, total + w * (line["level"] + line["slope"] * value)
            drift = max(drift, rules.get("drift", {}).get(source, {}).get(key[1], 0.0))
        if cells:
            parts.append((source, total / weight, round(1 / (1 / weight + rules["specific"][source] ** 2 + drift ** 2), 6)))
    if not parts:
        return [], None, None
    prior = 1 / rules["deviation"] ** 2
    known = sum(w for _, _, w in parts)
    share = known / (known + prior)
    components = [(s, clamp(rules["mean"] + share * (x - rules["mean"])), w) for s, x, w in parts]
    return components, sum(w * x for _, x, w in components) / known, rules["z"] / math.sqrt(known + prior)

def check_rules(doc):
    stated = doc["normalization"]["composite"].split("The numbers as JSON: ", 1)
    if len(stated) < 2:
        sys.exit("normalization.composite: must state the numbers of the rules")
    rules = json.loads(stated[1])
    lines = {(l["source_id"], l["split"], l["metric"], l["category"]): l for l in rules["lines"]}
    for m in doc["models"]:
        for s in m["scores"]:
            line = lines.get((s["source_id"], s["source_split"], s["metric"], s.get("category") or ""))
            want = None if line is None else clamp(line["level"] + line["slope"] * s["value"])
            if not near(want, s["normalized_0_100"]):
                sys.exit(f"{m['model_key']}: normalized_0_100 of a score must be {want}, got {s['normalized_0_100']}")
        c = m["composite"]
        base = any(l.startswith("base model: ") for l in c["limitations"])
        parts, score, half = ([], None, None) if base else compose(m["scores"], rules, lines)
        got = [(p["source_id"], p["normalized_0_100"], p["weight"]) for p in c["components"]]
        if len(parts) != len(got) or any(w[0] != g[0] or not near(w[1], g[1]) or not near(w[2], g[2], 1.5e-6) for w, g in zip(parts, got)):
            sys.exit(f"{m['model_key']}: components must be {parts}, got {got}")
        if not near(score, c["score_0_100"], 3e-4):
            sys.exit(f"{m['model_key']}: score_0_100 must be {score}, got {c['score_0_100']}")
        limits = rules["confidence"]
        want = "low" if half is None or half > limits["moderate"] else "moderate" if half > limits["high"] else "high"
        if c["confidence"] != want:
            sys.exit(f"{m['model_key']}: confidence must be {want}, got {c['confidence']}")

text = open(sys.argv[1], encoding="utf-8", newline="").read()
doc = json.loads(text, object_pairs_hook=unique)
is_canonical = text == canonical(doc)
told, doc["output_hash_sha256"] = doc["output_hash_sha256"], ""
found = hashlib.sha256(canonical(doc).encode()).hexdigest()
if told != found:
    sys.exit(f"output_hash_sha256: must be {found}, got {told}")
if told not in FIRST_RULES:
    check_rules(doc)
print("ok", told, "" if is_canonical else "(valid content; the bytes are not in the canonical form of RFC 8785)")
