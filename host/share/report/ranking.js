// SPDX-License-Identifier: Apache-2.0
// Critical-difference diagram: mean ranks on a line, bars over those that cannot be told apart.
const NARROW = 620;
function clipText(text, width) {
  const most = Math.max(4, Math.floor(width / 7.2));
  return text.length > most ? text.slice(0, most - 1) + '\u2026' : text;
}

// Wide: names at both sides, as such diagrams are usually drawn. Narrow: each name beside its own
// line, so that it can be read in full.
function rankingPlaces(ranked, width, x, top) {
  const half = Math.ceil(ranked.length / 2);
  if (width < NARROW)
    return ranked.map((entry, i) => {
      const at = x(entry.rank), y = top + (ranked.length - 1 - i) * 24,
            right = at + entry.contestant.length * 7.4 + 50 < width;
      return {
        y,
        path: `V${y + 4}`,
        textX: right ? at + 9 : at - 9,
        anchor: right ? 'start' : 'end'
      };
    });
  return ranked.map((entry, i) => {
    const left = i < half, y = top + (left ? i : ranked.length - 1 - i) * 26,
          end = left ? x(1) - 8 : x(Math.max(2, ranked.length)) + 8;
    return {
      y,
      path: `V${y} H${end}`,
      textX: left ? end - 6 : end + 6,
      anchor: left ? 'end' : 'start'
    };
  });
}

function rankingAxis(x, last, y) {
  const line = {stroke: 'var(--faint)'};
  const nodes = [svg('line', {x1: x(1), x2: x(last), y1: y, y2: y, 'stroke-width': 1.5, ...line})];
  for (let rank = 1; rank <= last; rank++)
    nodes.push(
        svg('line', {x1: x(rank), x2: x(rank), y1: y - 5, y2: y, ...line}),
        svg('text', {x: x(rank), y: y - 11, 'text-anchor': 'middle', class: 'faint'},
            String(rank)));
  return nodes;
}

function rankingBars(ranking, x, top) {
  const rankOf = label => ranking.mean_ranks.find(r => r.contestant === label).rank;
  return ranking.indistinguishable.map((group, i) => {
    const [from, to] = span(group.map(rankOf)), y = top + i * 11;
    return svg('line', {
      x1: x(from) - 5,
      x2: x(to) + 5,
      y1: y,
      y2: y,
      stroke: 'var(--ink)',
      'stroke-width': 4.5,
      'stroke-linecap': 'round',
      opacity: .8
    });
  });
}

function rankingLine(entry, place, at, axis) {
  const stroke = byLabel.get(entry.contestant).colour;
  return [
    svg('path', {d: `M${at},${axis} ${place.path}`, fill: 'none', stroke, 'stroke-width': 1.6}),
    svg('circle', {cx: at, cy: axis, r: 4.5, fill: stroke})
  ];
}

function rankingDiagram(ranking, width) {
  const ranked = ranking.mean_ranks.filter(r => isNumber(r.rank)).sort((a, b) => a.rank - b.rank);
  const narrow = width < NARROW, margin = narrow ? 12 : 210, last = Math.max(2, ranked.length);
  const x = rank => margin + (rank - 1) / (last - 1) * (width - 2 * margin);
  const axis = 34, barTop = axis + 16;
  const places =
      rankingPlaces(ranked, width, x, barTop + ranking.indistinguishable.length * 11 + 16);
  const name = (entry, place) => svg(
      'text', {x: place.textX, y: place.y + 4.5, 'text-anchor': place.anchor, class: 'halo'},
      svg('title', {}, entry.contestant),
      clipText(entry.contestant, narrow ? width - 60 : margin - 48) + ' ' + entry.rank.toFixed(2));
  const height = Math.max(...places.map(p => p.y)) + 18;
  return svg(
      'svg',
      {viewBox: `0 0 ${width} ${height}`, width: '100%', role: 'img', 'aria-label': extra.ranking},
      rankingAxis(x, last, axis),
      ranked.map((entry, i) => rankingLine(entry, places[i], x(entry.rank), axis)),
      ranked.map((entry, i) => name(entry, places[i])), rankingBars(ranking, x, barTop));
}

function setUpRanking(parent) {
  const ranking = comparison.ranking;
  if (!ranking) return;
  const part = section(
      'ranking', 'Ranking over tasks',
      'Critical-difference diagram: mean rank over ' + plural(comparison.tasks.length, 'task') +
          ', 1 is best. A bar joins contestants that a Wilcoxon-Holm test cannot tell apart.');
  part.tag.textContent = ranking.warning || 'Friedman p ' + probability(ranking.p);
  parent.append(part.node);
  const draw = () =>
      fill(part.body, rankingDiagram(ranking, Math.max(300, Math.min(980, part.body.clientWidth))));
  redrawOnResize.push(draw);
}
