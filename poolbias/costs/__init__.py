"""What a study costs before anyone pays: GPU hours, disk and memory, by table."""
