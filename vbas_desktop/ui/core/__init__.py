"""What every part of the window uses: state signals, worker, theme."""
