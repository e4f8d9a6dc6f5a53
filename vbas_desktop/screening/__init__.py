"""Appointment planning: give people of equal quasi-identifiers the same slots, so that the data base needs no mending.

May use ``approaches.base`` (planners are declared like approaches), ``io`` and what lies below; knows no window.
"""
