HOLDS=frozenset(); MODELS=frozenset()
def dump(*a): raise NotImplementedError
