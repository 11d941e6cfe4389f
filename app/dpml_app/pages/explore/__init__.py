"""What an ε costs: accuracy against ε, the chosen features and the private ROC curve."""
