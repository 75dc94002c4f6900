"""What every layer may use: checks of parameters, optional packages, files, progress."""
