"""Pictures of reports: bars, dots, histograms and curves, as SVG, as PNG, and small on a terminal.

``charts`` describes what a picture holds, as values with their words; ``of_comparison`` and ``of_tokenizer`` make
charts of reports, and ``choosing`` finds one by its name. ``drawing`` sets marks on a canvas and ``scale`` finds their
places; ``rows``, ``columns``, ``curves`` and ``trend`` draw one kind of chart each, coloured by ``style``. ``svg``
writes canvases, ``section`` puts them into a page, ``png`` has them rasterized, and ``terminal`` draws charts with
characters.
"""

COMPARISON_PICTURES = ("inputs", "ratios", "lengths", "use", "premiums")
"""The pictures of a comparison, in their order."""

TOKENIZER_PICTURES = ("lengths", "scripts", "use")
"""The pictures of a tokenizer's report, in their order."""

DATA_PICTURES = ("lengths",)
"""The pictures of a report on ids."""

SIZES_PICTURES = ("curve",)
"""The pictures of vocabularies of several sizes."""
