"""What the paper claims, bars of our own, and how they are held against the tables."""
