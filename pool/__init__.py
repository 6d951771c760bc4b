"""Who does the work? Work to hand out, results to collect, lost work done again: on this machine or on a cluster."""
