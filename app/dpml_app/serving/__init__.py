"""What `python -m dpml_app` adds to Panel's server: limits, security headers, a log and a health check."""
