// SPDX-License-Identifier: Apache-2.0
// Truth against prediction: one panel a contestant on the same axes, because overlaid clouds would
// hide each other.
function parityPanels(view) {
  const known = selectedRows().filter(i => isNumber(view.table.truth[i]));
  return shownContestants()
      .map(contestant => ({contestant, rows: answered(contestant, known, 'predicted')}))
      .filter(panel => panel.rows.length);
}

// The same for both axes of every panel; logarithmic where values differ by more than a decade.
function parityScale(view, panels) {
  const truths = panels.flatMap(p => span(p.rows.map(i => view.table.truth[i])));
  const own = view.table.contestants;
  const predictions =
      panels.filter(p => !p.contestant.reference)
          .flatMap(p => robustSpan(p.rows.map(i => own[p.contestant.index].predicted[i])));
  const [low, high] = span([...truths, ...predictions]);
  if (low > 0 && high / low > 30) {
    const pad = Math.pow(high / low, 0.04), ends = [low / pad, high * pad];
    return {ends, axis: {type: 'log', range: ends.map(Math.log10), ...logTicks(ends, 4)}};
  }
  const pad = (high - low) * 0.04 || 1, ends = [low - pad, high + pad];
  return {ends, axis: {range: ends, nticks: 4}};
}

// Square panels in rows; places are shares of the drawing area, as Plotly wants them.
const PANEL_HEAD = 46;
function parityGrid(count, width) {
  const across = Math.min(count, width < 520 ? 2 : width < 900 ? 3 : 5);
  const down = Math.ceil(count / across), gap = width < 520 ? 0.07 : 0.03;
  const wide = (1 - gap * (across - 1)) / across, side = (width - 58) * wide;
  const area = down * (side + PANEL_HEAD) - PANEL_HEAD;
  const place = i => {
    const column = i % across, row = Math.floor(i / across);
    const left = column * (wide + gap), top = 1 - row * (side + PANEL_HEAD) / area;
    return {
      left,
      top,
      x: [left, left + wide],
      y: [Math.max(0, top - side / area), top],
      firstColumn: column === 0,
      firstRow: row === 0,
      lastRow: i + across >= count
    };
  };
  return {side, area, place};
}

function addPanelAxes(layout, view, at, id, axis) {
  const names =
      isDecision(view.target) ? ['cost of the best', 'cost of the pick'] : ['truth', 'predicted'];
  layout['xaxis' + id] = axisStyle({
    ...axis,
    domain: at.x,
    anchor: 'y' + id,
    title: at.lastRow && at.firstColumn ? withUnit(names[0], view.target.unit) : ''
  });
  layout['yaxis' + id] = axisStyle({
    ...axis,
    domain: at.y,
    anchor: 'x' + id,
    showticklabels: at.firstColumn,
    title: at.firstRow && at.firstColumn ? withUnit(names[1], view.target.unit) : ''
  });
}

function panelTitle(panel, at, side) {
  return {
    text: plain(clipText(panel.contestant.label, side)),
    x: at.left,
    y: at.top,
    xref: 'paper',
    yref: 'paper',
    xanchor: 'left',
    yanchor: 'bottom',
    showarrow: false,
    font: {size: 12.5, color: colour('ink')}
  };
}

const MANY_POINTS = 1500;
function panelPoints(view, panel, id, gl) {
  const table = view.table, own = table.contestants[panel.contestant.index];
  const rows = thinned(panel.rows, hasWebGl ? 20000 : MANY_POINTS), crowded = rows.length > 5000;
  return {
    type: gl ? 'scattergl' : 'scatter',
    mode: 'markers',
    xaxis: 'x' + id,
    yaxis: 'y' + id,
    name: plain(panel.contestant.label),
    x: rows.map(i => table.truth[i]),
    y: rows.map(i => own.predicted[i]),
    text: rows.map(i => rowLabel(table, i)),
    hovertemplate: '%{text}<br>truth %{x:.4g}, predicted %{y:.4g}<extra></extra>',
    marker: {
      color: panel.contestant.colour,
      size: crowded         ? 3 :
          rows.length > 800 ? 4 :
                              6,
      opacity: crowded ? .35 : .6
    }
  };
}

function diagonal(ends, id) {
  return {
    type: 'scatter',
    mode: 'lines',
    x: ends,
    y: ends,
    xaxis: 'x' + id,
    yaxis: 'y' + id,
    hoverinfo: 'skip',
    line: {color: colour('faint'), width: 1, dash: 'dot'}
  };
}

function parityFigure(width) {
  const view = detailView(), panels = parityPanels(view);
  if (!panels.length) return 'No selected workload has an answer.';
  const scale = parityScale(view, panels), grid = parityGrid(panels.length, width);
  const layout = layoutStyle({margin: {l: 50, r: 8, t: 24, b: 46}, annotations: []});
  const gl = hasWebGl && panels.some(p => p.rows.length > MANY_POINTS);
  const data = panels.flatMap((panel, i) => {
    const id = i ? String(i + 1) : '', at = grid.place(i);
    addPanelAxes(layout, view, at, id, scale.axis);
    layout.annotations.push(panelTitle(panel, at, grid.side));
    return [diagonal(scale.ends, id), panelPoints(view, panel, id, gl)];
  });
  return {data, layout, height: grid.area + 70};
}

function setUpParity(parent) {
  const part =
      section('parity', 'Truth and prediction', 'Points on the dotted diagonal are exact.');
  parent.append(part.node);
  onChange(() => {
    const view = detailView();
    part.node.hidden = view.target.kind === 'class';
    part.tag.textContent = title(view);
    part.node.querySelector('h2').textContent =
        isDecision(view.target) ? 'Picks against the best' : 'Truth and prediction';
    part.note.textContent = isDecision(view.target) ?
        'True cost of the candidate each contestant picks against that of the ' +
            'best one; picks on the diagonal are perfect.' :
        'Points on the dotted diagonal are exact.';
  });
  addChart(part, parityFigure);
}
