"""What is no topic of its own: wording of messages, lazy imports, fast dataclasses, ordered threads."""
