// SPDX-License-Identifier: Apache-2.0
// Confusion matrices of the selected workloads, one a contestant.
function matrixOf(view, contestant) {
  const classes = view.table.classes, own = view.table.contestants[contestant.index].predicted;
  const counts = classes.map(() => classes.map(() => 0));
  for (const i of answered(contestant, selectedRows(), 'predicted'))
    counts[view.table.truth[i]][own[i]]++;
  return counts;
}

function matrixTable(view, contestant) {
  const classes = view.table.classes, counts = matrixOf(view, contestant);
  const right = counts.reduce((sum, row, i) => sum + row[i], 0),
        all = counts.flat().reduce((a, b) => a + b, 0);
  return el(
      'div', {class: 'matrix'},
      el('h3', {}, dot(contestant), contestant.label,
         el('span', {class: 'faint num'},
            all ? (right / all * 100).toFixed(1) + ' %' : 'no answers')),
      el('div', {class: 'scroll', style: {margin: '0', padding: '0'}},
         el('table', {},
            el('thead', {},
               el('tr', {}, el('td', {}), classes.map(c => el('th', {scope: 'col', title: c}, c)))),
            el('tbody', {}, counts.map((row, i) => {
              const sum = row.reduce((a, b) => a + b, 0);
              return el(
                  'tr', {}, el('th', {scope: 'row', title: classes[i]}, classes[i]),
                  row.map(
                      (count, j) =>
                          el('td', {},
                             el('span', {
                               style: {
                                 '--share': String(sum ? count / sum : 0),
                                 '--tint': i === j ? contestant.colour : 'var(--bad)'
                               },
                               title: count + ' of ' + sum
                             },
                                String(count)))));
            })))));
}

function setUpConfusion(parent) {
  const part = section(
      'confusion', 'Confusion',
      'Rows are true classes, columns predicted ones, with the share of right ' +
          'answers beside each name.');
  parent.append(part.node);
  onChange(() => {
    const view = detailView();
    part.node.hidden = view.target.kind !== 'class';
    part.tag.textContent = title(view);
    if (!part.node.hidden)
      fill(
          part.body,
          el('div', {class: 'matrices'}, shownContestants().map(c => matrixTable(view, c))));
  });
}
