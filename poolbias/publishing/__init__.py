"""Publishing what a study has measured, and taking it up again in a fresh clone.

`lineage` tells what code made a result, `archives` packs files, `publish` and `restore` are the two
commands. They serve the rules and the command line; stages do not use them.
"""
