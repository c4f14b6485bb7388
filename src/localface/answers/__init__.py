"""What a person reads: the recourse with its actions and certificates, as text, HTML and JSON."""
