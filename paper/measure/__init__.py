"""What is measured: the functions of cells, and what is compared."""
