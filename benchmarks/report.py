"""The figures as Markdown."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from statistics import median

from benchmarks.builds import Cost, Costs, middle
from benchmarks.parts import Part
from benchmarks.sites import Size, Variant

_BEGIN, _END = "<!-- benchmark: begin -->", "<!-- benchmark: end -->"


def builds(size: Size, costs: Costs) -> str:
    """The table of one size.

    Seconds are those of the processor, but of the clock where two processes share the work.
    """
    rows = [_row(step, costs) for step in costs]
    cold = costs["cold"]
    memory = {variant: middle(cold[variant], "memory") for variant in Variant}
    cells = [f"{memory[variant]:.0f} MiB" for variant in Variant]
    rows.append(["peak memory, cold", *cells, *_ratios(memory)])
    seconds = {variant: middle(cold[variant], "cpu") for variant in Variant}
    added = {
        variant: (seconds[variant] - seconds[Variant.PLAIN]) / size.records for variant in cold
    }
    rows.append(
        [
            "added a record, cold",
            "",
            *(f"{1000 * added[each]:.2f} ms" for each in (Variant.NEEDS, Variant.OURS)),
            "",
            f"{added[Variant.OURS] / added[Variant.NEEDS]:.2f}",
        ]
    )
    walls = {
        variant: middle(costs["cold, -j 2"][variant], "wall") / middle(cold[variant], "wall")
        for variant in Variant
    }
    rows.append(["-j 2 to serial, clock", *(f"{walls[each]:.2f}" for each in Variant), "", ""])
    head = [*(str(each) for each in Variant), "ours to plain", "ours to sphinx-needs"]
    title = f"{size.records:,} records on {size.pages} pages"
    return f"## {title}\n\n{_table(['', *head], rows)}"


def _row(step: str, costs: Costs) -> list[str]:
    figure = "wall" if step.endswith("-j 2") else "cpu"
    middles = {variant: middle(found, figure) for variant, found in costs[step].items()}
    cells = [f"{middles[each]:.2f} s" if each in middles else "" for each in Variant]
    return [step, *cells, *(_ratios(middles) if len(middles) > 1 else ("", ""))]


def _ratios(figures: dict[Variant, float]) -> tuple[str, str]:
    ours = figures[Variant.OURS]
    return (
        f"{ours / figures[Variant.PLAIN]:.2f}",
        f"{ours / figures[Variant.NEEDS]:.2f}",
    )


def checking(built: list[Cost], checked: list[Cost], read: list[Cost], shares: list[float]) -> str:
    """What checking takes of our own cold build, and of what Sphinx takes to read plain MyST."""
    seconds = middle(checked, "cpu")
    return (
        f"`memreport check` takes {seconds / middle(built, 'cpu'):.2f} of the cold HTML build "
        f"({seconds:.2f} s), and {seconds / middle(read, 'cpu'):.2f} of what Sphinx takes to read "
        f"the same text as plain MyST, writing nothing ({middle(read, 'cpu'):.2f} s). "
        f"Opening and asking the sources and all checks add {100 * median(shares):.1f} % to it."
    )


def parts(name: str, compared: Iterable[Part]) -> str:
    """The table of the parts alone."""
    rows = [
        [part.name, f"{1000 * part.ours:.0f} ms", f"{1000 * part.bare:.0f} ms", f"{part.ratio:.2f}"]
        for part in compared
    ]
    return f"## Parts alone: {name}\n\n{_table(['', 'ours', 'bare', 'ratio'], rows)}"


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---", *["--:"] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def save(path: Path, text: str) -> None:
    """Put the tables between the two marks of a document.

    :raises ValueError: when it lacks the marks.
    """
    before, _begin, rest = path.read_text(encoding="utf-8").partition(_BEGIN)
    _old, end, after = rest.partition(_END)
    if not end:
        raise ValueError(f"{path} lacks the lines {_BEGIN} and {_END}")
    path.write_text(f"{before}{_BEGIN}\n\n{text}\n{_END}{after}", encoding="utf-8")
