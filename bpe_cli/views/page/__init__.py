"""Pages and pictures as single files: nothing is fetched, and nothing in a text is executed.

``page`` frames a page, ``tokens``, ``comparison`` and ``stepper`` fill it, ``svg`` draws a text for a README;
``markup`` makes any text harmless, and writes neutral blocks. ``page.css`` and ``page.js`` go into each page as they
are; a page of steps has ``stepper.css`` besides, and ``stepper.js`` in place of the other.
"""
