"""Open hash tables against a dictionary: collisions, wrapping round, tables that are nearly full."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from vbas_desktop.algorithms import hash_table as producers

LARGEST = 2**62


@njit
def entered_by_key(keys, table):
    return np.array([enter_key(key, table) for key in keys])


@njit
def enter_key(key, table):
    slot = producers.slot_of(key, table)
    table[slot] = key
    return np.int64(slot)


@njit
def number_all(keys, index, held):
    """The number of each key in the order of their first appearance, by the steps of the producer's tables."""
    numbers, used = np.empty(keys.size, np.int64), 0
    for i in range(keys.size):
        slot = producers.first_slot(keys[i], index)
        while index[slot] >= 0 and held[index[slot]] != keys[i]:
            slot = producers.next_slot(slot, index)
        if index[slot] < 0:
            held[used] = keys[i]
            index[producers.free_slot(keys[i], index)] = used
            used += 1
        numbers[i] = index[slot]
    return numbers


def literal(keys):
    known = {}
    return [known.setdefault(key, len(known)) for key in keys]


SOME_KEYS = (
    st.lists(st.integers(0, 12), max_size=60)
    | st.lists(st.integers(0, LARGEST), max_size=60)
    | st.lists(st.integers(0, 40).map(lambda key: key << 40), max_size=60)
)
"""Few values, far ones, and such as differ in their upper half only."""


@settings(max_examples=150, deadline=None)
@given(SOME_KEYS, st.integers(1, 40))
def test_a_key_has_one_slot_in_a_table_of_any_size(keys, spare):
    table = np.full(len(set(keys)) + spare, -1)
    slots = entered_by_key(np.array(keys, np.int64), table)
    assert sorted(key for key in table.tolist() if key >= 0) == sorted(set(keys))
    assert table[slots].tolist() == keys


@settings(max_examples=150, deadline=None)
@given(SOME_KEYS, st.integers(1, 40))
def test_equal_keys_get_equal_numbers(keys, spare):
    distinct = len(set(keys))
    index, held = np.full(distinct + spare, -1, np.int32), np.zeros(distinct, np.uint64)
    assert number_all(np.array(keys, np.uint64), index, held).tolist() == literal(keys)


def test_keys_of_one_slot_go_on_behind_it_and_round_the_end():
    table = np.full(8, -1)
    same = [key for key in range(10_000) if enter_key(key, np.full(8, -1)) == 7][:5]
    assert entered_by_key(np.array(same), table).tolist() == [7, 0, 1, 2, 3]


def test_tables_leave_free_slots():
    for entries in (0, 1, 15, 16, 17, 1000, 1 << 20):
        assert producers.slots_for(entries) >= max(16, 1.5 * entries - 1)
