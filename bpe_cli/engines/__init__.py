"""Who runs the parts of a job: threads and processes of this machine, or one of many that share the parts.

An engine gets values that can be pickled and a function that does one; it calls back with each result. It knows neither
what a part is, nor in which order results come: whoever gave the parts puts them in order.
"""
