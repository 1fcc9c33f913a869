"""What other programs' frames call: batches of Ray Data and Spark, steps of a datatrove pipeline.

They stand where the command line does: above the library, whose calls they make, and nothing imports them but who uses
such a frame.
"""
