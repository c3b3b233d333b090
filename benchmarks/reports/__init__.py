"""Writers of the measured tables and plots in docs/results/."""
