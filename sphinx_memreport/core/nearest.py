"""What a missing quote, name or path probably was: moved, edited or gone.

Everything here is deterministic and bounded: the same input gives the same answer, and a
file of some megabytes or a quote of some thousand lines costs a second or two at most.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from typing import NamedTuple

from rapidfuzz import fuzz
from rapidfuzz.distance import OSA, Indel, Opcode

from sphinx_memreport.core.models import LineRange
from sphinx_memreport.core.quotes import SourceText, normalise

#: Of a longer quote only this many characters, around its first difference, are compared.
MAX_QUOTE = 10_000
#: The greatest length of a word diff, in characters.
MAX_DIFF = 600

# One token is a word or a single other character. Scripts that are written without spaces
# (ideographs, kana) count by the character, or a sentence would be a word.
_TOKEN = re.compile(r"[^\W\u2e80-\uabff\uf900-\U0010ffff]+|\S|\s")


class Near(NamedTuple):
    """The passage of a file that comes nearest to a quote.

    ``passage`` is verbatim text, cut at word boundaries; ``lines`` are those it touches;
    ``similarity`` is 0 to 100; ``diff`` leads from the quote to the passage (:func:`word_diff`).
    """

    lines: LineRange
    similarity: float
    passage: str
    diff: str


class _Span(NamedTuple):
    """Characters of a text, end excluded."""

    start: int
    end: int


# --- passages -----------------------------------------------------------------------------

# Probes are the parts of a quote that are sought in the whole file. Longer ones take more
# than their share of time, shorter ones occur by chance.
_PROBE = 120
_SHORTEST_PROBE = 20
_MAX_PROBES = 5
# A part of the quote may match worse than the whole does.
_PROBE_TOLERANCE = 0.8
# Only so many of the regions that the probes point at are looked at closely.
_MAX_REGIONS = 3
# How far around a region its true ends are sought, besides the length of the quote.
_MARGIN = 80
# Data without breaks (base64) has words of any length: a span is widened by no more than this.
_LONGEST_WORD = 40
# Up to so many words at an end of a quote count as changed rather than gone, unless that costs
# more than this much similarity.
_SUBSTITUTED, _SUBSTITUTION = 3, 10.0
# The quote's own beginning or end, behind no more inserted characters than this, is worth more.
_INSERTED, _WHOLE = 24, 25.0


def nearest_passage(quote: str, source: SourceText, minimum: float = 60.0) -> Near | None:
    """Find the passage that a quote probably was, or None when nothing comes near.

    Of several equally near passages the first that was found counts. Of a quote longer than
    :data:`MAX_QUOTE` only a part around its first difference is compared.

    :param minimum: the least similarity that counts, 0 to 100.
    """
    text = source.normalised
    wanted = _comparable_part(normalise(quote), text)
    fits = (_fit(wanted, text, region, minimum) for region in _regions(wanted, text, minimum))
    similarity, span = max(fits, key=lambda fit: fit[0], default=(0.0, _Span(0, 0)))
    if similarity < minimum or span.start == span.end:
        return None
    start, end = source.span(*span)
    return Near(
        lines=source.lines_of(start, end),
        similarity=similarity,
        passage=source.text[start:end],
        diff=word_diff(wanted, text[span.start : span.end]),
    )


def _comparable_part(quote: str, text: str, step: int = 1000) -> str:
    """The quote, or of a very long one the words around its first difference from the text."""
    if len(quote) <= MAX_QUOTE:
        return quote
    parts = range(0, len(quote), step)
    differing = next((at for at in parts if quote[at : at + step] not in text), 0)
    start = min(max(0, differing - MAX_QUOTE // 2), len(quote) - MAX_QUOTE)
    words = quote[start : start + MAX_QUOTE].split(" ")
    return " ".join(words[1:-1] or words)  # the first and the last may be cut


def _regions(quote: str, text: str, minimum: float) -> list[_Span]:
    """Where in the text the quote may stand, by the places that its parts are found at."""
    if len(quote) >= len(text):
        return [_Span(0, len(text))]
    regions = set()
    for offset, probe in _probes(quote):
        found = fuzz.partial_ratio_alignment(probe, text, score_cutoff=minimum * _PROBE_TOLERANCE)
        if found:
            start = min(max(0, found.dest_start - offset), len(text) - len(quote))
            regions.add(_Span(start, start + len(quote)))
    likely = sorted(regions, key=lambda span: (-fuzz.ratio(quote, text[slice(*span)]), span))
    return likely[:_MAX_REGIONS]


def _probes(quote: str) -> Iterator[tuple[int, str]]:
    """A short quote whole, and parts of it from beginning to end, with their offsets."""
    if len(quote) <= _PROBE:
        yield 0, quote
    number = min(max(2, len(quote) // _PROBE), _MAX_PROBES)
    length = min(len(quote) // number, _PROBE)
    if length >= _SHORTEST_PROBE:
        for index in range(number):
            offset = (len(quote) - length) * index // (number - 1)
            yield offset, quote[offset : offset + length]


def _fit(quote: str, text: str, region: _Span, minimum: float) -> tuple[float, _Span]:
    """The best span of whole words in and around a region, with its similarity to the quote.

    A region is as long as the quote: it is wrong by what was inserted or removed. An
    alignment by words is not, but cannot tell changed words at the ends from missing ones.
    Both propose starts and ends, and the similarity decides.
    """
    low = max(0, region.start - len(quote) - _MARGIN)
    window = text[low : region.end + len(quote) + _MARGIN]
    words = _words(window)
    if not words:
        return 0.0, _Span(0, 0)
    starts, ends = _cut_edges(words, _Span(region.start - low, region.end - low))
    likely_starts, likely_ends = _aligned_edges(quote, window, words)
    ratios = {
        _Span(start, end): fuzz.ratio(quote, window[start:end])
        for start in starts.union(likely_starts)
        for end in ends.union(likely_ends)
        if start < end
    }

    def rank(span: _Span) -> tuple[float, int, int]:
        worth = ratios[span]
        if worth >= minimum:
            worth += likely_starts.get(span.start, 0.0) + likely_ends.get(span.end, 0.0)
        return worth, span.start - span.end, -span.start

    best = max(ratios, key=rank)
    return ratios[best], _Span(low + best.start, low + best.end)


def _words(text: str) -> list[_Span]:
    """The tokens of a normalised text, without the spaces."""
    return [_Span(*match.span()) for match in _TOKEN.finditer(text) if match[0] != " "]


def _cut_edges(words: Sequence[_Span], span: _Span) -> tuple[set[int], set[int]]:
    """Starts and ends of the words that the ends of a span cut, outwards and inwards."""
    first = max(0, bisect_right(words, span.start, key=lambda word: word.start) - 1)
    last = min(bisect_left(words, span.end, key=lambda word: word.end), len(words) - 1)
    starts = {word.start for word in words[first : first + 2]}
    ends = {word.end for word in words[max(0, last - 1) : last + 1]}
    if words[first].start + _LONGEST_WORD < span.start < words[first].end:
        starts.add(span.start)
    if words[last].start < span.end < words[last].end - _LONGEST_WORD:
        ends.add(span.end)
    return starts, ends


def _aligned_edges(
    quote: str, window: str, words: Sequence[_Span]
) -> tuple[dict[int, float], dict[int, float]]:
    """Starts and ends of the words that match the quote's first and last words.

    With each comes what it is worth beyond similarity. Where a few words at an end of the
    quote have no match, as many words of the text are taken to stand for them: to show what
    a word became is worth more than a passage without it.
    """
    quoted = [quote[slice(*word)] for word in _words(quote)]
    tokens = [window[slice(*word)] for word in words]
    pairs = [
        (op.src_start + step, op.dest_start + step)
        for op in _opcodes(quoted, tokens)
        if op.tag == "equal"
        for step in range(op.src_end - op.src_start)
    ]
    if not pairs:
        return {}, {}
    first, last = _densest_run([words[at] for _, at in pairs], len(quote))
    before, after = pairs[first][0], len(quoted) - 1 - pairs[last][0]
    start, end = _tightened(tokens, [at for _, at in pairs[first : last + 1]])
    starts, ends = {words[start].start: 0.0}, {words[end].end: 0.0}
    starts[words[max(0, start - before)].start] = _worth(before)
    ends[words[min(end + after, len(words) - 1)].end] = _worth(after)
    # the rest of the quote may only stand on the other side of something that was inserted
    whole = _behind_insertion(tokens, words, end, quoted[len(quoted) - after :])
    if whole is not None:
        ends[words[whole].end] = _WHOLE
    back = [_Span(-word.end, -word.start) for word in reversed(words)]
    whole = _behind_insertion(tokens[::-1], back, len(words) - 1 - start, quoted[:before][::-1])
    if whole is not None:
        starts[-back[whole].end] = _WHOLE
    return starts, ends


def _behind_insertion(
    tokens: Sequence[str], words: Sequence[_Span], at: int, rest: Sequence[str]
) -> int | None:
    """The last word of ``rest``, where that stands a little further on than at the next word."""
    for start in range(at + 1, len(words) - len(rest) + 1 if rest else 0):
        if words[start].start - words[at].end > _INSERTED:
            break
        if tokens[start : start + len(rest)] == rest:
            return start + len(rest) - 1
    return None


def _worth(unmatched: int) -> float:
    return _SUBSTITUTION if unmatched <= _SUBSTITUTED else 0.0


def _densest_run(matches: Sequence[_Span], length: int) -> tuple[int, int]:
    """The first and last of those matches that are worth their distance.

    An alignment also matches stray words far off. This finds the run for which matched
    characters, against the length of the quote and of the run, are the most (Dinkelbach's
    method: raise the price of a character until no run pays).
    """
    price, run = 0.0, (0, len(matches) - 1)
    while True:
        candidate = _best_run(matches, price)
        first, last = candidate
        matched = sum(match.end - match.start for match in matches[first : last + 1])
        density = 2 * matched / (length + matches[last].end - matches[first].start)
        if density <= price:
            return run
        price, run = density, candidate


def _best_run(matches: Sequence[_Span], price: float) -> tuple[int, int]:
    """The run that gains most: two a matched character, less the price of all it spans."""
    gain, first, best = 0.0, 0, (0.0, 0, 0)
    for index, (start, end) in enumerate(matches):
        gap = start - matches[index - 1].end if index else 0
        if index == 0 or gain < price * gap:
            gain, first, gap = 0.0, index, 0
        gain += 2 * (end - start) - price * (end - start + gap)
        best = max(best, (gain, -first, index))
    return -best[1], best[2]


def _tightened(tokens: Sequence[str], matches: Sequence[int]) -> tuple[int, int]:
    """The first and last index of the same tokens in the same order, closest together.

    Where a token is repeated, an alignment may match the one farther off.
    """
    start = matches[-1]
    for match in reversed(matches[:-1]):
        start = next(at for at in range(start - 1, -1, -1) if tokens[at] == tokens[match])
    end = start
    for match in matches[1:]:
        end = next(at for at in range(end + 1, len(tokens)) if tokens[at] == tokens[match])
    return start, end


# --- differences --------------------------------------------------------------------------

# Beyond its common beginning and end, at most so many tokens of each side are compared.
_MAX_TOKENS = 4000
# Unchanged and changed text is shown up to this length, longer text by its beginning and end.
_KEPT, _CHANGED = 80, 120


class _Piece(NamedTuple):
    """A part of a diff; it is unchanged when both sides are the same."""

    gone: str
    new: str

    @property
    def kept(self) -> bool:
        return self.gone == self.new


def word_diff(expected: str, found: str) -> str:
    """The way from one text to another in git's style, ``kept [-gone-]{+new+} kept``.

    One line with whitespace collapsed, at most :data:`MAX_DIFF` characters: long parts are
    shown by their beginning and end around an ``…``, and what does not fit is an ``…`` too.
    """
    pieces, complete = _pieces(normalise(expected), normalise(found))
    shown = ""
    for index, piece in enumerate(pieces):
        text = _show(piece, first=index == 0, last=index == len(pieces) - 1)
        if len(shown) + len(text) >= MAX_DIFF:
            return shown + "…"
        shown += text
    return shown if complete else shown + "…"


def _pieces(expected: str, found: str) -> tuple[list[_Piece], bool]:
    """The pieces of a diff, and whether they cover the whole of both texts."""
    gone, new = _TOKEN.findall(expected), _TOKEN.findall(found)
    before, after = _common_ends(gone, new)
    head, tail = "".join(gone[:before]), "".join(gone[len(gone) - after :])
    gone, new = gone[before : len(gone) - after], new[before : len(new) - after]
    complete = max(len(gone), len(new)) <= _MAX_TOKENS
    if not complete:
        gone, new, tail = gone[:_MAX_TOKENS], new[:_MAX_TOKENS], ""
    changes = [
        _Piece("".join(gone[op.src_start : op.src_end]), "".join(new[op.dest_start : op.dest_end]))
        for op in _opcodes(gone, new)
    ]
    pieces = _readable([_Piece(head, head), *changes, _Piece(tail, tail)])
    if complete:
        return pieces, True
    # Near the cut, changes look like what they are not: end with the last long unchanged part.
    solid = [n for n, piece in enumerate(pieces, 1) if piece.kept and len(piece.gone) > _KEPT]
    return pieces[: solid[-1]] if solid else pieces, False


def _readable(pieces: Sequence[_Piece]) -> list[_Piece]:
    """Join changes that only a few signs stand between, and narrow long ones by character."""
    joined: list[_Piece] = []
    for piece, following in zip(pieces, [*pieces[1:], _Piece("", "")], strict=True):
        between = _is_slight(piece.gone) and any(following)
        if joined and not joined[-1].kept and (between or not piece.kept):
            last = joined.pop()
            piece = _Piece(last.gone + piece.gone, last.new + piece.new)
        joined.append(piece)
    return [part for piece in joined for part in _narrowed(piece) if any(part)]


def _is_slight(text: str) -> bool:
    return len(text) <= 4 and not any(char.isalnum() for char in text)


def _narrowed(piece: _Piece) -> tuple[_Piece, ...]:
    """A long change without the characters that its sides begin and end with alike."""
    gone, new = piece
    if piece.kept or max(len(gone), len(new)) <= _CHANGED:
        return (piece,)
    before, after = _common_ends(gone, new)
    head, tail = gone[:before], gone[len(gone) - after :]
    gone, new = gone[before : len(gone) - after], new[before : len(new) - after]
    return _Piece(head, head), _Piece(gone, new), _Piece(tail, tail)


def _show(piece: _Piece, *, first: bool, last: bool) -> str:
    if piece.kept:
        return _elided(piece.gone, _KEPT, head=last or not first, tail=first or not last)
    gone = f"[-{_elided(piece.gone, _CHANGED)}-]" if piece.gone else ""
    new = f"{{+{_elided(piece.new, _CHANGED)}+}}" if piece.new else ""
    return gone + new


def _elided(text: str, limit: int, *, head: bool = True, tail: bool = True) -> str:
    """A long text by its beginning, its end or both, cut at spaces if it has some."""
    if len(text) <= limit:
        return text
    left, right = text[: limit // 2], text[-limit // 2 :]
    left = re.sub(r"(?<= )\S+$", "", left) if head else ""
    right = re.sub(r"^\S+(?= )", "", right) if tail else ""
    return f"{left}…{right}"


def _shared(left: Sequence[str], right: Sequence[str]) -> int:
    """How many items two sequences begin with alike."""
    pairs = enumerate(zip(left, right, strict=False))
    return next((at for at, (one, other) in pairs if one != other), min(len(left), len(right)))


def _common_ends(left: Sequence[str], right: Sequence[str]) -> tuple[int, int]:
    """How many items two sequences begin with alike, and with how many of the rest they end."""
    before = _shared(left, right)
    return before, _shared(left[before:][::-1], right[before:][::-1])


def _opcodes(before: Sequence[str], after: Sequence[str]) -> list[Opcode]:
    """Edits from one list of tokens to the other, and what is equal between."""
    numbers: dict[str, int] = {}
    coded = [
        [numbers.setdefault(token, len(numbers)) for token in side] for side in (before, after)
    ]
    return list(Indel.opcodes(*coded))


# --- names and paths ----------------------------------------------------------------------

# What reads as a typo: so many characters wrong, missing, extra or swapped.
_TYPOS = 2
# How much alike the whole paths must be for a file of another name.
_LIKE_PATH = 60.0


class _Rank(NamedTuple):
    """How far a name is from another, least first."""

    typos: int
    unlike: float


def nearest_names(
    name: str, candidates: Iterable[str], limit: int = 3, minimum: float = 75.0
) -> list[str]:
    """The candidates that ``name`` may have been meant to be, best first, ties by alphabet.

    Names are near when one or two typos lie between them, when they (of IDs the last parts)
    are at least ``minimum`` (0 to 100) similar, or when one goes on with further words.
    Case and the form of hyphens do not count; two different numbers are never near.
    """
    ranked = [(_rank(name, candidate, minimum), candidate) for candidate in set(candidates)]
    near = sorted((rank, candidate) for rank, candidate in ranked if rank is not None)
    return [candidate for _, candidate in near[:limit]]


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The fix where one of a closed list is expected: those that may have been meant."""
    near = nearest_names(word, known)
    quoted = (f"'{each}'" for each in near)
    return (
        f"did you mean {' or '.join(quoted)}?" if near else "write one of these, and nothing else"
    )


def nearest_path(path: str, paths: Iterable[str]) -> str | None:
    """The path that ``path`` may have become or may have been meant to be.

    A file of the same name elsewhere comes first, and of several the one with the most
    directories before that name in common; then a file with a similar name in a similar
    place. None when there is neither.
    """
    others, folded = sorted(set(paths) - {path}), _folded(path)
    moved = [other for other in others if _base(other) == _base(path)]
    if moved:
        return min(moved, key=lambda o: (-_common_suffix(path, o), -fuzz.ratio(path, o)))
    renamed = [
        (rank.typos, -likeness, other)
        for other in others
        if (likeness := fuzz.ratio(folded, _folded(other), score_cutoff=_LIKE_PATH))
        and (rank := _rank(_stem(path), _stem(other))) is not None
    ]
    return min(renamed)[2] if renamed else None


def _rank(name: str, candidate: str, minimum: float = 75.0) -> _Rank | None:
    """The rank of a candidate, or None when it is not near."""
    # The capital parts that an ID begins with are alike in too many IDs to say much.
    hyphens = len(list(takewhile(str.isupper, candidate.split("-")[:-1])))
    name, candidate = _folded(name), _folded(candidate)
    tail, other = (text.split("-", hyphens)[-1] for text in (name, candidate))
    if tail.isdecimal() and other.isdecimal() and tail.lstrip("0") != other.lstrip("0"):
        return None
    typos = OSA.distance(name, candidate, score_cutoff=_TYPOS)
    likeness = fuzz.ratio(tail, other)
    # Of one or two letters all may differ: that is another name.
    mistyped = typos <= _TYPOS and OSA.distance(tail, other) < max(len(tail), len(other))
    longer, shorter = sorted((name, candidate), key=len, reverse=True)
    extended = longer.startswith(shorter + "-")
    resembles = likeness >= minimum and not tail.isdecimal()
    return _Rank(typos, -likeness) if mistyped or extended or resembles else None


def _folded(name: str) -> str:
    return name.replace("\u2010", "-").replace("\u2011", "-").casefold()


def _base(path: str) -> str:
    return path.rpartition("/")[2]


def _stem(path: str) -> str:
    """The base name without its last ending."""
    base = _base(path)
    return base.rpartition(".")[0] or base


def _common_suffix(path: str, other: str) -> int:
    """How many parts at their ends two paths have in common."""
    return _shared(path.split("/")[::-1], other.split("/")[::-1])


# --- other files --------------------------------------------------------------------------


def files_holding(quotes: Sequence[str], files: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """The files that hold each quote, by the match rule of :mod:`~sphinx_memreport.core.quotes`.

    :param files: path and text of each file, read one at a time.
    :returns: for each quote the paths in the order of ``files``.
    :raises ValueError: when a quote has no text.
    """
    needles = {quote: normalise(quote) for quote in quotes}
    if not all(needles.values()):
        raise ValueError("an empty quote stands everywhere and nowhere")
    # A word of the quote stands in the raw text as it is: most files need no more than that.
    words = {quote: max(needle.split(" "), key=len) for quote, needle in needles.items()}
    holders: dict[str, list[str]] = {quote: [] for quote in needles}
    for path, text in files:
        likely = [quote for quote, word in words.items() if word in text]
        normalised = normalise(text) if likely else ""
        for quote in likely:
            if needles[quote] in normalised:
                holders[quote].append(path)
    return holders
