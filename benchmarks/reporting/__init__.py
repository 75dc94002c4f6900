"""Tables, figures and pages, drawn from result files alone."""
