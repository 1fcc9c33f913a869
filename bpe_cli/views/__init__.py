"""Show reports: as blocks that a console, a page and Markdown write, as plain JSON values. Nothing is computed here.

A text: ``tokens``, ``stages``, ``steps``. A tokenizer: ``vocabulary``, ``structure``. Several of them:
``comparison/``. A training: ``training_steps``.

What they share: ``visible`` makes any text harmless, ``labels`` write numbers and names, ``lines`` set text in which
every space counts; ``blocks`` are what ``on_console``, ``page/`` and ``markdown`` write, ``as_json`` walks reports.
"""
