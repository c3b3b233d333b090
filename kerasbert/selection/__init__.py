"""The best file under a budget: candidates, cheap probes of their cost, successive halving of their training, and the choice."""
