"""The window: the only package with Qt.

`application` starts it; `shell.main_window` puts the parts together; the commands of `shell` turn intents into work;
`core.worker` does the work in a thread; `core.context` tells the widgets what changed in the state. Widgets render
state and emit intent; they compute nothing and open no user files.
"""
