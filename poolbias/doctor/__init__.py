"""What this machine has, what a study needs, and how to get it: before any job is queued.

`finding` is one line of the report, `software`, `places`, `data` and `slurm` make such lines, and
`examination` brings them together. No module here imports torch.
"""
