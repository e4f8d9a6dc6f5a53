"""The main window: actions, menus, status bar, projects, and what the commands do."""
