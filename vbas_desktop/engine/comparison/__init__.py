"""Many combinations of approaches on the same records: planned, estimated, run, kept, summed up. No Qt.

May use the engine, files and everything below them. What is written for people (HTML, pictures) is made in
``release.report``, from what this room hands out.
"""
