"""Pictures of reports: bars, dots, histograms and curves, as SVG, as PNG, and small on a terminal.

``charts`` says what a picture holds, as values with their words; ``of_comparison``, ``of_tokenizer`` and ``of_data``
make charts of reports. ``drawing`` sets marks on a canvas and ``scale`` finds their places; ``rows``, ``columns`` and
``curves`` draw one kind of chart each. ``svg`` writes canvases, ``png`` has them rasterized, ``terminal`` draws charts
with characters, and ``files`` chooses which picture goes to which file.
"""
