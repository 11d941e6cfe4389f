"""ROC curves: from a noisy histogram and as published, with their thresholds and the area between two curves."""
