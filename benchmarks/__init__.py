"""How fast the study is, as ratios against peers and ceilings measured in the same run."""
