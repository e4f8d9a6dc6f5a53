"""From coded records and regions to a `Problem`: joined by region id, counted by class. It begins with `problem`."""
