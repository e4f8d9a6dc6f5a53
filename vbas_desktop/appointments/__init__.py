"""Plan screening appointments so that people of equal quasi-identifiers share slots (source 004).

May import ``approaches`` (planners are declared like approaches), ``io`` and what lies below; imports nothing of the
window.
"""
