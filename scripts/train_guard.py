"""Learn the guard's weights: sentences of attacks against honest ones → pgdocs/serve/guard_weights.tsv.

    python scripts/train_guard.py DOCS_DIR [TEXT_FILE ...]

A logistic regression over words and pairs of words (scikit-learn, in the extra `dev`). Attacks and look-alikes are
those of scripts/guard, written for it, the stock phrases below in many languages and tests/harmless.txt; honest are
also all sentences of DOCS_DIR (the converted manuals) and of the text files, one a line: the weights that are here
were learned with 1.1 million lines of READMEs, manual pages, changelogs and licences as a Debian machine holds them,
of which nothing is kept. What of it sounds most like an attack is added round by round.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise, product
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np
from scipy.sparse import csr_matrix, vstack
from sklearn.linear_model import LogisticRegression

from pgdocs.serve.guard_reader import fold, spell
from pgdocs.serve.guard_weights import FILE

HERE = Path(__file__).parent / "guard"
TESTS = Path(__file__).parent.parent / "tests"
LOOK_ALIKES, FIXTURE = TESTS / "harmless.txt", TESTS / "fixtures" / "docs"

STRENGTH = 1.0
"""The inverse of the regression's penalty: at 0.3 it knows fewer attacks, at 10 it learns sentences by heart."""

WEIGHT = 3.0
"""How much a sentence of ours counts beside one of a manual: there are twenty times as many of the latter."""

FIRST, ROUNDS, NEAR = 40_000, 4, -4.0
"""Honest lines from elsewhere that are learned from at the start; and how often all that score above NEAR are added."""

ALARM = -0.5
"""Honest sentences of ours and of the manuals that score more count four times as much in the next round."""

LEAST = 0.15
"""Smaller weights are left out: they are half of all and change no verdict."""

CAUTION = 0.7
"""Taken from every score: honest text that is cut out is worse than one attack of fifty more that gets through to a
model, which has a guard of its own."""

RARE = 3
"""Sentences of ours that a pair of words must be in: of one alone nothing can be learned."""

REASONS = {
    "override": "instruction override",
    "role": "role switch",
    "probe": "system prompt probe",
    "exfiltration": "request to send data away",
    "tool": "tool call lure",
    "recommend": "steering the answer",
    "secrecy": "hidden from the user",
    "memory": "persistent instruction",
    "authority": "claimed authority",
}
"""A family of scripts/guard/attacks.tsv → the reason that is told; others have none of their own."""

STOCK = {
    "en": (
        "ignore|disregard|forget|override|bypass|discard|skip|drop|cancel|stop following|do not follow|neglect"
        "|pay no attention to|please ignore|now forget|you must disregard|never mind",
        "|all|any|all the|your|all your|my|these|those|the|every",
        "previous|prior|earlier|above|preceding|former|existing|original|initial|past|system|safety|user's|developer's|",
        "instructions|directions|directives|commands|orders|rules|prompts|prompt|guidelines|guidance|messages|constraints"
        "|context|text|request",
    ),
    "de": (
        "ignoriere|ignorieren sie|vergiss|vergessen sie|missachte|verwirf|übergehe|bitte ignoriere",
        "alle|sämtliche|die|deine|ihre|",
        "bisherigen|vorherigen|vorigen|früheren|obigen|",
        "anweisungen|vorgaben|regeln|instruktionen|befehle|richtlinien",
    ),
    "es": (
        "ignora|ignore|olvida|olvide|descarta|omite|haz caso omiso de|no sigas|desobedece",
        "todas las|las|tus|",
        "instrucciones|reglas|órdenes|indicaciones|directrices",
        "anteriores|previas|precedentes|del sistema|recibidas",
    ),
    "fr": (
        "ignore|ignorez|oublie|oubliez|ne tiens pas compte de|ne tenez pas compte de|désobéis à|laisse tomber|néglige",
        "toutes les|les|tes|vos|",
        "instructions|consignes|règles|directives",
        "précédentes|antérieures|ci-dessus|données jusqu'ici|du système",
    ),
    "pt": (
        "ignore|ignora|esqueça|esquece|desconsidere|descarte|não siga",
        "todas as|as|suas|",
        "instruções|regras|ordens|diretrizes|orientações",
        "anteriores|prévias|acima|do sistema",
    ),
    "it": (
        "ignora|ignorate|dimentica|trascura|scarta|non seguire|non tenere conto di",
        "tutte le|le|tue|",
        "istruzioni|regole|direttive|indicazioni",
        "precedenti|anteriori|di sistema|ricevute finora",
    ),
    "nl": (
        "negeer|vergeet|sla over",
        "alle|de|je|",
        "vorige|eerdere|bovenstaande",
        "instructies|opdrachten|regels|richtlijnen",
    ),
    "pl": (
        "zignoruj|ignoruj|zapomnij|pomiń",
        "wszystkie|te|swoje|",
        "poprzednie|wcześniejsze|dotychczasowe",
        "instrukcje|polecenia|zasady|wytyczne",
    ),
    "ru": (
        "игнорируй|игнорируйте|проигнорируй|забудь|забудьте|отбрось|не следуй",
        "все|свои|эти|",
        "предыдущие|прежние|прошлые|ранее данные",
        "инструкции|указания|правила|команды|промпты",
    ),
    "uk": ("ігноруй|ігноруйте|забудь|забудьте", "усі|всі|свої|", "попередні|минулі", "інструкції|вказівки|правила"),
    "tr": (
        "",
        "tüm|bütün|",
        "önceki|yukarıdaki",
        "talimatları yok say|talimatları unut|kuralları görmezden gel|komutları dikkate alma",
    ),
    "id": ("abaikan|lupakan", "semua|", "instruksi|perintah|aturan", "sebelumnya|di atas|terdahulu"),
    "vi": ("bỏ qua|quên|phớt lờ", "tất cả|mọi|", "hướng dẫn|chỉ dẫn|lệnh|quy tắc", "trước đó|ở trên"),
    "cs": ("ignoruj|ignorujte|zapomeň|zapomeňte", "všechny|", "předchozí|dosavadní", "pokyny|instrukce|příkazy"),
    "sv": ("ignorera|glöm|bortse från", "alla|", "tidigare|föregående|ovanstående", "instruktioner|anvisningar|regler"),
    "zh": (
        "忽略|无视|忘记|不要理会|請忽略|请忽略",
        "|所有|你",
        "之前|先前|以上|上面|此前",
        "的指令|的所有指令|的说明|的提示|的规则|的指示",
    ),
    "ja": (
        "これまでの|以前の|上記の|前の",
        "|すべての",
        "指示|命令|ルール|プロンプト",
        "を無視して|を無視してください|を忘れて|に従わないで",
    ),
    "ko": (
        "이전의|위의|지금까지의|앞선",
        "|모든",
        "지시를|지침을|명령을|규칙을",
        "무시해|무시하세요|무시하고|잊어버려",
    ),
    "ar": ("تجاهل|انس|لا تتبع", "جميع|كل|", "التعليمات|الأوامر|القواعد", "السابقة|أعلاه"),
    "hi": ("", "पिछले|पहले के", "सभी|", "निर्देशों को अनदेखा करें|निर्देशों को भूल जाओ|नियमों को नज़रअंदाज़ करो"),
}
"""Stock phrases, which our writers avoided, in parts that are combined: the shortest orders are the most used ones."""

PER_LANGUAGE = {"en": 900}
OF_OTHERS = 60


def main(arguments: Sequence[str] | None = None) -> None:
    """Learn and write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("docs", type=Path, help="the converted manuals")
    parser.add_argument("texts", type=Path, nargs="*", help="honest text from elsewhere, one sentence a line")
    options = parser.parse_args(arguments)
    attacks = [*_read(HERE / "attacks.tsv"), *(("override", text) for text in stock())]
    lines = [[sentence for sentence in spell(text) if len(sentence) > 1] for _, text in attacks]
    bad = [sentence for line in lines for sentence in line]
    alike = [sentence for _, text in [*_read(HERE / "harmless.tsv"), *_read(LOOK_ALIKES)] for sentence in spell(text)]
    pages = [*sorted(options.docs.glob("**/*.md")), *sorted(FIXTURE.glob("*.md"))]
    manuals = _sentences(page.read_text(encoding="utf-8") for page in pages)
    elsewhere = _sentences(line for file in options.texts for line in file.read_text(encoding="utf-8").splitlines())
    random.Random(0).shuffle(elsewhere)
    print(f"{len(bad)} sentences of attacks, {len(alike)} alike, {len(manuals)} of manuals, {len(elsewhere)} elsewhere")
    honest = {tuple(sentence) for sentence in alike + manuals}
    bad = [sentence for sentence in bad if tuple(sentence) not in honest]
    model, vocabulary = _learn(bad, alike, manuals, elsewhere)
    model, vocabulary = _learn(_guilty(lines, model, vocabulary, honest), alike, manuals, elsewhere)
    FILE.write_text(_written(model, vocabulary, attacks), encoding="utf-8")


def _learn(
    bad: list[list[str]], alike: list[list[str]], manuals: list[list[str]], elsewhere: list[list[str]]
) -> tuple[Any, dict[str, int]]:
    """The regression, and the column of each feature."""
    counts = Counter(feature for sentence in bad + alike for feature in set(features(sentence)))
    vocabulary = {f: n for n, f in enumerate(f for f, times in sorted(counts.items()) if times >= RARE)}
    sure = [_matrix(sentences, vocabulary) for sentences in (bad, alike, manuals)]
    more = _matrix(elsewhere, vocabulary)
    chosen = np.arange(more.shape[0]) < FIRST
    weight = np.where(np.arange(sum(matrix.shape[0] for matrix in sure)) < len(bad) + len(alike), WEIGHT, 1.0)
    for _ in range(ROUNDS):
        rows = vstack([*sure, more[np.flatnonzero(chosen)]])
        counted = np.append(weight, np.ones(chosen.sum()))
        wanted = np.arange(rows.shape[0]) < len(bad)
        model = LogisticRegression(C=STRENGTH, solver="liblinear", max_iter=400, random_state=0)
        model.fit(rows, wanted, sample_weight=counted)
        model.coef_[np.abs(model.coef_) < LEAST] = 0
        scores = model.decision_function(more) if more.shape[0] else np.zeros(0)
        chosen |= scores > NEAR
        weight[len(bad) :][model.decision_function(rows[len(bad) : len(weight)]) > ALARM] *= 4
        found, *alarms = ((model.decision_function(matrix) > 0).sum() for matrix in sure)
        print(
            f"{found} of {len(bad)} sentences of attacks found; alarms: {alarms[0]} alike, {alarms[1]} of manuals,"
            f" {(scores > 0).sum()} elsewhere, where {chosen.sum()} sentences were learned from"
        )
    return model, vocabulary


def _guilty(
    lines: list[list[list[str]]], model: Any, vocabulary: dict[str, int], honest: set[tuple[str, ...]]
) -> list[list[str]]:
    """The sentences that make a line an attack: what stands innocently beside a worse one is not learned."""
    found = []
    for line in lines:
        scores = model.decision_function(_matrix(line, vocabulary)) if line else []
        found += [
            s
            for s, score in zip(line, scores, strict=True)
            if tuple(s) not in honest and (score > 0 or score == max(scores))
        ]
    return found


def stock() -> Iterator[str]:
    """Some of the stock phrases of each language, the same ones every time."""
    for language, parts in STOCK.items():
        phrases = [" ".join(" ".join(words).split()) for words in product(*(part.split("|") for part in parts))]
        yield from random.Random(0).sample(phrases, min(len(phrases), PER_LANGUAGE.get(language, OF_OTHERS)))


def features(sentence: list[str]) -> list[str]:
    """The words of a sentence, and their pairs as `guard_weights` weighs them."""
    words = ["^", *sentence]
    beside = [f"{a} {b}" for a, b in pairwise(words)]
    across = [f"{a} _ {b}" for a, b in zip(words, words[2:], strict=False)]
    return [*sentence, *beside, *across]


def _read(file: Path) -> list[tuple[str, str]]:
    lines = [line for line in file.read_text(encoding="utf-8").splitlines() if line and not line.startswith("# ")]
    return [(family, text) for family, _, text in (line.rpartition("\t") for line in lines)]


def _sentences(texts: Iterable[str]) -> list[list[str]]:
    """All sentences of some texts, each once."""
    found = dict.fromkeys(tuple(sentence) for text in texts for sentence in spell(text))
    return [list(sentence) for sentence in found]


def _matrix(sentences: list[list[str]], vocabulary: dict[str, int]) -> Any:
    columns, values, ends = [], [], [0]
    for sentence in sentences:
        for feature, times in Counter(features(sentence)).items():
            if feature in vocabulary:
                columns.append(vocabulary[feature])
                values.append(times)
        ends.append(len(columns))
    shape = (len(sentences), len(vocabulary))
    return csr_matrix((np.array(values, dtype=np.float32), columns, ends), shape=shape)


def _written(model: Any, vocabulary: dict[str, int], attacks: list[tuple[str, str]]) -> str:
    """The file: words as people spell them, heaviest first."""
    spelling: dict[str, Counter[str]] = {}
    families: dict[str, Counter[str]] = {}
    for family, text in attacks:
        for word in set(text.lower().split()):
            plain = word.strip(".,;:!?()[]\"'`*“”")
            spelling.setdefault(fold(plain).strip(), Counter())[plain] += 1
        for sentence in spell(text):
            for word in set(sentence):
                families.setdefault(word, Counter())[family] += 1
    sizes = Counter(family for family, _ in attacks)
    lines = []
    for feature, number in vocabulary.items():
        weight = float(model.coef_[0][number])
        if not weight:
            continue
        words = [_plain(word, spelling) for word in feature.split(" ")]
        line = f"{' '.join(words)}\t{weight:.2f}"
        if " " not in feature and weight > 0:
            counted = families.get(feature, Counter())
            best = max(REASONS, key=lambda family: counted[family] / (sizes[family] + 1))
            line += f"\t{REASONS[best]}" if counted[best] else ""
        lines.append((-weight, line))
    return "\n".join([f"bias\t{float(model.intercept_[0]) - CAUTION:.2f}", *(line for _, line in sorted(lines))]) + "\n"


def _plain(word: str, spelling: dict[str, Counter[str]]) -> str:
    """A folded word as it is mostly spelt, if that is folded to the same."""
    if word in ("^", "_"):
        return word
    for plain, _ in spelling.get(word, Counter()).most_common(1):
        if plain and " " not in plain and "\t" not in plain:
            return plain
    return word


if __name__ == "__main__":
    main()
