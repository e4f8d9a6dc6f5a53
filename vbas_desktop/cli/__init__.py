"""`vbas`: every job without a window.

One module per command; imports of heavy libraries wait until a command needs them. Never imports Qt.
"""
