"""What the commands do, each from end to end as one call: arguments in, a value out, progress by callback."""
