"""The jobs behind the commands, each one call from end to end: arguments in, a value out, progress by callback."""
