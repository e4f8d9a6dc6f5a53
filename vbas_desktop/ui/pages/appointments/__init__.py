"""The page "Appointments": plan a screening so that its data base is anonymous by construction."""
