"""First-stage retrieval: Lucene BM25, encoding, exact inner-product search."""
