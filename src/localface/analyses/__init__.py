"""What can be asked about answers: alternatives, why not, audit, robustness, traces."""
