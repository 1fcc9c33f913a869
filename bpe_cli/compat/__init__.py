"""Other libraries' interfaces over our core: change one import, and a program runs on it."""
