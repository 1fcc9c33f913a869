"""Show reports: as rich renderables for people, as plain JSON values for programs. Nothing is computed here.

- ``text/``: a text and its tokens, in colour or with bars between tokens.
- ``tokenizer/``: the report on a tokenizer.
- ``comparison/``: several tokenizers side by side.

What they share: ``visible`` makes any text harmless, ``writer`` sets lines in which every space counts, ``numbers``
and ``layout`` write numbers and tables, ``json_values`` texts from outside in JSON.
"""
