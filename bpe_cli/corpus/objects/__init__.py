"""Objects behind a URL, read as files are: ``s3:// gs:// az:// hf:// https:// http://``.

``base.py`` says what a store is; ``cloud.py`` (S3, Google Cloud Storage, Azure), ``web.py`` and ``hub.py`` are the
stores, and ``stores.py`` knows which URL is whose. Nobody asks a store but ``reading.py``, which has the patience: it
tries again what may pass, and never mixes the bytes of two versions. On that stand ``listing.py`` (folders and
patterns), ``ranged.py`` (a file of random access, for tables) and ``corpus.opening``.

Nothing here is imported before a user names a URL.
"""
