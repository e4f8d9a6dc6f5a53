"""Find combinations of values that fewer than k records share, and recode columns until none is left."""
