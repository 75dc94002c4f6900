"""GIT in other packages, one module per package."""
