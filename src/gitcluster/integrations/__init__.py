"""GIT inside other tools, one module per tool."""
