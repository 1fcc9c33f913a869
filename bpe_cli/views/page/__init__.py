"""Pages and pictures that are one file each: nothing is fetched, and nothing from a text can act.

``page`` frames a page, ``tokens`` and ``comparison`` fill it, ``svg`` draws a text for a README; ``markup`` makes
any text harmless, and writes neutral blocks. ``page.css`` and ``page.js`` go into each page as they are.
"""
