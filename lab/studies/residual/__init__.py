"""Trees and k-trees by residuals against trees by mutual information."""
