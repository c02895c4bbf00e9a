"""The columns of OSU's tables: finds the names in a heading, and our factor or metric for a name.

    # Size      Bandwidth (MB/s)        Validation P50 Tail BW(MB/s) P99 Tail BW(MB/s)

Names contain spaces, and a single space may separate two names. A name ends with a unit, or is one
of a few known words.
"""

import re
from dataclasses import dataclass

_NAME = re.compile(
    r"(?:Transmit )?Size(?: [(\[]B[)\]])?(?= |$)|Operation|Iterations|Validation|MB/s|Messages/s|Million ops/s"
    r"|[A-Za-z][\w. -]*?[(\[](?:us|ms|s|%|[KMG]i?B/s(?:ec)?|[Mm]sgs?/s)[)\]]"
)
_TAIL = re.compile(r"P\d+ Tail ")
_UNITS = {"us": ("us", "us", "lower"), "ms": ("ms", "ms", "lower"), "s": ("seconds", "s", "lower"),
          "%": ("percent", "%", "higher"), "MB/s": ("MBps", "MB/s", "higher")}  # fmt: skip
_WORDS = {"MB/s": ("bandwidth_MBps", "MB/s", "higher"), "Messages/s": ("messages_per_second", "1/s", "higher"),
          "Million ops/s": ("million_operations_per_second", "1e6/s", "higher")}  # fmt: skip
_FACTORS = {"Size": "bytes", "Transmit Size": "transmit_bytes", "Operation": "operation"}


@dataclass(frozen=True, slots=True)
class Column:
    """One column: a factor, a metric, or neither."""

    name: str
    factor: str | None = None
    metric: tuple[str, str, str] | None = None
    """Name, unit, and whether higher or lower is better."""

    @property
    def optional(self) -> bool:
        """Whether lines may lack a value, as the percentiles of osu_multi_lat."""
        return _TAIL.match(self.name) is not None


def columns_of(heading: str) -> list[Column] | None:
    """The columns of a heading, given without the `#`. None if the line is not a heading."""
    names = [match[0] for match in _NAME.finditer(heading)]
    if not names or _NAME.sub("", heading).strip():
        if not heading.startswith(("Size ", "Operation ")):
            return None
        names = [name for name in re.split(r"\s{2,}", heading.strip()) if name]  # with unknown names
    return [_column(re.sub(r"\s*[(\[]B[)\]]$", "", name)) for name in names]


def _column(name: str) -> Column:
    if name in _FACTORS:
        return Column(name, factor=_FACTORS[name])
    if name in ("Iterations", "Validation"):
        return Column(name)
    if name in _WORDS:
        return Column(name, metric=_WORDS[name])
    parts = re.fullmatch(r"(.*?)\s*[(\[](\S+)[)\]]", name)
    if parts is None:
        return Column(name, factor=_slug(name))
    suffix, unit, better = _UNITS.get(parts[2], (_slug(parts[2]), parts[2], "higher"))
    return Column(name, metric=(f"{_quantity(parts[1])}_{suffix}", unit, better))


def _quantity(words: str) -> str:
    """Our name: `Avg Latency`, `Latency`, `Lat Avg` -> latency; `P99 Tail Lat` -> p99_latency."""
    slug = re.sub(r"(?<![a-z])lat(?![a-z])", "latency", _slug(words))
    slug = re.sub(r"(?<![a-z])bw(?![a-z])", "bandwidth", slug).replace("_tail_", "_")
    for end, whole in (("latency", "latency"), ("bandwidth", "bandwidth")):
        if end in slug:
            which = re.search(r"p\d+|min|max", slug)
            return f"{which[0]}_{whole}" if which else whole
    return slug


def _slug(words: str) -> str:
    return re.sub(r"\W+", "_", words).strip("_").lower()
