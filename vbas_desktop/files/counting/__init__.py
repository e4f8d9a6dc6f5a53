"""From coded records and regions to a `Problem`: joined by region id, counted by class. The door is `problem`."""
