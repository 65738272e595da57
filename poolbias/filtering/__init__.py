"""From a run to a candidates table: what a method chooses from, and what it leaves of it.

`unlabelled` has the candidates with what is known of them, `pair_scores` a teacher's scores,
`rank_relevance` how likely a rank is relevant, `table` the candidates table, `counts` what was kept
and removed, `draws` keyed draws.
"""
