"""Where records are released whose class is too small in their aggregated region."""
