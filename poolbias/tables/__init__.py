"""Tables: one module each; they read per-query files and import neither torch nor Java."""
