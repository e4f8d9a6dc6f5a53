"""Main loop of ADC, and the candidate positions of a site: for each class at α the weighted centre of its members."""

from __future__ import annotations

from typing import Any

from vbas_desktop.model.progress import Progress

from .adc_moves import accept, remember_trial, try_place
from .adc_state import LOGGED_MOVES, Fact, Integers, ListRow, State, begin, count_of, load_sizes
from .jit import kernel, prepare, subkernel
from .spatial_index import BLOCK, side_of_line, star_of


def prepare_adc(state: State, progress: Progress) -> None:
    """Compile `begin` and `advance` for this state, or load them from the cache, while a stop is obeyed."""
    prepare(progress, begin, state, 0, 0)
    prepare(progress, advance, state, 0, 0)


@kernel
def advance(state: State, k: int, steps: int) -> bool:
    """Work on for about this many steps; True when nothing is left to do."""
    facts = state.facts
    facts[Fact.WORK] = 0
    facts[Fact.LOGGED] = 0
    while facts[Fact.WORK] < steps and facts[Fact.LOGGED] < LOGGED_MOVES:
        if facts[Fact.ALPHA] == 0 or facts[Fact.ALPHA] >= k:
            return True
        if facts[Fact.NEXT_CANDIDATE] >= facts[Fact.CANDIDATES]:
            site = _next_site(state)
            if site < 0:
                facts[Fact.TRIES] += _candidates_before(state, state.sites.size)
                return True
            open_visit(state, site)
        site = facts[Fact.VISITED]
        candidate = state.classes[facts[Fact.NEXT_CANDIDATE]]
        facts[Fact.NEXT_CANDIDATE] += 1
        if try_place(state, site, candidate.x, candidate.y):
            _log_move(state, site)
            accept(state, site, candidate.x, candidate.y)
            facts[Fact.CANDIDATES] = 0
            facts[Fact.CURSOR] = 0
        else:
            _note_refusal(state, site)
    return False


@subkernel
def _next_site(state: State) -> int:
    for site in range(state.facts[Fact.CURSOR], state.sites.size):
        if state.sites[site].pending and state.sites[site].low > 0:
            return site
    return -1


@subkernel
def _candidates_before(state: State, end: int) -> int:
    total = 0
    for site in range(end):
        total += state.sites[site].low
    return total


@subkernel
def _log_move(state: State, site: int) -> None:
    facts = state.facts
    tried = state.facts[Fact.NEXT_CANDIDATE]
    candidate = state.classes[tried - 1]
    entry = state.log[facts[Fact.LOGGED]]
    entry.site = site
    entry.column = candidate.listed
    entry.x = candidate.x
    entry.y = candidate.y
    facts[Fact.LOGGED] += 1
    facts[Fact.MOVES] += 1
    facts[Fact.TRIES] += _candidates_before(state, site) + tried


@subkernel
def _note_refusal(state: State, site: int) -> None:
    """Remember what the refused trial depends on; after the last candidate the site is done for now."""
    remember_trial(state, site)
    if state.facts[Fact.NEXT_CANDIDATE] == state.facts[Fact.CANDIDATES]:
        state.sites[site].pending = 0
        state.facts[Fact.CURSOR] = site + 1


@subkernel
def open_visit(state: State, site: int) -> None:
    """Compute the candidate place of every class of a site's region that is at α, in class order."""
    facts = state.facts
    classes = state.classes
    near = state.listed
    facts[Fact.VISITED] = site
    facts[Fact.NEXT_CANDIDATE] = 0
    _list_candidates(state, site)
    n_near = _list_neighbourhood(state, site)
    _sort(near[:n_near])
    for n in range(n_near):
        # The file position is in the upper half of each number, the point in the lower.
        _weigh_point(state, near[n] & 0xFFFFFFFF)
    for j in range(facts[Fact.CANDIDATES]):
        classes[j].x /= classes[j].weight
        classes[j].y /= classes[j].weight
        classes[classes[j].listed].slot = -1
    _list_blocks(state, site)
    facts[Fact.STAMP] += 1
    facts[Fact.VISIT_STAMP] = facts[Fact.STAMP]
    state.sites[site].dependencies = 0


@subkernel
def _sort(numbers: Integers) -> None:
    """Sort in place, by Shell's method: the lists are short, and it compiles much faster than the library's sort."""
    gap = 1
    while gap < numbers.size // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, numbers.size):
            number = numbers[i]
            j = i
            while j >= gap and numbers[j - gap] > number:
                numbers[j] = numbers[j - gap]
                j -= gap
            numbers[j] = number
        gap //= 3


@subkernel
def _list_candidates(state: State, site: int) -> None:
    """List the smallest classes of a site (those of α records) as candidates, with empty weighted positions."""
    alpha = state.facts[Fact.ALPHA]
    count = 0
    classes = state.classes
    load_sizes(state, site)
    for column in range(classes.size):
        if classes[column].size == alpha:
            classes[column].slot = count
            candidate = classes[count]
            candidate.listed = column
            candidate.x = 0.0
            candidate.y = 0.0
            candidate.weight = 0.0
            count += 1
    state.facts[Fact.CANDIDATES] = count
    state.facts[Fact.WORK] += classes.size


@subkernel
def _weigh_point(state: State, i: int) -> None:
    """Add a point, weighted by its members of each class at α, to that class's candidate place."""
    point = state.points[i]
    classes = state.classes
    count = state.facts[Fact.CANDIDATES]
    if count * 8 < point.width:
        for j in range(count):
            _weigh(classes[j], point, float(count_of(state, i, classes[j].listed)))
        state.facts[Fact.WORK] += 8 * count
        return
    for entry in range(point.start, point.start + point.width):
        j = classes[state.columns[entry]].slot
        if j >= 0:
            _weigh(classes[j], point, float(state.values[entry]))
    state.facts[Fact.WORK] += point.width


@subkernel
def _weigh(candidate: Any, point: Any, weight: float) -> None:
    candidate.x += weight * point.x
    candidate.y += weight * point.y
    candidate.weight += weight


@subkernel
def _list_neighbourhood(state: State, site: int) -> int:
    """List the points in a site's cell or in the closed polygon through its star, each with its file position."""
    points = state.points
    sites = state.sites
    near = state.listed
    star = state.lists[ListRow.STAR]
    corners, bounded = star_of(site, sites, state.site_boxes, star)
    state.facts[Fact.STAR] = corners
    count = 0
    i = sites[site].first_member
    while i >= 0:
        near[count] = (points[i].file << 32) + i
        count += 1
        i = points[i].following
    low_x = high_x = sites[site].x
    low_y = high_y = sites[site].y
    for c in range(corners):
        corner = sites[star[c]]
        low_x = min(low_x, corner.x)
        high_x = max(high_x, corner.x)
        low_y = min(low_y, corner.y)
        high_y = max(high_y, corner.y)
    for block in range(state.boxes.size):
        box = state.boxes[block]
        if box.low_x > high_x or box.high_x < low_x or box.low_y > high_y or box.high_y < low_y:
            continue
        for i in range(block * BLOCK, min((block + 1) * BLOCK, points.size)):
            if points[i].owner != site and _in_fan(
                state, site, corners, bounded, points[i].x, points[i].y
            ):
                near[count] = (points[i].file << 32) + i
                count += 1
    state.facts[Fact.WORK] += 2 * state.boxes.size + 64 * count
    return count


@subkernel
def _in_fan(state: State, site: int, corners: int, bounded: bool, x: float, y: float) -> bool:
    """Test whether a position is in the closed polygon: the triangles of the site with each two successive neighbours.

    At an open side the site itself is the corner between the last and the first neighbour, so no triangle is there;
    neighbours in one line with the site span none.
    """
    sites = state.sites
    star = state.lists[ListRow.STAR]
    vx = sites[site].x
    vy = sites[site].y
    for c in range(corners if bounded else corners - 1):
        a = sites[star[c]]
        b = sites[star[c + 1 if c + 1 < corners else 0]]
        if (
            side_of_line(vx, vy, a.x, a.y, x, y) >= 0
            and side_of_line(vx, vy, b.x, b.y, x, y) <= 0
            and side_of_line(a.x, a.y, b.x, b.y, x, y) >= 0
            and side_of_line(vx, vy, a.x, a.y, b.x, b.y) > 0
        ):
            return True
    return False


@subkernel
def _list_blocks(state: State, site: int) -> None:
    """Set the box of all candidate positions, and list the blocks of points from which some of them might win any."""
    own = state.sites[site]
    classes = state.classes
    count = 0
    own.low_x = own.high_x = classes[0].x
    own.low_y = own.high_y = classes[0].y
    for j in range(1, state.facts[Fact.CANDIDATES]):
        own.low_x = min(own.low_x, classes[j].x)
        own.high_x = max(own.high_x, classes[j].x)
        own.low_y = min(own.low_y, classes[j].y)
        own.high_y = max(own.high_y, classes[j].y)
    for block in range(state.boxes.size):
        box = state.boxes[block]
        dx = max(max(box.low_x - own.high_x, own.low_x - box.high_x), 0.0)
        dy = max(max(box.low_y - own.high_y, own.low_y - box.high_y), 0.0)
        if dx * dx + dy * dy <= box.reach:
            state.lists[ListRow.BLOCKS, count] = block
            count += 1
    state.facts[Fact.BLOCKS] = count
    state.facts[Fact.WORK] += 2 * state.boxes.size
