// SPDX-License-Identifier: Apache-2.0
// Critical-difference diagram: mean ranks on a line, bars over those that cannot be told apart.
function clipText(text, width) {
  const most = Math.max(4, Math.floor(width / 7.2));
  return text.length > most ? text.slice(0, most - 1) + '\u2026' : text;
}

// Wide: names at both sides, as such diagrams are usually drawn. Narrow: each name beside its own
// line, so that it can be read in full.
function rankingPlaces(ranked, width, x, top) {
  const half = Math.ceil(ranked.length / 2);
  if (width < 620)
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

function rankingDiagram(ranking, width) {
  const ranked = ranking.mean_ranks.filter(r => isNumber(r.rank)).sort((a, b) => a.rank - b.rank);
  const margin = width < 620 ? 12 : 210, last = Math.max(2, ranked.length);
  const x = rank => margin + (rank - 1) / (last - 1) * (width - 2 * margin);
  const bars = ranking.indistinguishable.map(group => {
    const ranks = group.map(label => ranked.find(r => r.contestant === label))
                      .filter(Boolean)
                      .map(r => r.rank);
    return [Math.min(...ranks), Math.max(...ranks)];
  });
  const axis = 34, barTop = axis + 16,
        places = rankingPlaces(ranked, width, x, barTop + bars.length * 11 + 16);
  const node = svg('svg', {
    viewBox: `0 0 ${width} ${Math.max(...places.map(p => p.y)) + 18}`,
    width: '100%',
    role: 'img',
    'aria-label': extra.ranking
  });
  node.append(svg(
      'line',
      {x1: x(1), x2: x(last), y1: axis, y2: axis, stroke: 'var(--faint)', 'stroke-width': 1.5}));
  for (let rank = 1; rank <= last; rank++)
    node.append(
        svg('line', {x1: x(rank), x2: x(rank), y1: axis - 5, y2: axis, stroke: 'var(--faint)'}),
        svg('text', {x: x(rank), y: axis - 11, 'text-anchor': 'middle', class: 'faint'},
            String(rank)));
  ranked.forEach(
      (entry, i) => node.append(
          svg('path', {
            d: `M${x(entry.rank)},${axis} ${places[i].path}`,
            fill: 'none',
            stroke: byLabel.get(entry.contestant).colour,
            'stroke-width': 1.6
          }),
          svg('circle',
              {cx: x(entry.rank), cy: axis, r: 4.5, fill: byLabel.get(entry.contestant).colour})));
  ranked.forEach(
      (entry, i) => node.append(
          svg('text', {
            x: places[i].textX,
            y: places[i].y + 4.5,
            'text-anchor': places[i].anchor,
            class: 'halo'
          },
              svg('title', {}, entry.contestant),
              clipText(entry.contestant, width < 620 ? width - 60 : margin - 48) + ' ' +
                  entry.rank.toFixed(2))));
  bars.forEach(([from, to], i) => node.append(svg('line', {
    x1: x(from) - 5,
    x2: x(to) + 5,
    y1: barTop + i * 11,
    y2: barTop + i * 11,
    stroke: 'var(--ink)',
    'stroke-width': 4.5,
    'stroke-linecap': 'round',
    opacity: .8
  })));
  return node;
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
