"""The command line: parse, build options, one library call, one view, exit."""
