"""An attacker against every claim."""
