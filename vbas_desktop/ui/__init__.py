"""The window: the only room with Qt.

`app` starts it, `main_window` puts the parts together, `controller` turns intents into work, `worker` does the work in
a thread, `model` tells the widgets what changed in the session. Widgets render state and emit intent; they compute
nothing and open no user files.
"""
